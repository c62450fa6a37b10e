package query

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/ground/storage/storagetest"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/settle/index"
	"mirrorbeam/internal/start/failure"
	"mirrorbeam/internal/start/workspace"
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

// TestDamageIsFound: whatever byte of an index is damaged, nothing wrong is answered. If the byte is of a set, a query that
// compares the set says which document is damaged, and other answers are right. If it is any other, the index is refused.
// Both name the file, and say what to do.
func TestDamageIsFound(t *testing.T) {
	for name, change := range map[string]func(*job.Config){
		"sets":         func(c *job.Config) { c.Threshold = 0.3 },
		"fingerprints": func(c *job.Config) { c.Keys = methods.SimHash },
		"numbered":     func(c *job.Config) { c.Keys, c.Bits = methods.SimHash, 128 },
	} {
		l := newLibrary(t, newTexts(9, 30), change)
		x, a := l.open(t), l.ask(t)
		want := answers(t, x, Request{Input: []string{a.input}})
		path, header := x.files[1].path, x.files[1].header
		if err := x.Close(); err != nil { // nobody may write to the files of an open index
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		isChecked := func(err error) bool {
			return errors.Is(err, failure.Input) && strings.Contains(err.Error(), path) && strings.Contains(err.Error(), ": run the job again")
		}
		sets := header.Segments[0].Columns[0]
		compared := 0
		for _, at := range someOfEach(header.Segments[0], len(whole)) {
			isSet := header.Bits == 0 && int64(at) >= sets.Offset && int64(at) < sets.Offset+sets.Length
			damaged := bytes.Clone(whole)
			damaged[at] ^= 1 << (at % 8)
			if err := os.WriteFile(path, damaged, 0o666); err != nil {
				t.Fatal(err)
			}
			y, err := Open(l.config.Output)
			if !isSet || err != nil {
				if isSet || !isChecked(err) {
					t.Errorf("%s, byte %d of %d: opened with the error %v", name, at, len(whole), err)
				}
				if err != nil {
					continue
				}
			}
			var out strings.Builder
			switch _, err := y.Answer(t.Context(), Request{Input: []string{a.input}}, &out); {
			case err != nil:
				if compared++; !isChecked(err) || !strings.Contains(err.Error(), "new.jsonl:") || !strings.Contains(err.Error(), "are damaged") {
					t.Errorf("%s, byte %d: error %v", name, at, err)
				}
			default:
				compareRows(t, fmt.Sprintf("%s, byte %d", name, at), parse(t, out.String()), want)
			}
			if err := y.Close(); err != nil {
				t.Error(err)
			}
		}
		if (compared == 0) != (header.Bits > 0) {
			t.Errorf("%s: %d queries failed", name, compared)
		}
	}
}

// someOfEach returns bytes of each column and table of a segment, and of the header and the footer behind it.
func someOfEach(s index.SegmentHeader, size int) (positions []int) {
	const footer = 20
	places := append(slices.Clone(s.Columns[:]), s.Tables...)
	behind := int64(0)
	for _, place := range places {
		behind = max(behind, place.Offset+place.Length)
	}
	places = append(places, index.Placement{Offset: behind, Length: int64(size) - footer - behind},
		index.Placement{Offset: int64(size) - footer, Length: footer})
	for _, place := range places {
		for at := int64(0); at < place.Length; at += 1 + place.Length/20 {
			positions = append(positions, int(place.Offset+at))
		}
		if place.Length > 0 {
			positions = append(positions, int(place.Offset+place.Length-1))
		}
	}
	return positions
}

// TestDamagedCopy: of a copy in the folder for caches the error says that it can be removed.
func TestDamagedCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copy")
	if err := os.WriteFile(path, []byte("no index at all, and longer than a footer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := new(Index).openFiles([]string{path}, mapCached); err == nil || !strings.Contains(err.Error(), "remove "+path+" and ask again") {
		t.Errorf("a damaged file of the cache: %v", err)
	}
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	_, folder := storagetest.NewMemory(t)
	if err := storage.WriteFile(folder+"/index", []byte("no index at all, and longer than a footer")); err != nil {
		t.Fatal(err)
	}
	err := new(Index).openFiles([]string{folder + "/index"}, mapIndex)
	if err == nil || !strings.Contains(err.Error(), folder+"/index: ") || !strings.Contains(err.Error(), "remove "+cache) {
		t.Errorf("a damaged copy of a file in a bucket: %v", err)
	}
}
