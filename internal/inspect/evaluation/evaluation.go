// Package evaluation measures how well near-duplicates that were found agree with known ones: pair by pair ([Judge])
// and cluster by cluster ([Compare]).
//
// [Documents] gives numbers to the names of documents.
package evaluation

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/util/quoting"
)

// Score is how much of what was found is true and how much of what is true was found, each from 0 to 1.
type Score struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	// F1 is the harmonic mean of both, 0 where both are 0.
	F1 float64 `json:"f1"`
}

func newScore(precision, recall float64) Score {
	s := Score{Precision: precision, Recall: recall}
	if precision+recall > 0 {
		s.F1 = 2 * precision * recall / (precision + recall)
	}
	return s
}

// share returns part/whole, 1 where there is nothing: of no pairs none is wrong and none was missed.
func share(part, whole int64) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// Document is the number of a document, from 0.
type Document uint32

// Documents gives numbers to the names of documents, from 0 in the order in which they come. The zero value is not
// usable: see [NewDocuments].
type Documents struct {
	numbers map[string]Document
	names   []string
}

// NewDocuments returns no documents.
func NewDocuments() *Documents { return &Documents{numbers: map[string]Document{}} }

// Add returns the number of a document, a new one where the name is new. 2^32 names would fill hundreds of gigabytes.
func (d *Documents) Add(name string) Document {
	number, known := d.numbers[name]
	if !known {
		number = graphs.Next[Document](len(d.names))
		d.numbers[name], d.names = number, append(d.names, name)
	}
	return number
}

// Find returns the number of a document, if it has one.
func (d *Documents) Find(name string) (number Document, found bool) {
	number, found = d.numbers[name]
	return number, found
}

// Name returns the name of a document.
func (d *Documents) Name(number Document) string { return d.names[number] }

func (d *Documents) Len() int { return len(d.names) }

// Pair is two documents, the one with the smaller number first.
type Pair struct {
	A, B Document
	// Similarity is not a number where it is not known.
	Similarity float64
}

// Components joins the documents of each pair, directly and through others, of n documents in all, and returns for each
// the smallest number among those that it is joined to.
func Components(n int, pairs []Pair) graphs.Forest[Document] {
	forest := graphs.NewForest[Document](n)
	for _, pair := range pairs {
		forest.Union(pair.A, pair.B)
	}
	forest.Flatten()
	return forest
}

// Truth is what is known of some documents.
type Truth struct {
	// Documents is how many it names, also on lines that do not count. Their numbers come first where the truth is read
	// first.
	Documents int
	// Pairs are the near-duplicates, each once, in the order of the file.
	Pairs []Pair
	// Below is the number of lines whose similarity is below the threshold.
	Below int64
}

// ReadTruth reads a truth file: a line for each pair, two names of documents and perhaps their similarity, with tabs
// between them. What is in further fields, empty lines and those that start with # are left out. A line with a
// similarity below the threshold says that its pair is none. A pair that occurs more than once, either way round, is
// one, of the largest of its similarities. The names are bytes: they are taken for what rows of results call these
// documents, see [quoting.AppendText].
//
// Documents get their numbers from documents. Errors name the file as given and the line.
func ReadTruth(file string, lines iter.Seq2[[]byte, error], threshold float64, documents *Documents) (*Truth, error) {
	truth := &Truth{}
	var known graphs.Numbering[uint32]
	var nameA, nameB []byte
	number := 0
	for line, err := range lines {
		if err != nil {
			return nil, err
		}
		number++
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		a, b, similarity, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
		nameA, nameB = quoting.AppendText(nameA[:0], a), quoting.AppendText(nameB[:0], b)
		pair := newPair(documents.Add(string(nameA)), documents.Add(string(nameB)), similarity)
		if similarity < threshold {
			truth.Below++
			continue
		}
		if at, isNew := known.Add(key(pair.A, pair.B)); isNew {
			truth.Pairs = append(truth.Pairs, pair)
		} else if earlier := &truth.Pairs[at].Similarity; math.IsNaN(*earlier) || similarity > *earlier {
			*earlier = similarity
		}
	}
	truth.Documents = documents.Len()
	return truth, nil
}

func newPair(a, b Document, similarity float64) Pair {
	return Pair{min(a, b), max(a, b), similarity}
}

// key makes one number of two; which comes first counts.
func key(a, b Document) uint64 { return uint64(a)<<32 | uint64(b) }

