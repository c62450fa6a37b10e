package gathering

import (
	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
)

// stars are the documents of heaps that are like one leader, if there are many. They are known to be much alike. So if
// a star has very many pairs, its pairs are not compared, even if they have met under other keys.
type stars struct {
	documents graphs.Numbering[uint32]
	leaders   graphs.Numbering[leader]
	of        []leader // the leader of each document, by number of the document
	pairs     []int64  // pairs of each star, by leader
	limit     int64    // largest number of pairs of a star that is compared
}

// leader is the number of a leader among the leaders of all heaps, from 0.
type leader uint32

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

// star returns the star of a document if the pairs of the star are not compared. Otherwise it returns 0.
func (s *stars) star(ref docref.Ref) records.StarNumber {
	if number, found := s.documents.Find(uint64(ref)); found && s.pairs[s.of[number]] > s.limit {
		return records.StarNumber(s.of[number]) + 1
	}
	return 0
}
