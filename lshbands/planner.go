package lshbands

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// Costs are the CPU seconds of those steps of a job that depend on the keys.
type Costs struct {
	// Key is the cost of one key of one document: to write its record, to bring it to its shard and to sort
	// it there.
	Key float64
	// Component is the cost of one component of the MinHash signature for one shingle.
	Component float64
	// Shingle is the cost of one shingle of one document if the rarest shingles are the keys: to count it in
	// the corpus, and to look up how rare it is.
	Shingle float64
	// Comparison is the cost of one candidate pair: to bring both documents together and to compare them.
	Comparison float64
}

// UsualCosts are the costs of jobs of some hundred megabytes on a core of an AMD EPYC (Zen 5).
func UsualCosts() Costs {
	return Costs{Key: 300e-9, Component: 15e-12, Shingle: 12e-9, Comparison: 350e-9}
}

// FingerprintCosts are the costs if documents are compared where they meet, by the fingerprints in their
// keys.
func FingerprintCosts() Costs { return Costs{Key: 300e-9, Comparison: 1e-9} }

// Workload is what keys are planned for.
type Workload struct {
	// Documents is how many documents get keys. Shingles is the mean number of their distinct shingles.
	Documents, Shingles float64
	// Memory is the room in bytes for the keys of all documents. 0 means no limit.
	Memory float64
	// RecordBytes returns how many bytes the keys of a document take.
	RecordBytes func(keys float64) float64
	Costs       Costs
}

// Choice is a way to bring possibly similar documents together, with its promise and its cost.
type Choice struct {
	// Scheme is the scheme of MinHash keys. It is zero for other keys.
	Scheme
	// Blocks are the numbers of blocks at the levels of a [Permuted], none for other keys. Distance is the
	// number of bits that may differ.
	Blocks   []int `json:"blocks,omitempty"`
	Distance int   `json:"distance,omitempty"`
	// KeysPerDocument is the mean number of keys of a document: bands, tables, or
	// rare shingles.
	KeysPerDocument float64 `json:"keys_per_document"`
	// PrefixBits is the length of the shortest prefix of a Permuted.
	PrefixBits int `json:"prefix_bits,omitempty"`
	// Probability is the probability that a pair at the threshold, or at the distance, shares a key.
	Probability float64 `json:"probability"`
	// UniformPerProbe is how many documents would share a key with a given one if all fingerprints were
	// random. It is 0 for MinHash, since random sets share no shingle.
	UniformPerProbe float64 `json:"uniform_per_probe"`
	// Candidates is the number of pairs to compare. PerProbe is how many of them each document is in.
	Candidates float64 `json:"candidates"`
	PerProbe   float64 `json:"per_probe"`
	// Bytes is the room that the keys take.
	Bytes float64 `json:"bytes"`
	// Seconds is the CPU time for keys and candidates.
	Seconds float64 `json:"-"`
	// Fits reports whether the keys have room in the memory.
	Fits bool `json:"fits"`
}

// MinHash returns the promise of a scheme at the threshold, and its cost with the given number of candidate
// pairs.
func (w Workload) MinHash(s Scheme, threshold, candidates float64) Choice {
	c := Choice{Scheme: s, KeysPerDocument: float64(s.Bands), Probability: s.Probability(threshold)}
	seconds := w.Documents * w.Shingles * float64(s.Components()) * w.Costs.Component
	return w.weigh(c, candidates, seconds)
}

// Exact returns the cost of [PrefixKeys] with the given number of keys a document and of candidate pairs.
// They miss no pair.
func (w Workload) Exact(keys, candidates float64) Choice {
	c := Choice{KeysPerDocument: keys, Probability: 1}
	return w.weigh(c, candidates, w.Documents*w.Shingles*w.Costs.Shingle)
}

// Permuted returns the cost of tables with these blocks. Candidates below 0 stand for the number that random
// fingerprints give.
func (w Workload) Permuted(p *Permuted, blocks []int, candidates float64) Choice {
	c := Choice{Blocks: blocks, Distance: p.Distance(), KeysPerDocument: float64(p.Tables()), PrefixBits: math.MaxInt, Probability: 1}
	for table := range p.Tables() {
		c.PrefixBits = min(c.PrefixBits, p.PrefixBits(table))
		c.UniformPerProbe += p.ExpectedCandidates(table, w.Documents)
	}
	if candidates < 0 {
		candidates = w.Documents * c.UniformPerProbe / 2
	}
	return w.weigh(c, candidates, 0)
}

