package groups

import (
	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
)

// heapMembers writes the documents of dense groups. A heap is the documents of dense
// groups that have documents in common.
type heapMembers struct {
	run     *runfile.Writer
	part    int
	grouper *candidates.Grouper // knows the dense keys
}

// add adds the documents of a dense group. Of those that have had a dense key before,
// which are in its heap, one for each such key joins the two.
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
		if r.Input != r.Ref {
			m.Input = r.Input
		}
		if err := records.WriteHeapMember(w.run, w.part, m); err != nil {
			return err
		}
	}
	return nil
}
