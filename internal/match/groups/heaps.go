package groups

import (
	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/runfile"
)

// heapMembers writes the documents of dense groups. Dense groups that share documents make one heap.
type heapMembers struct {
	run     *runfile.Writer
	part    int
	grouper *candidates.Grouper // knows the dense keys
}

// add adds the documents of a dense group. Documents that have had a dense key before are in the heap of that key
// already. So one of them for each such key joins the two groups.
func (w *heapMembers) add(crowd *records.CrowdReader) error {
	var other docref.Ref
	joined := map[uint64]bool{}
	var r candidates.Record
	for i := range crowd.Documents {
		if crowd.Record(&r); i == 0 {
			other = r.Ref
		}
		if key, has := w.grouper.DenseBefore(&r); has {
			if joined[key] {
				continue
			}
			joined[key] = true
		}
		m := records.HeapMember{Ref: r.Ref, Other: other, Size: r.Size}
		if r.Second != r.Ref {
			m.Second = r.Second
		}
		if err := records.WriteHeapMember(w.run, w.part, m); err != nil {
			return err
		}
	}
	return nil
}
