package clusters

import (
	"cmp"
	"slices"

	"github.com/zeebo/xxh3"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/digest"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/settle/state"
)

// WriteVerdicts writes the similar pairs of the shard. Of equal documents it writes one pair or more.
func (s *Shard) WriteVerdicts(run *runfile.Writer) error {
	var last digest.Digest // of equal documents
	for _, e := range s.edges {
		if e.Identical() {
			if s.members[e.A].Digest == last {
				continue
			}
			last = s.members[e.A].Digest
		}
		record, err := run.Record(records.Verdicts, 0, state.VerdictSize)
		if err != nil {
			return err
		}
		state.VerdictOf(s.members[e.A].Digest, s.members[e.B].Digest, e.Score).Put(record)
	}
	return nil
}

// WriteMemberships writes the clusters of the shard and their documents, in the order of the rows. The shard must be
// decided.
func (s *Shard) WriteMemberships(run *runfile.Writer) error {
	order := s.numbers()
	slices.SortStableFunc(order, func(a, b records.Number) int { return cmp.Compare(s.members[a].First, s.members[b].First) })
	var packed []byte
	var members []state.Member
	for len(order) > 0 {
		first := s.members[order[0]].First
		n := int(s.size[first])
		if n > 1 {
			members = members[:0]
			for _, i := range order[:n] {
				hash := xxh3.HashString128(s.name(i))
				members = append(members, state.Member{hash.Hi, hash.Lo})
			}
			packed = state.AppendGroup(packed[:0], s.name(first), members)
			record, err := run.Record(records.Memberships, 0, len(packed))
			if err != nil {
				return err
			}
			copy(record, packed)
		}
		order = order[n:]
	}
	return nil
}
