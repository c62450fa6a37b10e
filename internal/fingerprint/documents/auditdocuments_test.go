package documents

import (
	"bytes"
	"testing"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

// TestKeptSample: documents that a segment keeps for the sample are set apart as if they were looked for, under
// whatever number the file has. Where the segment keeps too few, they are looked for.
func TestKeptSample(t *testing.T) {
	listed := listed(t, map[string][]byte{"b.jsonl": someLines(3000)}, 1<<30)
	other := corpus.File{Name: "a.jsonl", Size: 1 << 30} // which makes the corpus large
	segments := func(sample int) string {
		in := *listed
		in.Files, in.Known, in.Segments = append(in.Files[:1:1], other), 1<<20, make([][]Segment, 1)
		return string(outcomeOf(t, &in, sample, t.TempDir()).Kept)
	}
	with, without := segments(audit.UsualSample), segments(0)
	kept := 0
	pieces, err := runfile.Pieces(with)
	for _, piece := range pieces {
		if piece.Kind == records.Sample {
			kept++
		}
	}
	if err != nil || kept != 1 {
		t.Fatalf("the segment keeps %d samples (%v)", kept, err)
	}
	for _, c := range []struct{ known, more, fewer int64 }{{1 << 20, 30, 5}, {1 << 21, 15, 2}, {1 << 18, 120, 50}} {
		forAudit := func(segment string) []byte {
			in := *listed
			in.Files = append([]corpus.File{other}, in.Files...)
			in.Splits = []corpus.Split{{{File: 1, End: in.Splits[0][0].End}}}
			in.Known, in.Segments = c.known, [][]Segment{{{Run: segment}}}
			m := made{sections: map[runfile.Kind][]byte{}}
			m.read(t, outcomeOf(t, &in, audit.UsualSample, t.TempDir()))
			return m.sections[records.Sample]
		}
		got, want := forAudit(with), forAudit(without)
		n := int64(0)
		for packed := got; len(packed) > 0; n++ {
			var d records.AuditDocument
			if d, packed = records.Next[records.AuditDocument](packed); d.Ref.File() != 1 {
				t.Errorf("a document of file %d is set aside", d.Ref.File())
			}
		}
		if !bytes.Equal(got, want) || n > c.more || n < c.fewer {
			t.Errorf("%d documents: %d are set aside in %d bytes, without a kept sample %d bytes", c.known, n,
				len(got), len(want))
		}
	}
}

// outcomeOf runs the stage over the one split of inputs, with a state and an audit of that many documents.
func outcomeOf(t *testing.T, inputs *Inputs, sample int, folder string) work.Outcome {
	t.Helper()
	f := stage(t, inputs, func(f *Fingerprinting) {
		f.Segments, f.HeadThreshold, f.AuditSample = work.Path(t.TempDir()), .8, sample
	})
	o, err := f.run(t.Context(), folder, 0)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestAuditHash: a document of the input is chosen by the name of its file and its position there, alone or in a
// group. Documents of the reference are chosen by what they hold.
func TestAuditHash(t *testing.T) {
	texts := []corpus.File{{Name: "a.txt"}, {Name: "b.txt"}}
	in := Inputs{Files: []corpus.File{
		{Name: "r.jsonl", Reference: true},
		{Name: "a.txt", Members: texts},
		{Name: "b.txt"},
		{Name: "c.jsonl"},
	}}
	if in.auditHash(0, 1, 7) != in.auditHash(0, 2, 7) || in.auditHash(0, 1, 7) == in.auditHash(0, 1, 8) {
		t.Error("documents of the reference are not chosen by what they hold")
	}
	if in.auditHash(1, 1, 7) != in.auditHash(2, 0, 8) || in.auditHash(1, 0, 7) == in.auditHash(1, 1, 7) {
		t.Error("a text has another hash in a group")
	}
	if a := in.auditHash(3, 5, 7); a == in.auditHash(3, 6, 7) || a == in.auditHash(2, 5, 7) ||
		a != in.auditHash(3, 5, 8) {
		t.Error("documents of the input are not chosen by where they are")
	}
}
