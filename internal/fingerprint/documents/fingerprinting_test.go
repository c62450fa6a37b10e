package documents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/sketch"
)

// TestTask: the blocks of a split do not depend on how many workers share it, nor on how the input is packed or cut.
func TestTask(t *testing.T) {
	const n = 20_000
	content := someLines(n)
	plain := stage(t, listed(t, map[string][]byte{"x.jsonl": content}, 1<<30), nil).all(t)
	want := findings.Counts{Documents: n, IntegerIDs: n, Rejected: n / 10}
	if want.Bytes = plain.counts.Bytes; !reflect.DeepEqual(plain.counts, want) || len(plain.documents) != n ||
		plain.blocks < 3 {
		t.Fatalf("%d documents in %d blocks, counts %+v, want %+v", len(plain.documents), plain.blocks, plain.counts,
			want)
	}
	for i, d := range plain.documents {
		if d.id != fmt.Sprint(i) || len(d.keys) != 5 || len(d.simHash) != 1 ||
			len(d.set) != sketchblock.HashSize*d.size {
			t.Fatalf("document %d: %+v", i, d)
		}
	}
	for i := range 10 {
		packed := stage(t, listed(t, map[string][]byte{"x.jsonl.gz": zipped(t, content)}, 1<<30), nil).all(t)
		same(t, fmt.Sprintf("compressed, time %d", i), packed, plain)
	}
	cut := stage(t, listed(t, map[string][]byte{"x.jsonl": content}, 100_000), nil)
	if len(cut.inputs.Splits) < 10 {
		t.Fatalf("%d splits", len(cut.inputs.Splits))
	}
	same(t, "cut", cut.all(t), plain)
}

// same compares what two runs made of the same lines.
func same(t *testing.T, name string, got, want made) {
	t.Helper()
	if !reflect.DeepEqual(got.counts, want.counts) || !reflect.DeepEqual(got.documents, want.documents) ||
		!reflect.DeepEqual(got.sections, want.sections) {
		t.Errorf("%s: %d documents, counts %+v, want %d, %+v; equal documents: %v", name, len(got.documents),
			got.counts,
			len(want.documents), want.counts, reflect.DeepEqual(got.documents, want.documents))
	}
}

// TestKept: a block keeps what it is told to of its documents, and the rest does not depend on it.
func TestKept(t *testing.T) {
	words := strings.Repeat("some words that are %d, not quoted, ", 200)
	args := make([]any, 200)
	for i := range args {
		args[i] = i * i
	}
	text, err := json.Marshal(
		map[string]string{"text": fmt.Sprintf(words, args...) + `then "a few words that somebody has said" end`})
	if err != nil {
		t.Fatal(err)
	}
	inputs := listed(t, map[string][]byte{"x.jsonl": text}, 1<<30)
	keep := func(kept Kept) stored {
		return stage(t, inputs, func(f *Fingerprinting) { f.Kept = kept }).all(t).documents[0]
	}
	all := keep(Kept{Sets: AllHashes})
	if all.size <= 300 || len(all.set) != sketchblock.HashSize*all.size {
		t.Fatalf("a set of %d in %d bytes", all.size, len(all.set))
	}
	for _, test := range []struct {
		kept Kept
		want []byte
	}{{Kept{Sets: SmallestHashes, Smallest: 33}, all.set[:33*sketchblock.HashSize]}, {Kept{
		Sets:     SmallestHashes,
		Smallest: 300,
	}, all.set[:300*sketchblock.HashSize]}, {Kept{Sets: NoHashes}, nil}} {
		want := all
		want.set = test.want
		if got := keep(test.kept); !bytes.Equal(got.set, want.set) || got.size != all.size ||
			got.digest != all.digest || !reflect.DeepEqual(got.simHash, all.simHash) {
			t.Errorf("%+v: a set of %d in %d bytes, want %d", test.kept, got.size, len(got.set), len(test.want))
		}
	}
	whole, unquoted := keep(Kept{Fingerprints: fingerprints.Sequences}), keep(Kept{
		Fingerprints:      fingerprints.Sequences,
		ExcludeQuotations: true,
	})
	if whole.digest != all.digest || whole.size != all.size || whole.size-unquoted.size < 6 {
		t.Errorf("sequences of %d and %d shingles of a set of %d", whole.size, unquoted.size, all.size)
	}
	if s, err := sketchblock.ParseSequence(sketchblock.Sequence{}, whole.set); err != nil ||
		len(s.Shingles) < whole.size {
		t.Errorf("a sequence of %d shingles, want at least %d (%v)", len(s.Shingles), whole.size, err)
	}
}

