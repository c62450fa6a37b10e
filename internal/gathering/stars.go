package gathering

import (
	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/work"
)

// stars are the documents of heaps that are like one leader, where these are many. They
// are known to be much alike. So where there are very many pairs of them, the pairs are
// not compared even if they have met under other keys.
type stars struct {
	documents, leaders numbering.Set
	of                 []uint32 // by number of the document: that of its leader
	pairs              []int64  // by number of the leader
	limit              int64    // pairs of a star that are compared
}

// readStars reads the large stars of all heaps in a job of that many documents.
func (c *Components) readStars(runs []string, documents int64, m *work.Memory) (*stars, error) {
	s := &stars{}
	var sizes []int64
	err := work.EachPart(runs, records.Stars, m, func(_ int, packed []byte) error {
		for ; len(packed) > 0; packed = packed[records.StarMemberSize:] {
			ref, leads := records.GetStarMember(packed)
			if _, isNew := s.documents.Add(uint64(ref)); !isNew {
				continue
			}
			leader, isNew := s.leaders.Add(uint64(leads))
			if isNew {
				sizes = append(sizes, 0)
			}
			sizes[leader]++
			s.of = append(s.of, leader)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, size := range sizes {
		s.pairs = append(s.pairs, candidates.PairsOf(size, 0))
	}
	s.limit = c.Bounds.Limit(s.pairs, documents)
	return s, nil
}

// star returns the number of a document's star if the pairs of the star are not compared,
// from 1 on. Else it returns 0.
func (s *stars) star(ref docref.Ref) uint32 {
	if number, found := s.documents.Find(uint64(ref)); found && s.pairs[s.of[number]] > s.limit {
		return s.of[number] + 1
	}
	return 0
}
