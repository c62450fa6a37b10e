package documents

import (
	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/runfile"
)

// Starred describes a dense group whose documents are compared only with the first one.
func (l *Layout) Starred(group []candidates.Record, pairs int64) work.Skipped {
	var s SkippedGroup
	for i := range group {
		s.Note(group[i].Ref)
	}
	return l.Skipped(&s, pairs-int64(len(group)-1))
}

// SkippedGroup describes a dense group to the user.
type SkippedGroup struct {
	Documents     int64
	First, Second docref.Ref
}

// Note notes a document of the group.
func (s *SkippedGroup) Note(ref docref.Ref) {
	switch s.Documents++; {
	case s.Documents == 1:
		s.First = ref
	case ref < s.First:
		s.First, s.Second = ref, s.First
	case s.Documents == 2 || ref < s.Second:
		s.Second = ref
	}
}

// Skipped describes a dense group with skipped pairs.
func (l *Layout) Skipped(s *SkippedGroup, pairs int64) work.Skipped {
	return work.Skipped{Pairs: pairs, Groups: 1, Example: &work.SkippedGroup{
		Documents: s.Documents,
		First:     string(l.Inputs.RefText(nil, s.First)), Second: string(l.Inputs.RefText(nil, s.Second)),
	}}
}

// Mark writes that a document belongs to a kind: [records.Unchecked] or [records.PartlyListed].
func (l *Layout) Mark(run *runfile.Writer, kind runfile.Kind, ref docref.Ref) error {
	b, err := run.Record(kind, SplitOf(l.Starts, ref), records.RefSize)
	if err == nil {
		records.PutRef(b, ref)
	}
	return err
}
