package report

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
)

// A pair is one-sided if one share is at least mostOf and the other one at most partOf.
const mostOf, partOf = 0.95, 0.85

// The reasons why a pair is an example, with the number of such examples in the table, and of those with their texts.
const (
	whyLow, mostLow, textsLow             = "least alike", 60, 5
	whyOneSided, mostOneSided, textsSided = "one-sided", 40, 3
	whySample, mostSampled, textsSampled  = "random", 100, 4
)

type pairPass struct {
	run     *Run
	sampler sampler

	scores  *tally             // of pairs that are not identical
	nearest map[uint64]float64 // the best score of chosen documents

	low, oneSided, sampled *graphs.Least[Pair]
}

func newPairPass(run *Run, members *memberPass) *pairPass {
	sign := 1.
	if run.Unit == Bits {
		sign = -1
	}
	return &pairPass{
		run:      run,
		sampler:  members.sampler,
		scores:   newTally(run.Unit, run.Distance),
		nearest:  map[uint64]float64{},
		low:      least(mostLow, func(p *Pair) float64 { return sign * p.Score }),
		oneSided: least(mostOneSided, func(p *Pair) float64 { return -math.Abs(p.ContainmentA - p.ContainmentB) }),
		sampled:  least(mostSampled, func(p *Pair) float64 { return p.lot }),
	}
}

func least[T any](most int, key func(item *T) float64) *graphs.Least[T] {
	return graphs.NewLeast(most, func(a, b T) int { return cmp.Compare(key(&a), key(&b)) })
}

func (p *pairPass) read(ctx context.Context, f *finished.Folder) error {
	for row, err := range finished.Rows[output.Pair](ctx, f, output.Pairs) {
		if err != nil {
			return err
		}
		p.see(&row)
	}
	return nil
}

func (p *pairPass) see(row *output.Pair) {
	score := p.run.score(row)
	p.note(row.A, score)
	p.note(row.B, score)
	if row.Identical {
		return
	}
	p.scores.add(score)
	pair := Pair{
		A:            row.A,
		B:            row.B,
		URLA:         row.URLA,
		DateA:        row.DateA,
		URLB:         row.URLB,
		DateB:        row.DateB,
		Score:        score,
		ContainmentA: row.ContainmentA,
		ContainmentB: row.ContainmentB,
		Whole:        row.JaccardWhole,
		Estimate:     !row.Exact,
		Identical:    row.Identical,
		lot:          float64((xxh3.HashString(row.A)*31+xxh3.HashString(row.B))>>11) / (1 << 53),
	}
	p.low.Add(pair)
	p.sampled.Add(pair)
	if max(row.ContainmentA, row.ContainmentB) >= mostOf && min(row.ContainmentA, row.ContainmentB) <= partOf {
		p.oneSided.Add(pair)
	}
}

// score returns what a pair is judged by. Copied passages count by the share of the document that has fewer of them.
func (r *Run) score(row *output.Pair) float64 {
	switch {
	case r.Unit == Bits:
		return float64(row.Hamming)
	case r.Passages:
		return max(row.ContainmentA, row.ContainmentB)
	}
	return row.Jaccard
}

// note remembers the best score of a document, if that is chosen.
func (p *pairPass) note(name string, score float64) {
	key, chosen := p.sampler.choose(name)
	if !chosen {
		return
	}
	before, known := p.nearest[key]
	if !known || p.run.Unit == Bits && score < before || p.run.Unit == Similarity && score > before {
		p.nearest[key] = score
	}
}

// examples returns the pairs that a page lists, each once: first those that are worth their texts, of each list some.
func (p *pairPass) examples() []Pair {
	lists := []struct {
		pairs []Pair
		why   string
		texts int
	}{
		{p.low.Items, whyLow, textsLow},
		{p.oneSided.Items, whyOneSided, textsSided},
		{p.sampled.Items, whySample, textsSampled},
	}
	var all []Pair
	listed := map[[2]string]bool{}
	add := func(pairs []Pair, why string) {
		for _, pair := range pairs {
			if names := [2]string{pair.A, pair.B}; !listed[names] {
				listed[names] = true
				pair.Why = why
				all = append(all, pair)
			}
		}
	}
	for _, list := range lists {
		add(list.pairs[:min(list.texts, len(list.pairs))], list.why)
	}
	for _, list := range lists {
		add(list.pairs, list.why)
	}
	return all
}

