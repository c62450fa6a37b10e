package methods

import (
	"cmp"
	"errors"
	"slices"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// Parameters are the settings of a job that a method may read.
type Parameters struct {
	Inputs work.Path
	// Shards is the number of shards over which keys are spread, at least 1. It changes no result.
	Shards int
	// CountBytes bounds the bytes of shingles in a counting task; 0: some megabytes. It changes no result.
	CountBytes int64
	// KeyBytes is how many bytes of key records a task may hold; 0: some megabytes. It changes no result.
	KeyBytes int64
	// Threshold is the least similarity of interest, above 0 and at most 1.
	Threshold float64
	// Shingle is the number of words in a shingle.
	Shingle int
	// Passage is the number of words in the passages under which documents meet, 0 for [PassageWords].
	Passage int
	// Scheme is the scheme of the bands of MinHash signatures; other methods have no bands.
	Scheme lshbands.Scheme
	// SimHashBits is the length of SimHash fingerprints. Distance is the largest Hamming distance for which two of them
	// are certain to share a key.
	SimHashBits, Distance int
	// Blocks are the blocks of the permuted SimHash tables; empty: [lshbands.PlanTables] chooses them.
	Blocks []int
	// Scoring is what makes two documents near-duplicates.
	Scoring Scoring
	Verify  Verification
	// HasSides says that documents have sides: two of one side are not compared.
	HasSides bool
	// AllPairsUpTo is the largest number of documents for which an Ordered method compares all pairs of the corpus.
	// That is cheaper for few documents and finds the same. 0: never.
	AllPairsUpTo int64
	// Bounds say which pairs of very similar documents are compared.
	Bounds groups.Bounds
	// CachedPairs is the path of a table of the similar pairs of the last run of a scheduled job, if that has compared
	// all candidates of its documents; empty otherwise.
	CachedPairs work.Path
	// Paired is the path of a table of all similar pairs of the last run, whether or not this run needs to find them
	// once more; where passages are looked for, of the run file of [cached.Passages]. Empty: this run cannot use it.
	Paired work.Path
	// Pruned says that blocks hold nothing of some documents: these have no new pairs. DistinctIDs says that no two
	// documents of the last run share an id.
	Pruned, DistinctIDs bool
	// SharedIDs is the path of a run file with the hashes of ids that several of these share, "" if unknown.
	SharedIDs work.Path
	// TellsLasting says that the next incremental run needs the keys that always concern it, see [groups.Keyed].
	TellsLasting bool

	unchanged, reused documents.Unchanged // as in groups.Keyed

	// from which size on a shard of SimHash keys is large, in bytes; 0 for what is usual. Only tests say another one
	large int64
}

// HasPairs reports whether the pairs of two unchanged documents come from the last run, so that no stage forms them.
func (p *Parameters) HasPairs() bool { return p.Pruned && p.CachedPairs != "" }

// passageWords returns the number of words that a key of [Passages] covers, unless a shingle has more.
func (p *Parameters) passageWords() int { return cmp.Or(p.Passage, PassageWords) }

// PassageShingles returns the number of shingles in the passages under which documents meet.
func (p *Parameters) PassageShingles() int { return max(p.passageWords()-p.Shingle+1, 1) }

// SmallCorpus is the number of documents up to which a corpus is compared fully, whatever its groups are.
const SmallCorpus = groups.SmallCorpus

func (p *Parameters) fingerprintSize() int { return 8 * sketch.SimHashWords(p.SimHashBits) }

// Tables returns the permuted tables of SimHash fingerprints.
func (p *Parameters) Tables() (*lshbands.Permuted, error) {
	return lshbands.PlanTables(p.SimHashBits, p.Distance, p.Blocks...)
}

// isSmall reports whether all pairs of a corpus are compared, instead of those that an ordered method finds.
func (p *Parameters) isSmall(counts findings.Counts) bool {
	return counts.Documents+counts.ReferenceDocuments <= p.AllPairsUpTo
}

// Name names a method that brings possibly similar documents together.
type Name string

const (
	// Auto stands for MinHash, or for the method that other settings ask for.
	Auto Name = "auto"
	// MinHash compares documents that share a band of their MinHash signatures.
	MinHash Name = "minhash"
	// Exact compares documents that share one of their rarest shingles: a prefix filter, which misses no pair.
	Exact Name = "exact"
	// SimHash compares documents whose SimHash fingerprints share a prefix in one of several permutations. It misses no
	// pair within the distance.
	SimHash Name = "simhash"
	// All compares all documents whose sizes allow the threshold. It is the yardstick, for small corpora.
	All Name = "all"
	// SameBytes joins documents whose texts have the same bytes, and SameWords those whose texts have the same words in
	// the same order. They join no others.
	SameBytes Name = "same-bytes"
	SameWords Name = "same-words"
	// None joins no documents.
	None Name = "none"
	// Passages compares documents that share a passage which winnowing selects. It goes with Containment.
	Passages Name = "passages"
)

// Similarity says what makes two documents worth a row.
type Similarity string

const (
	// Resemblance joins documents that are mostly the same to clusters.
	Resemblance Similarity = "jaccard"
	// Containment reports pairs where one contains much of the other, or a passage of it, and where.
	Containment Similarity = "containment"
)

// Similarities, Scorings and Verifications are the values that a job may have.
var (
	Similarities  = []Similarity{Resemblance, Containment}
	Scorings      = []Scoring{AutoScoring, Jaccard, Hamming}
	Verifications = []Verification{VerifyExact, VerifySketch, VerifyNone}
)

// Verification says what evidence an edge rests on.
type Verification string

const (
	// VerifyExact compares the full shingle sets of every candidate pair.
	VerifyExact Verification = "exact"
	// VerifySketch estimates the similarity from the smallest hashes of both.
	VerifySketch Verification = "sketch"
	// VerifyNone takes every candidate pair for an edge; similarities are estimates.
	VerifyNone Verification = "none"
)

// Scoring is what makes two documents near-duplicates.
type Scoring string

const (
	// AutoScoring is Hamming with SimHash keys, else Jaccard.
	AutoScoring Scoring = "auto"
	// Jaccard is the share of common shingles among the shingles of either document.
	Jaccard Scoring = "jaccard"
	// Hamming is the number of bits in which their SimHash fingerprints differ.
	Hamming Scoring = "hamming"
)

// Document holds what keys are made of. Parts that its method does not read may be missing.
type Document struct {
	Ref docref.Ref
	// Digest is equal for documents that are identical under the measure.
	Digest digest.Digest
	// Scope is the hash of the value of --within, in which compared documents must agree, 0 if all are compared.
	// Keys need not heed it: it is mixed into them later.
	Scope uint64
	// Side is the hash of the value of --across, in which compared documents must differ, 0 if all are compared.
	// Keys do not depend on it.
	Side uint64
	Size int
	// Bands are the keys of the bands of its MinHash signature.
	Bands []uint64
	// Content is what else a block holds: the set, or whatever the kind of fingerprint of the method has.
	fingerprints.Content
	// Frequencies says of each shingle of the set about how many documents of the corpus have it; see
	// [lshbands.Counter]. Only Ordered methods have it.
	Frequencies []byte
	SimHash     []uint64
}

// Record returns the record of the document, without a key.
func (d *Document) Record() candidates.Record {
	return candidates.Record{Ref: d.Ref, Digest: d.Digest, Side: d.Side, Size: uint32(d.Size)}
}

// AppendDigest appends the record that brings a document together only with equal ones.
func AppendDigest(all []candidates.Record, d *Document) []candidates.Record {
	r := d.Record()
	r.Key, r.First = candidates.KeyOf(d.Digest[0], 0), true
	return append(all, r)
}

// Parts is a set of the parts that a sketch block holds of a document.
type Parts uint

const (
	// ReadsBands reads Bands of a [Document], which are of the scheme of the [Parameters].
	ReadsBands Parts = 1 << iota
	ReadsContent
	ReadsSimHash
)

type reader struct {
	parts   Parts
	content fingerprints.Reader  // nil unless content is read
	memory  fingerprints.Content // of the last document whose content was read
	Document
}

// read reads document i of a block but for its content. Packed is the content, if it is read. Read returns a hash of
// the parts: documents of equal digest and equal hash have the same keys.
func (r *reader) read(block *sketchblock.Block, i int, packed []byte) (hash uint64) {
	r.Ref, r.Digest, r.Size = block.Ref(i), block.Digest(i), block.Size(i)
	r.Scope, r.Side = block.Scope(i), block.Side(i)
	if r.content != nil {
		hash = xxh3.Hash(packed)
	}
	if r.parts&ReadsBands != 0 {
		r.Bands = r.Bands[:0]
		for k := range block.Keys() {
			r.Bands = append(r.Bands, block.Key(i, k))
		}
		hash ^= r.Bands[0]
	}
	if r.parts&ReadsSimHash != 0 {
		r.SimHash = block.SimHash(r.SimHash[:0], i)
		for _, word := range r.SimHash {
			hash = asmkernels.SplitMix(hash ^ word)
		}
	}
	return hash
}

// readContent reads the packed content of the document, if content is read. Reading may take long: where nobody uses
// it, the content is empty.
func (r *reader) readContent(packed []byte, isUnused bool) (err error) {
	r.Content = fingerprints.Content{}
	if r.content != nil && !isUnused {
		err = r.content.Read(&r.memory, packed)
		r.Content = r.memory
	}
	return err
}

// frequencies hands out the frequencies of the shingles of a split, set by set. The zero value has none.
type frequencies struct {
	packed []byte
	ranges []stretch   // by range: what is left of the stretch at work
	more   [][]stretch // by range: the stretches after it
}

// stretch is where in the packed bytes some frequencies are.
type stretch struct{ next, end int }

var errFrequencies = errors.New("the frequencies of shingles are not those of the sets")

func newFrequencies(packed []byte) (frequencies, error) {
	f := frequencies{packed: packed}
	for rest := packed; len(rest) > 0; {
		s, after, err := records.NextStretch(rest)
		if err != nil {
			return f, err
		}
		if f.ranges == nil {
			f.ranges, f.more = make([]stretch, s.Ranges), make([][]stretch, s.Ranges)
		}
		if s.Ranges != len(f.ranges) || len(s.Packed) == 0 {
			return f, errFrequencies
		}
		end := len(packed) - len(after)
		f.more[s.Range] = append(f.more[s.Range], stretch{end - len(s.Packed), end})
		rest = after
	}
	return f, nil
}

func (f *frequencies) append(all []byte, set []uint64) ([]byte, error) {
	if len(f.ranges) == 0 && len(set) > 0 {
		return nil, errFrequencies
	}
	before := len(all)
	all = slices.Grow(all, len(set))[:before+len(set)]
	packed, ranges, next := f.packed, f.ranges, all[before:]
	for i, hash := range set {
		in := lshbands.RangeOf(hash, len(ranges))
		r := &ranges[in]
		at := r.next
		if at == r.end {
			if len(f.more[in]) == 0 {
				return nil, errFrequencies
			}
			*r, f.more[in] = f.more[in][0], f.more[in][1:]
			at = r.next
		}
		next[i] = packed[at]
		r.next = at + 1
	}
	return all, nil
}

// close returns an error if frequencies are left.
func (f *frequencies) close() error {
	for in, r := range f.ranges {
		if r.next < r.end || len(f.more[in]) > 0 {
			return errFrequencies
		}
	}
	return nil
}
