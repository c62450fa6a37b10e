package query

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/inspect/index"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/job"
)

// TestOpenRefuses: an index that this program cannot answer from is refused, and the error says why and names the file.
func TestOpenRefuses(t *testing.T) {
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
	for _, c := range []struct {
		name   string
		change func(*library)
		want   string
	}{
		{
			"a file that it does not list", headed(func(h *index.Header) { h.FirstFile = 2 }),
			"to a file that is not in the header",
		},
		{"no bytes", func(l *library) { l.write = cut(0) }, "is empty"},
		{"a byte less", func(l *library) { l.write = cut(-1) }, "is not an index"},
		{"zeros", func(l *library) {
			l.write = func(path string, content []byte) error {
				return os.WriteFile(path, make([]byte, len(content)), 0o666)
			}
		}, "is not an index"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLibrary(t, newTexts(1, 40), nil)
			c.change(l)
			paths := l.publish(t)
			err := newIndex(l.config).openFiles(paths)
			if !strings.Contains(fmt.Sprint(err), c.want) || !isDamage(err, paths) {
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

// isDamage reports whether an error says which of some files to remove.
func isDamage(err error, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		return strings.Contains(fmt.Sprint(err), "remove "+path+" and ask again")
	})
}

// TestDamageIsFound: whatever byte of an index is damaged, nothing wrong is answered. If the byte is of a set, a query
// that compares the set says which document is damaged, and other answers are right. If it is any other, the index is
// refused. Both name the file, and say what to do.
func TestDamageIsFound(t *testing.T) {
	for name, change := range map[string]func(*job.Config){
		"sets":         func(c *job.Config) { c.Threshold = 0.3 },
		"fingerprints": func(c *job.Config) { c.Keys = methods.SimHash },
		"numbered":     func(c *job.Config) { c.Keys, c.Bits = methods.SimHash, 128 },
	} {
		l := newLibrary(t, newTexts(9, 30), change)
		x, a := l.open(t), l.ask(t)
		want := answers(t, x, Request{Input: []string{a.input}})
		path, header := x.files[1].path, x.files[1].Header
		var paths []string
		for _, file := range x.files {
			paths = append(paths, file.path)
		}
		if err := x.Close(); err != nil { // nobody may write to the files of an open index
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
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
			y := newIndex(l.config)
			err := y.openFiles(paths)
			if !isSet || err != nil {
				if isSet || !isDamage(err, []string{path}) {
					t.Errorf("%s, byte %d of %d: opened with the error %v", name, at, len(whole), err)
				}
				if err != nil {
					continue
				}
			}
			var out strings.Builder
			switch _, err := y.Answer(t.Context(), Request{Input: []string{a.input}}, &out); {
			case err != nil:
				if compared++; !errors.Is(err, failure.Input) || !isDamage(err, []string{path}) ||
					!strings.Contains(err.Error(), "new.jsonl:") || !strings.Contains(err.Error(), "are damaged") {
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
