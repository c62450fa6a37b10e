package query

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam/internal/failure"
	"mirrorbeam/internal/index"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/workspace"
	"mirrorbeam/job"
	"mirrorbeam/sketch"
)

// TestOpenRefuses: an index that this program cannot answer from is refused, and the error says why and names the file.
func TestOpenRefuses(t *testing.T) {
	bySimHash := func(c *job.Config) { c.Keys = methods.SimHash }
	// headed changes the header of the second file.
	headed := func(change func(*index.Header)) func(*library) {
		return func(l *library) {
			made := l.header
			l.header = func(file int) index.Header {
				h := made(file)
				if file == 1 {
					change(&h)
				}
				return h
			}
		}
	}
	version := fmt.Sprintf("version %d of the hashes and Unicode %s, and this program has %d and %s: run the job again",
		sketch.Version+1, sketch.UnicodeVersion, sketch.Version, sketch.UnicodeVersion)
	for _, c := range []struct {
		name   string
		config func(*job.Config)
		change func(*library)
		want   string
	}{
		{"another version", nil, headed(func(h *index.Header) { h.Sketch++ }), version},
		{"another version of fingerprints", bySimHash, headed(func(h *index.Header) { h.Sketch++ }), version},
		{"another Unicode", nil, headed(func(h *index.Header) { h.Unicode = "3.0.0" }), "Unicode 3.0.0, and this program has"},
		{"another configuration", nil, headed(func(h *index.Header) { h.Config = "other" }), "other choices than those in summary.json, or by another version"},
		{"other stop words", nil, headed(func(h *index.Header) { h.StopWords = "the" }), "other choices"},
		{"another threshold", nil, headed(func(h *index.Header) { h.Threshold = 0.9 }), "other choices"},
		{"another shingle", nil, func(l *library) { l.summary.Shingle++ }, "other choices"},
		{"fingerprints for sets", nil, func(l *library) { l.summary.Keys = methods.SimHash }, "other choices"},
		{"another distance", bySimHash, func(l *library) { l.summary.Hamming++ }, "other choices"},
		{"a file that it does not list", nil, headed(func(h *index.Header) { h.FirstFile = 2 }), "of a file that is not in the header"},
		{"no bytes", nil, func(l *library) { l.write = cut(0) }, "not whole"},
		{"a byte less", nil, func(l *library) { l.write = cut(-1) }, "not whole"},
		{"zeros", nil, func(l *library) {
			l.write = func(path string, content []byte) error { return os.WriteFile(path, make([]byte, len(content)), 0o666) }
		}, "run the job again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLibrary(t, newTexts(1, 40), c.config)
			c.change(l)
			l.publish(t)
			_, err := Open(l.config.Output)
			if !errors.Is(err, failure.Input) || !strings.HasPrefix(fmt.Sprint(err), "open index: ") || !strings.Contains(fmt.Sprint(err), c.want) ||
				!strings.Contains(fmt.Sprint(err), l.config.Output) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// cut writes that many bytes of a file; below 0, all but that many.
func cut(n int) func(path string, content []byte) error {
	return func(path string, content []byte) error {
		if n < 0 {
			n += len(content)
		}
		return os.WriteFile(path, content[:n], 0o666)
	}
}

// TestNoIndex: without an index of a job that has succeeded there is nothing to open.
func TestNoIndex(t *testing.T) {
	l := newLibrary(t, newTexts(2, 10), nil)
	l.publish(t)
	if _, err := Open(filepath.Join(l.config.Output, "none")); !errors.Is(err, failure.Input) || !strings.Contains(fmt.Sprint(err), "there is no folder") {
		t.Errorf("no folder: error %v", err)
	}
	l.put(t, workspace.ManifestName, map[string]any{"files": nil})
	if _, err := Open(l.config.Output); !errors.Is(err, failure.Input) || !strings.Contains(fmt.Sprint(err), "and index is required") {
		t.Errorf("no index: error %v", err)
	}
	if err := os.Remove(filepath.Join(l.config.Output, workspace.SuccessName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(l.config.Output); !errors.Is(err, failure.Input) || !strings.Contains(fmt.Sprint(err), workspace.SuccessName) {
		t.Errorf("no success: error %v", err)
	}
}

// TestDamageIsFound: whatever byte of an index is damaged, nothing wrong is answered: the index is refused, or a query
// says which document is damaged, or the answer is right.
func TestDamageIsFound(t *testing.T) {
	for _, keys := range []methods.Name{methods.Auto, methods.SimHash} {
		l := newLibrary(t, newTexts(9, 30), func(c *job.Config) { c.Keys, c.Threshold = keys, 0.3 })
		x, a := l.open(t), l.ask(t)
		want := answers(t, x, Request{Input: []string{a.input}})
		path := x.files[1].path
		if err := x.Close(); err != nil { // nobody may write to the files of an open index
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		refused, failed := 0, 0
		for at := 0; at < len(whole); at += 1 + len(whole)/150 {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 0x10
			if err := os.WriteFile(path, damaged, 0o666); err != nil {
				t.Fatal(err)
			}
			y, err := Open(l.config.Output)
			if err != nil {
				if refused++; !errors.Is(err, failure.Input) {
					t.Errorf("byte %d: error %v", at, err)
				}
				continue
			}
			var out strings.Builder
			switch _, err := y.Answer(t.Context(), Request{Input: []string{a.input}}, &out); {
			case err != nil:
				if failed++; !errors.Is(err, failure.Input) || !strings.Contains(err.Error(), "new.jsonl:") || !strings.Contains(err.Error(), "damaged: run the job again") {
					t.Errorf("byte %d: error %v", at, err)
				}
			default:
				compareRows(t, fmt.Sprintf("byte %d", at), parse(t, out.String()), want)
			}
			if err := y.Close(); err != nil {
				t.Error(err)
			}
		}
		if refused == 0 || (failed == 0) != (keys == methods.SimHash) {
			t.Errorf("%s: %d were refused, %d queries failed", keys, refused, failed)
		}
	}
}
