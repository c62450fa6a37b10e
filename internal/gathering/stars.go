package gathering

import (
	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/work"
)

// stars are the documents of heaps that are like one leader, if there are many. They are known to be much alike. So if
// a star has very many pairs, its pairs are not compared, even if they have met under other keys.
type stars struct {
	documents, leaders numbering.Set
	of                 []uint32 // number of the document's leader, by number of the document
	pairs              []int64  // pairs of its star, by number of the leader
	limit              int64    // largest number of pairs of a star that is compared
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

// star returns the number of a document's star, from 1 on, if the pairs of the star are not compared. Otherwise it
// returns 0.
func (s *stars) star(ref docref.Ref) uint32 {
	if number, found := s.documents.Find(uint64(ref)); found && s.pairs[s.of[number]] > s.limit {
		return s.of[number] + 1
	}
	return 0
}
