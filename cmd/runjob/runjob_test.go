package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/internal/util/goldentest"
	"mirrorbeam.dev/job"
)

// TestMain lets the scripts run the command as a process of its own, since Beam's Init must not see the flags
// of a test.
func TestMain(m *testing.M) {
	if err := storagetest.FoldersInMemory(); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"runjob": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		// Not a flag: -update is one of Beam's.
		UpdateScripts:       goldentest.Updates(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"corpus":   func(ts *testscript.TestScript, _ bool, args []string) { ts.Check(makeCorpus(ts, args)) },
			"compress": func(ts *testscript.TestScript, _ bool, args []string) { ts.Check(compress(ts, args)) },
			"halve":    func(ts *testscript.TestScript, _ bool, args []string) { ts.Check(halve(ts, args)) },
		},
	})
}

// exits is "exits CODE COMMAND ARG...": it demands the exit code of a command.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// makeCorpus is "corpus FILE N": N documents that have little in common.
func makeCorpus(ts *testscript.TestScript, args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	return os.WriteFile(ts.MkAbs(args[0]), randomCorpus(n), 0o666)
}

// randomCorpus returns documents of 60 random words.
func randomCorpus(n int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var corpus bytes.Buffer
	for i := range n {
		fmt.Fprintf(&corpus, `{"id":"%d","text":"`, i)
		for range 60 {
			fmt.Fprintf(&corpus, "%x ", random.Uint32N(1<<20))
		}
		corpus.WriteString("\"}\n")
	}
	return corpus.Bytes()
}

// compress is "compress FILE FILE.gz" or "compress FILE FILE.zst".
func compress(ts *testscript.TestScript, args []string) error {
	var pressed bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&pressed)
	if filepath.Ext(args[1]) == ".zst" {
		encoder, err := zstd.NewWriter(&pressed)
		if err != nil {
			return err
		}
		w = encoder
	}
	if _, err := io.WriteString(w, ts.ReadFile(args[0])); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(ts.MkAbs(args[1]), pressed.Bytes(), 0o666)
}

// halve is "halve FILE": it drops the second half.
func halve(ts *testscript.TestScript, args []string) error {
	path := ts.MkAbs(args[0])
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()/2)
}

// TestHelpNamesEveryField: each choice in summary.json has a flag with the same name, in hyphens.
func TestHelpNamesEveryField(t *testing.T) {
	encoded, err := json.Marshal(job.Default())
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		t.Fatal(err)
	}
	help, err := exec.Command("runjob", "run", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		flag := strings.ReplaceAll(name, "_", "-")
		if text := string(help); !strings.Contains(text, "--"+flag) && !strings.Contains(text, "--[no-]"+flag) {
			t.Errorf("the help does not name --%s", flag)
		}
	}
}
