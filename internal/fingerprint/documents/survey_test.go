package documents

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
)

// watcher notes what visitors are shown.
type watcher struct {
	mutex     sync.Mutex
	wants     func(*Seen) bool
	seen      []Seen
	documents map[docref.Ref]Surveyed
	ends      int
}

func newWatcher(wants func(*Seen) bool) *watcher {
	return &watcher{wants: wants, documents: map[docref.Ref]Surveyed{}}
}

func (w *watcher) visitor() Visitor {
	return Visitor{
		Wants: func(s *Seen) bool {
			w.mutex.Lock()
			defer w.mutex.Unlock()
			w.seen = append(w.seen, *s)
			return w.wants(s)
		},
		Visit: func(d *Surveyed) {
			w.mutex.Lock()
			defer w.mutex.Unlock()
			if d == nil {
				w.ends++
				return
			}
			one := *d
			one.Set = slices.Clone(d.Set)
			w.documents[d.Ref] = one
		},
	}
}

// TestSurvey: a survey sees the documents that the stage fingerprints, and counts the same.
func TestSurvey(t *testing.T) {
	content := someLines(8000)
	inputs := listed(t, map[string][]byte{
		"a.jsonl":    someLines(5),
		"b.jsonl":    content,
		"c.jsonl.gz": zipped(t, content),
		"d.jsonl.gz": zipped(t, content)[:3000],
	}, 200_000)
	inputs.Files[0].Reference = true
	want := stage(t, inputs, nil).all(t)
	w := newWatcher(func(*Seen) bool { return true })
	counts, _, err := Survey(t.Context(), usual(), inputs, w.visitor)
	if err != nil || !reflect.DeepEqual(counts, want.counts) || len(w.documents) != len(want.documents) ||
		len(w.seen) != len(want.documents) || w.ends == 0 {
		t.Fatalf("counts %+v (%v), want %+v; %d documents, want %d", counts, err, want.counts, len(w.documents),
			len(want.documents))
	}
	hashes := map[uint64]uint64{}
	for _, d := range want.documents {
		got := w.documents[d.ref]
		packed := sketchblock.AppendPacked([]byte{}, got.Set)
		if got.Digest != d.digest[0] || string(packed) != string(d.set) ||
			d.ref.File() > 0 && got.Length != int64(d.length) || got.Reference != (d.ref.File() == 0) {
			t.Fatalf("document %v: %+v, want %+v", d.ref, got, d)
		}
		if digest, known := hashes[got.Hash]; known && digest != d.digest[0] {
			t.Fatalf("documents of digests %x and %x have the hash %x", digest, d.digest, got.Hash)
		}
		hashes[got.Hash] = d.digest[0]
	}

	few := newWatcher(func(s *Seen) bool { return s.Hash%4 == 0 })
	again, _, err := Survey(t.Context(), usual(), inputs, few.visitor)
	if err != nil || !reflect.DeepEqual(again, counts) || len(few.seen) != len(w.seen) || len(few.documents) == 0 ||
		len(few.documents) > len(w.seen)/2 {
		t.Fatalf("counts %+v (%v); %d of %d documents are shown", again, err, len(few.documents), len(few.seen))
	}
	for ref, d := range few.documents {
		if !reflect.DeepEqual(d, w.documents[ref]) {
			t.Errorf("document %v: %+v, want %+v", ref, d, w.documents[ref])
		}
	}
}

// TestSurveyFails: a survey returns the error that ends it.
func TestSurveyFails(t *testing.T) {
	all := newWatcher(func(*Seen) bool { return true })
	inputs := listed(t, map[string][]byte{"a.jsonl": someLines(5), "b.jsonl": someLines(5)}, 100)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Survey(cancelled, usual(), inputs, all.visitor); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
	if err := os.Remove(inputs.Files[1].Path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Survey(t.Context(), usual(), inputs, all.visitor); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file is gone: error %v", err)
	} else if fault := work.NewFault(err); fault.Kind != work.InputFault {
		t.Errorf("a file is gone: fault %+v", fault)
	}
	inputs.StopWords = "\xff"
	if _, _, err := Survey(t.Context(), usual(), inputs, all.visitor); err == nil ||
		!strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("stop words: error %v", err)
	}
}