// parseLine takes a line of a truth file apart. The similarity is not a number where the line has none.
func parseLine(line []byte) (a, b []byte, similarity float64, err error) {
	a, rest, found := bytes.Cut(line, []byte{'\t'})
	if !found {
		return nil, nil, 0, fmt.Errorf("one field, %.64q, where two ids with a tab between them are needed", line)
	}
	b, rest, hasSimilarity := bytes.Cut(rest, []byte{'\t'})
	if len(a) == 0 || len(b) == 0 {
		return nil, nil, 0, errors.New("an id is empty")
	}
	if bytes.Equal(a, b) {
		return nil, nil, 0, fmt.Errorf("a pair of %.64q with itself", a)
	}
	if !hasSimilarity {
		return a, b, math.NaN(), nil
	}
	third, _, _ := bytes.Cut(rest, []byte{'\t'})
	similarity, err = strconv.ParseFloat(string(third), 64)
	if err != nil || math.IsNaN(similarity) {
		return nil, nil, 0, fmt.Errorf(
			"the third field, %.64q, is no similarity such as 0.85; if the line is a heading, put # before it",
			third)
	}
	return a, b, similarity, nil
}

// PairCounts says how listed pairs meet the true ones.
type PairCounts struct {
	// True pairs of documents, and how many of them were found: both are in one class of identical documents, or a
	// listed pair joins their classes.
	True  int64 `json:"true"`
	Found int64 `json:"found"`
	// Listed pairs, of classes of identical documents, and those which join no true pair.
	Listed int64 `json:"listed"`
	Wrong  int64 `json:"wrong"`
	// Unknown are wrong pairs with a document that the truth does not name, or both.
	Unknown int64 `json:"unknown"`
}

// Score returns recall, found of the true pairs, and precision, listed pairs that are not wrong of all listed; either
// is 1 where there is no pair.
func (c PairCounts) Score() Score {
	return newScore(share(c.Listed-c.Wrong, c.Listed), share(c.Found, c.True))
}

// Judge compares listed pairs with true ones. Where documents are identical only one of them needs to be in a listed
// pair; it stands for its class. It takes memory for the truth and the classes, none for the listed pairs.
type Judge struct {
	truth   *Truth
	classes graphs.Forest[Document]
	isNamed []bool                   // by class: the truth names a document of it
	known   graphs.Numbering[uint32] // the classes of true pairs
	listed  []bool                   // by number in known
	seen    PairCounts               // Listed, Wrong and Unknown so far
}

// NewJudge returns a judge. The classes of identical documents are as [Components] gives them, for all documents of the
// truth and any others.
func NewJudge(truth *Truth, classes graphs.Forest[Document]) *Judge {
	j := &Judge{truth: truth, classes: classes, isNamed: make([]bool, len(classes))}
	for document := range truth.Documents {
		j.isNamed[classes[document]] = true
	}
	for _, pair := range truth.Pairs {
		j.known.Add(j.classKey(pair.A, pair.B))
	}
	j.listed = make([]bool, len(j.known.Keys))
	return j
}

func (j *Judge) classKey(a, b Document) uint64 {
	a, b = j.classes[a], j.classes[b]
	return key(min(a, b), max(a, b))
}

// See takes in a listed pair and reports whether it is true. The pairs of two classes shall be listed once; only of
// right ones is a second not counted. Identical documents make no listed pair.
func (j *Judge) See(a, b Document) bool {
	at, known := j.known.Find(j.classKey(a, b))
	if !known {
		j.seen.Listed++
		j.seen.Wrong++
		if !j.isNamed[j.classes[a]] || !j.isNamed[j.classes[b]] {
			j.seen.Unknown++
		}
		return false
	}
	if !j.listed[at] {
		j.listed[at] = true
		j.seen.Listed++
	}
	return true
}

// SeeUnknown takes in a listed pair one of whose documents has no number, so that it is not true.
func (j *Judge) SeeUnknown() {
	j.seen.Listed++
	j.seen.Wrong++
	j.seen.Unknown++
}

// IsFound reports whether a true pair is found, after all listed pairs were seen.
func (j *Judge) IsFound(pair Pair) bool {
	if j.classes[pair.A] == j.classes[pair.B] {
		return true
	}
	at, _ := j.known.Find(j.classKey(pair.A, pair.B))
	return j.listed[at]
}

// Counts returns the counts, after all listed pairs were seen.
func (j *Judge) Counts() PairCounts {
	counts := j.seen
	counts.True = int64(len(j.truth.Pairs))
	for _, pair := range j.truth.Pairs {
		if j.IsFound(pair) {
			counts.Found++
		}
	}
	return counts
}

// JudgeClusters counts as listed every pair of documents that share a cluster. Labels are as for [Compare].
func JudgeClusters(truth *Truth, clusters []Document) PairCounts {
	counts := PairCounts{True: int64(len(truth.Pairs))}
	for _, pair := range truth.Pairs {
		if clusters[pair.A] == clusters[pair.B] {
			counts.Found++
		}
	}
	counts.Listed = sumPairs(sizes(clusters))
	// A true pair is one pair of documents.
	counts.Wrong = counts.Listed - counts.Found
	counts.Unknown = counts.Listed - sumPairs(sizes(clusters[:truth.Documents]))
	return counts
}