// weigh fills in the cost of a choice. Seconds is the cost of making its keys.
func (w Workload) weigh(c Choice, candidates, seconds float64) Choice {
	c.Candidates = candidates
	c.PerProbe = 2 * candidates / max(w.Documents, 1)
	c.Bytes = w.Documents * w.RecordBytes(c.KeysPerDocument)
	c.Seconds = seconds + w.Documents*c.KeysPerDocument*w.Costs.Key + candidates*w.Costs.Comparison
	c.Fits = w.Memory == 0 || c.Bytes <= w.Memory
	return c
}

// Compare orders choices. Choices that fit come first, then cheaper ones.
func (c *Choice) Compare(other *Choice) int {
	if c.Fits != other.Fits {
		if c.Fits {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(c.Seconds, other.Seconds), cmp.Compare(c.Bytes, other.Bytes))
}

// mostRows is the largest number of rows in a band of a ranking. With more, records grow and candidates
// hardly become fewer.
const mostRows = 8

// Schemes returns one scheme for each number of rows from one to eight. It has the fewest bands that find a
// pair at the threshold with the probability recall. Schemes of more than 256 bands are left out.
func Schemes(threshold, recall float64) []Scheme {
	var schemes []Scheme
	for rows := 1; rows <= mostRows; rows++ {
		if bands := bandsFor(threshold, recall, rows); bands <= dearBands {
			schemes = append(schemes, Scheme{int(bands), rows})
		}
	}
	return schemes
}

// mostRankedTables is the largest number of tables in a ranked choice.
const mostRankedTables = 256

// Tables is one way to cut fingerprints into the blocks of permuted tables.
type Tables struct {
	Blocks []int
	*Permuted
}

// TableSchemes returns the useful tables of one and of two levels for fingerprints of that many bits within a
// distance: more tables always have longer prefixes. None has more than 256 tables. The error comes from
// [NewPermuted] for the fewest blocks.
func TableSchemes(bits, distance int) ([]Tables, error) {
	fewest := []int{distance + 1}
	if err := checkBlocks(bits, distance, fewest); err != nil {
		return nil, err
	}
	all := [][]int{fewest}
	add := func(blocks ...int) bool {
		if tablesOf(distance, blocks) > mostRankedTables || checkBlocks(bits, distance, blocks) != nil {
			return false
		}
		all = append(all, blocks)
		return true
	}
	for first := distance + 2; add(first); first++ {
	}
	for first := distance + 1; add(first, distance+1); first++ {
		for second := distance + 2; add(first, second); second++ {
		}
	}
	slices.SortStableFunc(all, func(a, b []int) int {
		return cmp.Or(cmp.Compare(tablesOf(distance, a), tablesOf(distance, b)), cmp.Compare(shortestPrefix(bits, distance, b), shortestPrefix(bits, distance, a)))
	})
	var useful []Tables
	longest := -1
	for _, blocks := range all {
		shortest := shortestPrefix(bits, distance, blocks)
		if shortest <= longest {
			continue
		}
		p, err := NewPermuted(bits, distance, blocks...)
		if err != nil {
			return nil, err
		}
		longest = shortest
		useful = append(useful, Tables{blocks, p})
	}
	return useful, nil
}

// tablesOf returns how many tables there are for these blocks.
func tablesOf(distance int, blocks []int) float64 {
	tables := 1.
	for _, count := range blocks {
		tables *= choices(count, distance)
	}
	return tables
}

// plannedDocuments is how many documents tables are planned for unless the user says otherwise. For many more
// or fewer documents other tables would be a little cheaper, but none finds more.
const plannedDocuments = 10e6

// PlanTables picks the tables for fingerprints of that many bits within a distance: the fewest tables whose
// prefixes are long enough for some ten million documents. The choice depends on nothing else, least of all
// on the data. Blocks, if there are any, make the choice in its place: the tables are then as [NewPermuted] makes them. The error
// comes from there.
func PlanTables(bits, distance int, blocks ...int) (*Permuted, error) {
	if len(blocks) > 0 {
		return NewPermuted(bits, distance, blocks...)
	}
	schemes, err := TableSchemes(bits, distance)
	if err != nil {
		return nil, err
	}
	return PickTables(schemes)
}

// PickTables picks the tables of [PlanTables] among the schemes of [TableSchemes]. There is at least one.
// The error says that there is none.
func PickTables(schemes []Tables) (*Permuted, error) {
	if len(schemes) == 0 {
		return nil, errors.New("no tables to pick from")
	}
	load := Workload{Documents: plannedDocuments, RecordBytes: func(float64) float64 { return 0 }, Costs: FingerprintCosts()}
	best, least := schemes[0].Permuted, load.Permuted(schemes[0].Permuted, schemes[0].Blocks, -1)
	for _, tables := range schemes[1:] {
		if choice := load.Permuted(tables.Permuted, tables.Blocks, -1); choice.Seconds < least.Seconds {
			best, least = tables.Permuted, choice
		}
	}
	return best, nil
}
