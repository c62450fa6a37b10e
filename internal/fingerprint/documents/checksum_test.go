package documents

import (
	"slices"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestChecksums: the checksum depends on every byte and every reject of a stretch, but not on how the stretch was cut
// into batches. Checksums come back from a run file in their order.
func TestChecksums(t *testing.T) {
	sumOf := func(batches ...corpus.Batch) (sum Checksum) {
		for _, batch := range batches {
			sum.Add(batch)
		}
		return sum
	}
	reject := corpus.Reject{Position: 3, Message: "not JSON"}
	whole := sumOf(corpus.Batch{Data: []byte("a\nb\nc\n"), Rejects: []corpus.Reject{reject}})
	cut := sumOf(corpus.Batch{Data: []byte("a\n")}, corpus.Batch{
		Data:    []byte("b\nc\n"),
		Rejects: []corpus.Reject{reject},
	})
	if whole != cut {
		t.Errorf("in one batch %v, in two %v", whole, cut)
	}
	otherByte := sumOf(corpus.Batch{Data: []byte("a\nb\nd\n"), Rejects: []corpus.Reject{reject}})
	noReject := sumOf(corpus.Batch{Data: []byte("a\nb\nc\n")})
	reject.Position++
	otherReject := sumOf(corpus.Batch{Data: []byte("a\nb\nc\n"), Rejects: []corpus.Reject{reject}})
	for what, sum := range map[string]Checksum{
		"another byte":                otherByte,
		"no reject":                   noReject,
		"another place of the reject": otherReject,
	} {
		if sum == whole {
			t.Errorf("%s has the same sum", what)
		}
	}

	want := []Checksum{whole, noReject, whole}
	path := worktest.Write(t, worktest.Runs(t), func(run *runfile.Writer) error { return WriteChecksums(run, 2, want) })
	pieces, err := runfile.Pieces(path)
	if err != nil {
		t.Fatal(err)
	}
	var reader runfile.Reader
	defer reader.Close()
	if got, err := ReadChecksums(&reader, pieces); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v come back as %v (%v)", want, got, err)
	}
}