// Agreement says how alike two partitions of the same documents are: the true one and the one that was found.
type Agreement struct {
	// Documents that were compared.
	Documents int64 `json:"documents"`
	// Pairwise is the score of the pairs of documents that share a cluster: of those found together, the share that
	// belong together, and the other way round; either is 1 where there is no such pair.
	Pairwise Score `json:"pairwise"`
	// BCubed is B-cubed by Bagga and Baldwin (Algorithms for scoring coreference chains, LREC 1998), all documents of
	// equal weight: precision is the mean over documents of the share of a document's found cluster that is of its true
	// cluster, recall the mean of the share of its true cluster that is in its found one. Each document is in both.
	// Amigó et al. (A comparison of extrinsic clustering evaluation metrics based on formal constraints, Information
	// Retrieval 12, 2009) show which demands on such a measure it meets.
	BCubed Score `json:"bcubed"`
	// BCubedClustered is the same mean over the documents that are not alone in both partitions; those that are score 1
	// and make up most of a corpus. 1 where all are alone.
	BCubedClustered Score `json:"bcubed_clustered"`
	// AdjustedRand is the adjusted Rand index by Hubert and Arabie (Comparing partitions, Journal of Classification 2,
	// 1985): 1 for equal partitions, 0 on average for random ones with clusters of the same sizes, below 0 for worse.
	AdjustedRand float64 `json:"adjusted_rand"`
}

// Compare compares two partitions. Each has a label for every document that all of its cluster share: the number of one
// of them. To these come documents that are alone in both.
func Compare(truth, found []Document, alone int64) Agreement {
	trueSizes, foundSizes := sizes(truth), sizes(found)
	var overlaps graphs.Numbering[uint32] // of a true and a found cluster
	var common []int64                    // documents in both, by number in overlaps
	clustered := int64(0)                 // documents not alone in both
	for i := range truth {
		at, isNew := overlaps.Add(key(truth[i], found[i]))
		if isNew {
			common = append(common, 0)
		}
		common[at]++
		if trueSizes[truth[i]] > 1 || foundSizes[found[i]] > 1 {
			clustered++
		}
	}
	var precision, recall float64 // sums over the documents in clusters
	together := int64(0)          // pairs of documents together in both
	for at, key := range overlaps.Keys {
		trueSize, foundSize, n := trueSizes[key>>32], foundSizes[uint32(key)], common[at]
		together += pairsOf(n)
		if trueSize > 1 || foundSize > 1 {
			precision += float64(n) * float64(n) / float64(foundSize)
			recall += float64(n) * float64(n) / float64(trueSize)
		}
	}
	inTruth, inFound := sumPairs(trueSizes), sumPairs(foundSizes)
	documents := int64(len(truth)) + alone
	others := documents - clustered
	return Agreement{
		Documents:       documents,
		Pairwise:        newScore(share(together, inFound), share(together, inTruth)),
		BCubed:          newScore(mean(precision+float64(others), documents), mean(recall+float64(others), documents)),
		BCubedClustered: newScore(mean(precision, clustered), mean(recall, clustered)),
		AdjustedRand: adjustedRand(float64(together), float64(inTruth), float64(inFound),
			float64(pairsOf(documents))),
	}
}

// adjustedRand is the index of Hubert and Arabie, their equation 5, of the pairs together in both partitions, in each,
// and of all pairs.
func adjustedRand(together, inTruth, inFound, all float64) float64 {
	if inTruth == inFound && (inTruth == 0 || inTruth == all) {
		return 1 // both have all documents alone, or all in one cluster
	}
	expected := inTruth / all * inFound
	return (together - expected) / ((inTruth+inFound)/2 - expected)
}

func mean(sum float64, n int64) float64 {
	if n == 0 {
		return 1
	}
	return sum / float64(n)
}

func sizes(labels []Document) []int64 {
	largest := Document(0)
	for _, label := range labels {
		largest = max(largest, label)
	}
	counts := make([]int64, int(largest)+1)
	for _, label := range labels {
		counts[label]++
	}
	return counts
}

func pairsOf(n int64) int64 { return n * (n - 1) / 2 }

func sumPairs(sizes []int64) int64 {
	sum := int64(0)
	for _, size := range sizes {
		sum += pairsOf(size)
	}
	return sum
}

// NewWorst returns a list that keeps the worst of some examples, as compare orders them.
func NewWorst[T any](most int, compare func(a, b T) int) *graphs.Least[T] {
	return graphs.NewLeast(most, compare)
}
