package lshbands

import (
	"cmp"
	"math"
	"slices"
)

// Costs are CPU seconds of a job's steps that depend on the keys.
type Costs struct {
	// Key is for one key of one document: to write its record, to bring it to its
	// shard and to sort it there.
	Key float64
	// Component is for one component of the MinHash signature of one shingle.
	Component float64
	// Shingle is for one shingle of one document where keys are the rarest: to count
	// it in the corpus, and to look up what is rare in the document.
	Shingle float64
	// Comparison is for one candidate pair: to bring both documents together and
	// to compare them.
	Comparison float64
}

// UsualCosts are of jobs of some hundred megabytes on a core of an AMD EPYC (Zen 5).
func UsualCosts() Costs {
	return Costs{Key: 300e-9, Component: 15e-12, Shingle: 12e-9, Comparison: 350e-9}
}

// FingerprintCosts are those of documents that are compared where they meet, by
// fingerprints in their keys.
func FingerprintCosts() Costs { return Costs{Key: 300e-9, Comparison: 1e-9} }

// Workload is what keys are planned for.
type Workload struct {
	// Documents that get keys, and the mean number of their distinct shingles.
	Documents, Shingles float64
	// Memory is the room for the keys of all documents in bytes; 0: no limit.
	Memory float64
	// RecordBytes returns how many bytes the keys of a document take.
	RecordBytes func(keys float64) float64
	Costs       Costs
}

// Choice is a way to bring documents together that may be similar, with what it
// promises and what it takes.
type Choice struct {
	// Scheme is that of MinHash keys, zero for others.
	Scheme
	// Blocks are those of the levels of a [Permuted], none for others; Distance is
	// the number of bits that it lets differ.
	Blocks   []int `json:"blocks,omitempty"`
	Distance int   `json:"distance,omitempty"`
	// KeysPerDocument is the mean number of keys of a document: bands, tables, or
	// rare shingles.
	KeysPerDocument float64 `json:"keys_per_document"`
	// PrefixBits is the length of the shortest prefix of a Permuted.
	PrefixBits int `json:"prefix_bits,omitempty"`
	// Probability is that with which a pair at the threshold, or the distance,
	// shares a key.
	Probability float64 `json:"probability"`
	// UniformPerProbe is how many documents would share a key with one, if all
	// fingerprints were random. Random sets share no shingle, so for MinHash it is
	// 0.
	UniformPerProbe float64 `json:"uniform_per_probe"`
	// Candidates is the number of pairs to compare, and PerProbe for how many of
	// them one document stands.
	Candidates float64 `json:"candidates"`
	PerProbe   float64 `json:"per_probe"`
	// Bytes is the room that the keys take.
	Bytes float64 `json:"bytes"`
	// Seconds is the CPU time for keys and candidates.
	Seconds float64 `json:"-"`
	// Fits reports whether the keys have room in the memory.
	Fits bool `json:"fits"`
}

// MinHash returns what a scheme promises at the threshold and takes, with that
// many candidate pairs.
func (w Workload) MinHash(s Scheme, threshold, candidates float64) Choice {
	c := Choice{Scheme: s, KeysPerDocument: float64(s.Bands), Probability: s.Probability(threshold)}
	seconds := w.Documents * w.Shingles * float64(s.Components()) * w.Costs.Component
	return w.weigh(c, candidates, seconds)
}

// Exact returns what [PrefixKeys] take, with that many keys a document and that many
// candidate pairs. They miss no pair.
func (w Workload) Exact(keys, candidates float64) Choice {
	c := Choice{KeysPerDocument: keys, Probability: 1}
	return w.weigh(c, candidates, w.Documents*w.Shingles*w.Costs.Shingle)
}

// Permuted returns what tables with these blocks take. Candidates below 0 stand
// for those of random fingerprints.
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

// weigh fills in what a choice takes, on top of so many seconds.
func (w Workload) weigh(c Choice, candidates, seconds float64) Choice {
	c.Candidates = candidates
	c.PerProbe = 2 * candidates / max(w.Documents, 1)
	c.Bytes = w.Documents * w.RecordBytes(c.KeysPerDocument)
	c.Seconds = seconds + w.Documents*c.KeysPerDocument*w.Costs.Key + candidates*w.Costs.Comparison
	c.Fits = w.Memory == 0 || c.Bytes <= w.Memory
	return c
}

// Compare orders choices: those that fit first, then by what they take, the least
// first.
func (c *Choice) Compare(other *Choice) int {
	if c.Fits != other.Fits {
		if c.Fits {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(c.Seconds, other.Seconds), cmp.Compare(c.Bytes, other.Bytes))
}

// mostRows is how many rows a band has at most in a ranking: beyond, records grow
// and candidates hardly shrink.
const mostRows = 8

// Schemes returns for one row a band to eight the scheme with the fewest bands
// that finds a pair at the threshold with the probability recall; none of more
// than 256 bands.
func Schemes(threshold, recall float64) []Scheme {
	var schemes []Scheme
	for rows := 1; rows <= mostRows; rows++ {
		if bands := bandsFor(threshold, recall, rows); bands <= dearBands {
			schemes = append(schemes, Scheme{int(bands), rows})
		}
	}
	return schemes
}

// mostRankedTables is how many tables a ranked choice has at most.
const mostRankedTables = 256

// Tables is one way to cut fingerprints into the blocks of permuted tables.
type Tables struct {
	Blocks []int
	*Permuted
}

// TableSchemes returns the tables of one and of two levels for fingerprints of
// that many bits within a distance, of at most 256 tables, that are of use: more
// tables always have longer prefixes. The error is that of [NewPermuted] for the
// fewest blocks.
func TableSchemes(bits, distance int) ([]Tables, error) {
	fewest, err := NewPermuted(bits, distance, distance+1)
	if err != nil {
		return nil, err
	}
	all := []Tables{{[]int{distance + 1}, fewest}}
	add := func(blocks ...int) bool {
		if tablesOf(distance, blocks) > mostRankedTables {
			return false
		}
		p, err := NewPermuted(bits, distance, blocks...)
		if err != nil {
			return false
		}
		all = append(all, Tables{blocks, p})
		return true
	}
	for first := distance + 2; add(first); first++ {
	}
	for first := distance + 1; add(first, distance+1); first++ {
		for second := distance + 2; add(first, second); second++ {
		}
	}
	slices.SortStableFunc(all, func(a, b Tables) int {
		return cmp.Or(cmp.Compare(a.Tables(), b.Tables()), cmp.Compare(b.shortest(), a.shortest()))
	})
	useful := all[:0]
	longest := -1
	for _, t := range all {
		if shortest := t.shortest(); shortest > longest {
			longest = shortest
			useful = append(useful, t)
		}
	}
	return useful, nil
}

// shortest returns the length of the shortest prefix.
func (p *Permuted) shortest() int {
	bits := math.MaxInt
	for table := range p.Tables() {
		bits = min(bits, p.PrefixBits(table))
	}
	return bits
}

// tablesOf returns how many tables there are for these blocks.
func tablesOf(distance int, blocks []int) float64 {
	tables := 1.
	for _, count := range blocks {
		tables *= choices(count, distance)
	}
	return tables
}
