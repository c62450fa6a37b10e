package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// someLines returns n documents, with a blank line and a line that is no document after every tenth.
func someLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "{\"id\":%d,\"text\":\"document number %d of some \\\"quoted words of %d here\\\" in all\"}\n",
			i, i*i, i)
		if i%10 == 9 {
			b.WriteString(" \r\nno document\n")
		}
	}
	return b.Bytes()
}

// zipped returns content as a gzip file.
func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(content)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// compressed returns content as a zstd file.
func compressed(t *testing.T, content []byte) []byte {
	t.Helper()
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return encoder.EncodeAll(content, nil)
}

// written writes files to a new folder and returns their paths, in the order of their names.
func written(t *testing.T, files map[string][]byte) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// listed returns the inputs that the files make, in splits of splitBytes.
func listed(t *testing.T, files map[string][]byte, splitBytes int64) *Inputs {
	t.Helper()
	listing, err := corpus.List(t.Context(), written(t, files), corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &Inputs{Files: listing.Files, Splits: corpus.Splits(listing.Files, splitBytes)}
}

// usual is how records are read in these tests.
func usual() Sketching {
	return Sketching{
		Reading: Reading{Fields: corpus.Fields{ID: "id", Texts: []string{"text"}}, MaxDocument: 1 << 20},
		Options: sketch.Options{Measure: sketch.Measure{Shingle: 3}, SimHashBits: 64},
	}
}

// stage returns the stage for inputs, set up. Change, if not nil, changes its parameters first.
func stage(t *testing.T, inputs *Inputs, change func(*Fingerprinting)) *Fingerprinting {
	t.Helper()
	path := filepath.Join(t.TempDir(), "inputs")
	if err := WriteInputs(path, *inputs); err != nil {
		t.Fatal(err)
	}
	f := &Fingerprinting{
		Sketching: usual(),
		Inputs:    work.Path(path),
		Kept: Kept{
			Marking: Marking{Keep: "shortest"},
			Scheme:  lshbands.Scheme{Bands: 5, Rows: 2},
			Sets:    AllHashes,
		},
	}
	if change != nil {
		change(f)
	}
	if err := f.Setup(); err != nil {
		t.Fatal(err)
	}
	return f
}

// run runs the task of a split.
func (f *Fingerprinting) run(ctx context.Context, folder string, split int) (work.Outcome, error) {
	runs := work.Runs{Folder: work.Path(folder), Held: 1 << 20}
	var o work.Outcome
	_, err := runs.Run(ctx, work.Fingerprint, split, func(m *work.Memory) error {
		w := &work.TaskContext{Memory: m, Runs: runs, Outcome: &o, Hold: func(any) {}}
		return w.Do(ctx, work.Task{Number: split}, f.Task)
	})
	return o, err
}

// made holds what tasks have made.
type made struct {
	counts    findings.Counts
	documents []stored
	sections  map[runfile.Kind][]byte // all kinds but documents and sets
	pieces    []runfile.Piece
	blocks    int
}

// stored is a document of a sketch block.
type stored struct {
	ref          docref.Ref
	digest       digest.Digest
	id           string
	keys         []uint64
	simHash      []uint64
	size, length int // length is the length of a document of the input only
	set          []byte
}

// all runs the tasks of all splits and reads what they have made.
func (f *Fingerprinting) all(t *testing.T) made {
	t.Helper()
	m := made{sections: map[runfile.Kind][]byte{}}
	for split := range f.inputs.Splits {
		o, err := f.run(t.Context(), t.TempDir(), split)
		if err != nil {
			t.Fatal(err)
		}
		findings.Merge(&m.counts, o.Counts)
		m.read(t, o)
	}
	return m
}

// read reads the run of an outcome.
func (m *made) read(t *testing.T, o work.Outcome) {
	t.Helper()
	if o.Run == "" {
		return
	}
	pieces, err := runfile.Pieces(o.Run)
	if err != nil {
		t.Fatal(err)
	}
	m.pieces = append(m.pieces, pieces...)
	w := &work.TaskContext{Memory: &work.Memory{}, Pieces: pieces}
	defer w.Reader.Close()
	hashes := int64(0)
	var last *sketchblock.Block
	err = w.EachSet(t.Context(), func(block *sketchblock.Block, i int, set []byte) error {
		if block != last {
			last = block
			m.blocks++
		}
		d := stored{
			ref:     block.Ref(i),
			digest:  block.Digest(i),
			id:      string(block.ID(i)),
			simHash: block.SimHash(nil, i),
			size:    block.Size(i),
			length:  int(block.Priority(i)) - 1,
			set:     bytes.Clone(set),
		}
		for k := range block.Keys() {
			d.keys = append(d.keys, block.Key(i, k))
		}
		hashes += int64(block.Stored(i))
		m.documents = append(m.documents, d)
		return nil
	})
	if err != nil || hashes != o.Shingles {
		t.Errorf("%d hashes are stored, the outcome says %d (%v)", hashes, o.Shingles, err)
	}
	for _, kind := range []runfile.Kind{records.Rejects, records.Sample, records.Probe, records.Sums} {
		if m.sections[kind], err = w.Reader.ReadKind(m.sections[kind], pieces, kind); err != nil {
			t.Fatal(err)
		}
	}
}