// TestSegmentsHash: segments of other kinds of fingerprints, or with more of the smallest hashes, are others. Where a
// worker has more memory, they are the same.
func TestSegmentsHash(t *testing.T) {
	f := Fingerprinting{Sketching: usual()}
	of := func(kept Kept) string {
		f.Kept = kept
		hash, err := f.SegmentsHash(&Inputs{})
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	all := map[string]bool{}
	for _, kept := range []Kept{
		{Sets: SmallestHashes, Smallest: 64},
		{Sets: SmallestHashes, Smallest: 256},
		{Sets: AllHashes, Fingerprints: fingerprints.Sets},
		{Sets: AllHashes, Fingerprints: fingerprints.Sequences},
		{Sets: AllHashes, Fingerprints: fingerprints.Sequences, ExcludeQuotations: true},
		{Sets: NoHashes, Fingerprints: fingerprints.Words},
	} {
		hash := of(kept)
		if all[hash] {
			t.Errorf("%+v has the hash of another one", kept)
		}
		all[hash] = true
	}
	f.WindowBytes, f.DocumentBytes, f.MaxExpanded = 1, 2, 3
	if !all[of(Kept{Sets: SmallestHashes, Smallest: 64, Marking: Marking{Pages: Paging{Ranges: 4}}})] {
		t.Error("with other memory and other ranges the hash is another one")
	}
}

// TestLongLines: a line that is too long, and a document that is too long, are rejects with a reason. Others are
// fingerprinted, however long they are, and the right to hold them comes back.
func TestLongLines(t *testing.T) {
	long := func(n int) string { return `{"text":"` + strings.Repeat("long ", n/5) + `"}` + "\n" }
	content := []byte(long(10) + long(corpus.LongLine+1000) + long(20) + long(corpus.LongLine+20_000) + long(15))
	for _, name := range []string{"x.jsonl", "x.jsonl.gz"} {
		packed := content
		if strings.HasSuffix(name, ".gz") {
			packed = zipped(t, content)
		}
		inputs := listed(t, map[string][]byte{name: packed}, 1<<30)
		m := stage(t, inputs, func(f *Fingerprinting) { f.MaxDocument = corpus.LongLine + 1000 }).all(t)
		message := fmt.Sprintf("text of %d bytes is longer than the limit of %d bytes set by max_document",
			corpus.LongLine+20_000-3, corpus.LongLine+1000)
		if rejects := string(m.sections[records.Rejects]); m.counts.Documents != 4 || m.counts.Rejected != 1 ||
			!strings.Contains(rejects, message) {
			t.Errorf("%s: %+v, rejects %.300s, want %s", name, m.counts, rejects, message)
		}
		if m.documents[1].length != corpus.LongLine+1000-3 {
			t.Errorf("%s: the long document has %d bytes", name, m.documents[1].length)
		}
		m = stage(t, inputs, func(f *Fingerprinting) { f.MaxDocument = 100 }).all(t)
		if rejects := string(m.sections[records.Rejects]); m.counts.Documents != 3 ||
			strings.Count(rejects, "line of") != 2 {
			t.Errorf("%s: %+v, rejects %.300s", name, m.counts, rejects)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := HoldLongLine(ctx); err != nil {
			t.Fatalf("%s: the right to hold a long line is not given back", name)
		}
		// A task that waits for the right ends when its context ends.
		ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		f := stage(t, inputs, func(f *Fingerprinting) { f.MaxDocument = corpus.LongLine + 1000 })
		if _, err := f.run(ctx, t.TempDir(), 0); err == nil || ctx.Err() == nil {
			t.Errorf("%s: error %v of a task that cannot hold its line", name, err)
		}
		ReleaseLongLine()
	}
}

// TestLargeWindows: files with large zstd windows are read one at a time, and the right to hold one comes back.
func TestLargeWindows(t *testing.T) {
	// The header of a frame with a window of 16 MiB, and one raw block, the last.
	large := []byte("\x28\xb5\x2f\xfd\x00\x70\x69\x00\x00{\"text\":\"a\"}\n")
	inputs := listed(t, map[string][]byte{"a.jsonl.zst": large, "b.jsonl.zst": append(large, large...)}, 1<<30)
	if m := stage(t, inputs, func(*Fingerprinting) {}).all(t); m.counts.Documents != 3 || m.counts.Rejected != 0 {
		t.Errorf("%+v", m.counts)
	}
	var w Windows
	release, err := w.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	again, err := w.Hold(ctx) // who has it need not wait
	if err != nil {
		t.Fatal(err)
	}
	f := stage(t, inputs, func(*Fingerprinting) {})
	if _, err := f.run(ctx, t.TempDir(), 0); err == nil || ctx.Err() == nil {
		t.Errorf("error %v of a task that cannot hold its window", err)
	}
	again()
	release()
	stage(t, inputs, func(*Fingerprinting) {}).all(t)
}

// TestTaskChecksums: a second read of a stretch gives the same checksum, until a byte changes.
func TestTaskChecksums(t *testing.T) {
	content := someLines(300)
	inputs := listed(t, map[string][]byte{
		"a.jsonl":    content,
		"b.jsonl":    someLines(3),
		"c.jsonl.gz": zipped(t, content)[:1000],
	}, 5000)
	sums := func() (all []Checksum) {
		m := stage(t, inputs, func(f *Fingerprinting) { f.Checksums = true }).all(t)
		var reader runfile.Reader
		defer reader.Close()
		all, err := ReadChecksums(&reader, m.pieces)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	stretches := 0
	for _, split := range inputs.Splits {
		stretches += len(split)
	}
	first := sums()
	if len(first) != stretches || !reflect.DeepEqual(sums(), first) {
		t.Fatalf("%d sums of %d stretches; the same again: %v", len(first), stretches, reflect.DeepEqual(sums(), first))
	}
	if last := first[len(first)-1]; last.Rejects == 0 {
		t.Errorf("a file that is cut short has the sum %+v", last)
	}
	content[len(content)/2] ^= 1
	info, err := os.Stat(inputs.Files[0].Path)
	if err == nil {
		err = os.WriteFile(inputs.Files[0].Path, content, 0o666)
	}
	if err == nil {
		err = os.Chtimes(inputs.Files[0].Path, info.ModTime(), info.ModTime())
	}
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for i, sum := range sums() {
		if sum != first[i] {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d sums changed with one byte", changed)
	}
	if m := stage(t, inputs, nil).all(t); len(m.sections[records.Sums]) > 0 {
		t.Error("check sums that nobody wants")
	}
}

// TestAuditDocuments: in a small corpus all documents of the input that have shingles are set apart for the sample.
// They are set apart whole, whatever is kept of the others.
func TestAuditDocuments(t *testing.T) {
	lines := `{"text":"one two three four five"}` + "\n" + `{"text":""}` + "\n" + `{"text":"six seven eight nine"}` +
		"\n"
	inputs := listed(t, map[string][]byte{"a.jsonl": []byte(lines), "b.jsonl": []byte(lines)}, 1<<30)
	inputs.Files[0].Reference = true
	for _, sample := range []int{0, audit.UsualSample} {
		m := stage(t, inputs, func(f *Fingerprinting) { f.Kept, f.AuditSample = Kept{Sets: NoHashes}, sample }).all(t)
		if m.counts.Documents != 3 || m.counts.ReferenceDocuments != 3 || len(m.sections[records.Probe]) > 0 {
			t.Fatalf("counts %+v, %d bytes to look for partners in", m.counts, len(m.sections[records.Probe]))
		}
		var sizes []int
		for packed := m.sections[records.Sample]; len(packed) > 0; {
			var d records.AuditDocument
			d, packed = records.Next[records.AuditDocument](packed)
			if d.Ref.File() != 1 {
				t.Errorf("a document of file %d is in the sample", d.Ref.File())
			}
			sizes = append(sizes, len(d.Set)/sketchblock.HashSize)
		}
		if want := []int{3, 2}; sample > 0 && !reflect.DeepEqual(sizes, want) || sample == 0 && sizes != nil {
			t.Errorf("audit of %d: sets of %d are set aside", sample, sizes)
		}
	}
}

// TestParametersTravel: JSON carries the parameters of the stage, and nothing else.
func TestParametersTravel(t *testing.T) {
	want := Fingerprinting{
		Sketching:   usual(),
		Inputs:      "/tmp/caf\xe9",
		Checksums:   true,
		AuditSample: 7,
		Kept: Kept{
			Sets:              SmallestHashes,
			Smallest:          256,
			Fingerprints:      fingerprints.Sequences,
			ExcludeQuotations: true,
		},
	}
	want.Options.Weights, want.Options.StopWordUse = []float64{1, 2}, sketch.RemoveStopWords
	b, err := json.Marshal(want)
	var got Fingerprinting
	if err == nil {
		err = json.Unmarshal(b, &got)
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s made %+v (%v)", b, got, err)
	}
}

// TestTaskFails: a fault of the machine in reading a file is an error of the input.
func TestTaskFails(t *testing.T) {
	for _, name := range []string{"x.jsonl", "x.jsonl.gz"} {
		content := someLines(10)
		if strings.HasSuffix(name, ".gz") {
			content = zipped(t, content)
		}
		f := stage(t, listed(t, map[string][]byte{name: content}, 1<<30), nil)
		if err := os.Remove(f.inputs.Files[0].Path); err != nil {
			t.Fatal(err)
		}
		_, err := f.run(t.Context(), t.TempDir(), 0)
		if fault, isOne := work.FaultOf(err); !isOne || fault.Kind != work.InputFault ||
			!strings.HasPrefix(fault.Text, "fingerprint 0: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	broken := Fingerprinting{Inputs: "/does/not/exist"}
	if err := broken.Setup(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v of inputs that do not exist", err)
	}
}
