package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam/internal/ground/corporatest"
)

// sketched returns what 'runjob sketch' prints of files.
func sketched(t *testing.T, args ...string) string {
	t.Helper()
	return saidBy(t, append([]string{"sketch"}, args...)...)
}

// TestSketchKinds: each kind prints what its article, or the main job, makes of a text.
func TestSketchKinds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte("lorem ipsum dolor sit"), 0o666); err != nil {
		t.Fatal(err)
	}
	long := sketched(t, path, "--kind", "simhash", "--bits", "64")
	for args, want := range map[string]string{
		// The first two digests stand in ExLSH's documentation and article, in base 64.
		"--kind lsh":                       "38402102129280103081010080208012",
		"--kind lsh --shingle 4":           "5f656cf5e7bd524dfca7aa6450886565",
		"--kind simhash --bits 32":         long[len(long)-9 : len(long)-1],
		"--kind singlehash --shingle 5":    "4\t0\t",
		"--kind bottomk --sketch-size 1":   strings.Split(strings.TrimSpace(sketched(t, path, "--kind", "bottomk")), "\t")[1][:12],
		"--kind minhash --sketch-size 2":   strings.Split(strings.TrimSpace(sketched(t, path, "--kind", "minhash")), "\t")[1][:17],
		"--kind signature --sketch-size 2": strings.Split(strings.TrimSpace(sketched(t, path, "--kind", "signature")), "\t")[1][:19],
	} {
		if got := sketched(t, append(strings.Fields(args), path)...); got != path+"\t"+want+"\n" {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// TestSketchVectorsOfCorpora compares the fingerprints of 2,500 records with the output of the article's own program.
func TestSketchVectorsOfCorpora(t *testing.T) {
	records := filepath.Join(t.TempDir(), "records.jsonl")
	if err := os.WriteFile(records, corporatest.Read(t, "chrisjm/articles_2500.jsonl.zst"), 0o666); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for line := range strings.Lines(string(corporatest.Read(t, "vectors/gudkov_k3n128_articles2500.tsv.zst"))) {
		want[line] = true
	}
	compared := 0
	for line := range strings.Lines(sketched(t, "--kind", "singlehash", "--records", records)) {
		if compared++; !want[line] {
			t.Fatalf("%.100s is not what the article's program makes", line)
		}
	}
	if compared != 2500 {
		t.Errorf("%d fingerprints were compared", compared)
	}
}

// TestSketchFaults: what is wrong is said before anything is read, and bad records by their lines.
func TestSketchFaults(t *testing.T) {
	for _, args := range []string{"", "--kind md5", "--kind simhash --bits 48", "--kind minhash --sketch-size 0", "--kind lsh --shingle 0"} {
		if _, err := parse(append([]string{"sketch"}, strings.Fields(args)...), io.Discard); exitCode(err) != exitUsage {
			t.Errorf("%s: %v", args, err)
		}
	}
	path := filepath.Join(t.TempDir(), "records")
	if err := os.WriteFile(path, []byte("{\"id\":7,\"text\":\"x\"}\n{\"text\":\"y\"}\n{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	command, err := parse([]string{"sketch", "--kind", "lsh", "--records", path}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err = command.Run(t.Context(), &b)
	if exitCode(err) != exitInput || !strings.Contains(err.Error(), path+":3: ") || !strings.HasPrefix(b.String(), "7\t") || !strings.Contains(b.String(), path+":2\t") {
		t.Errorf("%v; printed %q", err, b.String())
	}
}