// mostTracked is about how many documents are looked at one by one. More are sampled.
const mostTracked = 1 << 20

// sampler chooses documents by hashes of their names. So every pass over the rows, in any order, chooses the same ones.
type sampler struct {
	limit uint64
	share float64
}

func newSampler(documents int64) sampler {
	if documents <= mostTracked {
		return sampler{math.MaxUint64, 1}
	}
	share := mostTracked / float64(documents)
	return sampler{uint64(share * (1 << 63) * 2), share}
}

func (s sampler) choose(name string) (key uint64, chosen bool) {
	key = xxh3.HashString(name)
	return key, key <= s.limit
}

const (
	mostMembers = 32
	// mostClusters is the number of clusters in the table. Documents are shown of the first mostLargest, and of the
	// mostLoosest ones with the lowest mean.
	mostClusters, mostLargest, mostLoosest = 100, 8, 4
	// leastLoose is the size from which a cluster may be called loose.
	leastLoose = 4
)

type memberPass struct {
	sampler sampler
	// removed counts the similarities of removed documents to those that stay for them.
	removed   *tally
	documents []Member

	sizes            []SizeClass
	largest, loosest *graphs.Least[*Cluster]
}

func newMemberPass(s sampler, removed *tally) *memberPass {
	return &memberPass{
		sampler: s,
		removed: removed,
		largest: least(mostClusters, func(c **Cluster) float64 { return -float64((*c).Size) }),
		loosest: least(mostLoosest, func(c **Cluster) float64 { return (*c).Mean }),
	}
}

func (m *memberPass) read(ctx context.Context, f *finished.Folder) error {
	for of, err := range f.Clusters(ctx, m.member) {
		if err != nil {
			return err
		}
		c := &Cluster{Cluster: of, Documents: m.documents}
		m.documents = nil
		m.count(c)
		m.largest.Add(c)
		if c.Size >= leastLoose {
			m.loosest.Add(c)
		}
	}
	return nil
}

func (m *memberPass) member(row *output.Member) {
	if !row.Kept {
		m.removed.add(row.Similarity)
	}
	if len(m.documents) < mostMembers {
		m.documents = append(m.documents, Member{row.ID, row.URL, row.Date, row.Kept, row.Similarity, row.Reference})
	}
}

// count counts a cluster by its size: 2, 3, 4, then 5 to 8, 9 to 16 and so on.
func (m *memberPass) count(c *Cluster) {
	class := 0
	if c.Size > 4 {
		class = bits.Len(uint(c.Size - 1)) // 3 for 5 to 8
	} else {
		class = c.Size - 2
	}
	for len(m.sizes) <= class {
		next := SizeClass{From: len(m.sizes) + 2, To: len(m.sizes) + 2}
		if n := len(m.sizes); n > 2 {
			next.From, next.To = 1<<(n-1)+1, 1<<n
		}
		m.sizes = append(m.sizes, next)
	}
	m.sizes[class].Clusters++
	m.sizes[class].Documents += int64(c.Size)
}

// clusters returns the clusters of the table, the largest first: loose ones that are small are among them. Those
// without a map keep no documents.
func (m *memberPass) clusters() []Cluster {
	var all []Cluster
	for i, c := range m.largest.Items {
		if i >= mostLargest && !slices.Contains(m.loosest.Items, c) {
			c.Documents = nil
		}
		all = append(all, *c)
	}
	for _, c := range m.loosest.Items {
		if !slices.Contains(m.largest.Items, c) {
			all = append(all, *c)
		}
	}
	slices.SortStableFunc(all, func(a, b Cluster) int { return cmp.Compare(b.Size, a.Size) })
	return all
}
