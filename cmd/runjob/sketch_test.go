package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/util/corporatest"
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
	filter := filepath.Join(t.TempDir(), "words")
	if err := os.WriteFile(filter, []byte("# a list\nLorem\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	const ripemd160 = "440cc2b8d44e2cc72331c4a1e4be447e33234353"
	long := sketched(t, path, "--kind", "simhash", "--bits", "64")
	for args, want := range map[string]string{
		// The first two digests stand in ExLSH's documentation and article, in base 64.
		"--kind lsh":             "38402102129280103081010080208012",
		"--kind lsh --shingle 4": "5f656cf5e7bd524dfca7aa6450886565",
		"--kind lsh --base64":    "OEAhAhKSgBAwgQEAgCCAEg==",
		// Of one shingle, "lorem ipsum dolor sit" as FNV-1a is defined: this normalizer keeps the spaces.
		"--kind lsh --hash fnv32a --characters --shingle 21 --normalize nfc": "4c420ac2",
		"--kind simhash --bits 32":      long[len(long)-9 : len(long)-1],
		"--kind singlehash --shingle 5": "4\t0\t",
		// Of one shingle a digest is its hash, as openssl prints it of "ipsumdolorsit": one word is on the list.
		"--kind lsh --hash ripemd160 --filter " + filter: ripemd160,
		"--kind bottomk --sketch-size 1": strings.Split(strings.TrimSpace(sketched(t, path, "--kind",
			"bottomk")), "\t")[1][:12],
		"--kind minhash --sketch-size 2": strings.Split(strings.TrimSpace(sketched(t, path, "--kind", "minhash")),
			"\t")[1][:17],
		"--kind signature --sketch-size 2": strings.Split(strings.TrimSpace(sketched(t, path, "--kind", "signature")),
			"\t")[1][:19],
	} {
		t.Run(args, func(t *testing.T) {
			if got := sketched(t, append(strings.Fields(args), path)...); got != path+"\t"+want+"\n" {
				t.Errorf("%s: %q, want %q", args, got, want)
			}
		})
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
	for _, args := range []string{
		"", "--kind md5", "--kind simhash --bits 48", "--kind minhash --sketch-size 0",
		"--kind lsh --shingle 0",
	} {
		t.Run(args, func(t *testing.T) {
			if _, err := parse(
				append([]string{"sketch"}, strings.Fields(args)...), io.Discard,
			); exitCode(err) != exitUsage {
				t.Errorf("%s: %v", args, err)
			}
		})
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
	if exitCode(err) != exitInput || !strings.Contains(err.Error(), path+":3: ") ||
		!strings.HasPrefix(b.String(), "7\t") || !strings.Contains(b.String(), path+":2\t") {
		t.Errorf("%v; printed %q", err, b.String())
	}
}

// TestSketchCompare: features that are hashes already give the shares of equal bits of the article on FastSimHash, and
// the fingerprints of Gudkov's article estimate the similarity of texts.
func TestSketchCompare(t *testing.T) {
	folder := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// komihash 5.0 of the words of the article's three sets, as hash4j prints it.
	a := write("a", "0x8c31c79e340485a9 0xaaf01e56824e28dd 0x3f1484cd4b1e2337 0xdd5e9362ede49554 0x0072f0da6a7806a1")
	b := write("b", "0x368ddc7375b2c4dd 12317378337760487645 0x3f1484cd4b1e2337\n0xdd5e9362ede49554 0x0072f0da6a7806a1")
	c := write("c",
		"0x257e63030e3ed4c0 0xcc3c543c311fd525 0x91d7b40f0692120e 0xc7c659e137851c84 0xd714f88774342510 0x7bf372f5b5f9591d")
	got := sketched(t, "--kind", "simhash", "--bits", "1024", "--features", "--fast", "--compare", a, b, c)
	if want := a + "\t" + b + "\t0.830078\n" + a + "\t" + c + "\t0.493164\n" + b + "\t" + c + "\t0.504883\n"; got !=
		want {
		t.Errorf("%s, want %s", got, want)
	}
	one, two := write("one", "one two three four five six"), write("two", "one two three four five seven")
	if got, want := sketched(t, "--kind", "singlehash", "--compare", one, two), one+"\t"+two+"\t0.6\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// The texts have three of five shingles in common. The digests are compared by hand with Python's hashlib.
	for args, want := range map[string]struct{ least, most float64 }{
		"--kind singlehash --score article":                 {0.6, 0.6},
		"--kind bottomk":                                    {0.6, 0.6},
		"--kind lsh --hash sha256":                          {0.804688, 0.804688},
		"--kind minhash --sketch-size 500":                  {0.5, 0.7},
		"--kind signature --sketch-size 500":                {0.5, 0.7},
		"--kind singlehash --sketch-size 2":                 {0.5, 0.5},
		"--kind singlehash --score article --sketch-size 2": {0.333333, 0.333333},
	} {
		got := sketched(t, append(strings.Fields(args), "--compare", one, two)...)
		similarity, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimPrefix(got, one+"\t"+two+"\t")), 64)
		if err != nil || similarity < want.least || similarity > want.most {
			t.Errorf("%s: %q, want %g to %g", args, got, want.least, want.most)
		}
	}
	once, thrice := write("once", "1 2 2 2"), write("thrice", "1 2=3")
	got = sketched(t, "--kind", "simhash", "--features", "--compare", once, thrice)
	if !strings.HasSuffix(got, "\t1\n") {
		t.Errorf("a weight of 3 is not three features: %s", got)
	}
	w := write("weights", "17=x")
	for args, want := range map[string]string{
		"--kind simhash --features " + one: one + `: feature "one": must be a number of 64 bits`,
		"--kind simhash --features " + w:   w + `: feature "17=x": must be a number of 64 bits`,
		"--kind lsh --score article":       "--score article: is for --kind singlehash --compare",
		"--kind minhash --features":        "--features and --fast: are for --kind simhash",
		"--kind simhash --filter x":        "--filter and --base64: are for --kind lsh",
		"--kind lsh --normalize nfc,nfkc":  "--normalize",
		"--kind lsh --filter /nowhere":     "read --filter: open /nowhere: no such file",
	} {
		t.Run(args, func(t *testing.T) {
			command, err := parse(append([]string{"sketch"}, strings.Fields(args)...), io.Discard)
			if err == nil {
				err = command.Run(t.Context(), io.Discard)
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", args, err, want)
			}
		})
	}
}
