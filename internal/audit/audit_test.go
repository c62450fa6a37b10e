package audit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records/docref"
)

// common returns how many elements two sets share.
func common(a, b []uint64) int {
	n := 0
	for _, element := range a {
		if slices.Contains(b, element) {
			n++
		}
	}
	return n
}

func similarity(a, b []uint64) float64 {
	both := common(a, b)
	return float64(both) / float64(len(a)+len(b)-both)
}

func randomSet(random *rand.Rand, most, universe int) []uint64 {
	s := make([]uint64, random.IntN(most))
	for i := range s {
		s[i] = Hash(random.Uint64N(uint64(universe)))
	}
	slices.Sort(s)
	return slices.Compact(s)
}

// TestIndexFindsPartners compares the index with a comparison of all pairs.
func TestIndexFindsPartners(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	partners, candidates := 0, 0
	for _, threshold := range []float64{0.05, 0.5, 0.6, 2. / 3, 0.75, 0.8, 1} {
		for _, shape := range [][2]int{{12, 14}, {60, 70}, {60, 40_000}} {
			if NewIndex(threshold, nil).NewProbe().Candidates([]uint64{1, 2}) != nil {
				t.Error("a candidate in an empty index")
			}
			var samples [][]uint64
			for range 60 {
				samples = append(samples, randomSet(random, shape[0], shape[1]))
			}
			p := NewIndex(threshold, samples).NewProbe()
			for i := range 200 {
				document := randomSet(random, shape[0], shape[1])
				if i%4 == 0 { // close to a sample
					document = slices.Clone(samples[i%60])
					if len(document) > 0 {
						document[0] /= 2
						slices.Sort(document)
					}
				}
				found := p.Candidates(document)
				candidates += len(found)
				if !slices.IsSorted(found) || len(slices.Compact(slices.Clone(found))) != len(found) {
					t.Fatalf("candidates %v", found)
				}
				for i, s := range samples {
					if len(s) == 0 || len(document) == 0 || similarity(s, document) < threshold {
						continue
					}
					partners++
					if !slices.Contains(found, SampledClass(i)) {
						t.Fatalf("threshold %g: sample %v is a partner of %v and no candidate", threshold, s, document)
					}
				}
			}
		}
	}
	if partners < 1000 || candidates > 40*partners {
		t.Errorf("%d partners and %d candidates in all", partners, candidates)
	}
}

// world is a corpus whose pairs are known. Its documents form clusters, and all members of a cluster are
// similar to each other. Some members are equal, and some are of the reference. In a cluster some classes are
// apart from the others, and some are together but not listed.
type world struct {
	documents  []worldDocument
	references docref.Ref // documents before it are of the reference
}

type worldDocument struct {
	cluster, class int
	apart          bool // no edge to other classes
	chained        bool // joined to the others without an edge to one of them
	follows        bool // an edge to documents that do not follow only
}

func newWorld(random *rand.Rand, clusters, references int) world {
	w := world{references: docref.Ref(references)}
	class := 0
	for cluster := range clusters {
		for range 1 + random.IntN(5) {
			class++
			one := worldDocument{
				cluster: cluster,
				class:   class,
				apart:   random.IntN(6) == 0,
				chained: random.IntN(4) == 0,
			}
			for range 1 + random.IntN(1+random.IntN(4)) {
				w.documents = append(w.documents, one)
			}
		}
	}
	random.Shuffle(len(w.documents), func(i, j int) { w.documents[i], w.documents[j] = w.documents[j], w.documents[i] })
	return w
}

func (w *world) joined(a, b docref.Ref) bool {
	x, y := w.documents[a], w.documents[b]
	return x.class == y.class || x.cluster == y.cluster && !x.apart && !y.apart
}

func (w *world) hasEdge(x, y worldDocument) bool {
	return x.cluster == y.cluster && !x.apart && !y.apart && !x.chained && !y.chained && !(x.follows && y.follows)
}

// recall returns the shares among all pairs, except pairs within the reference.
func (w *world) recall() (listed, together float64) {
	pairs := 0.
	for a := range w.documents {
		for b := max(a+1, int(w.references)); b < len(w.documents); b++ {
			x, y := w.documents[a], w.documents[b]
			if x.cluster != y.cluster {
				continue
			}
			pairs++
			if w.joined(docref.Ref(a), docref.Ref(b)) {
				together++
			}
			if x.class == y.class || w.hasEdge(x, y) {
				listed++
			}
		}
	}
	return listed / pairs, together / pairs
}

// audit samples documents and looks at others. Each salt gives other hashes.
func (w *world) audit(sampled, probed float64, salt uint64) Result {
	below := func(hash uint64, share float64) bool { return Hash(hash^salt*0x9e3779b97f4a7c15) < Limit(share) }
	numbers, digests := map[int]SampledClass{}, []int{}
	var c Classes
	isSampled := func(ref int) bool { return docref.Ref(ref) >= w.references && below(uint64(ref), sampled) }
	for ref, d := range w.documents {
		if !isSampled(ref) {
			continue
		}
		if _, known := numbers[d.class]; !known {
			numbers[d.class] = SampledClass(len(digests))
			digests = append(digests, d.class)
		}
		c.AddSample(numbers[d.class], Hash(uint64(ref)))
	}
	first := map[int]docref.Ref{}
	centers := map[int][]docref.Ref{}    // of the classes, by cluster
	partners := map[int][]SampledClass{} // sampled classes, by cluster
	for ref, d := range w.documents {
		if _, known := first[d.class]; !known {
			first[d.class] = docref.Ref(ref)
			centers[d.cluster] = append(centers[d.cluster], docref.Ref(ref))
			if number, isSampled := numbers[d.class]; isSampled {
				partners[d.cluster] = append(partners[d.cluster], number)
			}
		}
	}
	for ref, d := range w.documents {
		isReference := docref.Ref(ref) < w.references
		hash := uint64(ref)
		if isReference {
			hash = uint64(d.class) << 32
		}
		if !below(hash, probed) {
			continue
		}
		class := Class{Digest: uint64(d.class)}
		class.Count(docref.Ref(ref), isReference)
		for _, number := range partners[d.cluster] {
			class.Partners = append(class.Partners, NewPartner(number, digests[number] == d.class))
		}
		if len(class.Partners) > 0 {
			c.Add(class)
		}
	}
	l := NewListing(&c)
	for ref, d := range w.documents { // stars
		if center := first[d.class]; center != docref.Ref(ref) {
			if _, known := l.Class(docref.Ref(ref)); known {
				l.Star([]docref.Ref{center}, []docref.Ref{docref.Ref(ref)})
			}
		}
	}
	for _, refs := range centers {
		for i, a := range refs {
			for _, b := range refs[:i] {
				x, knowsX := l.Class(a)
				y, knowsY := l.Class(b)
				if knowsX && knowsY && w.hasEdge(w.documents[a], w.documents[b]) {
					l.Edge(x, y)
				}
			}
		}
	}
	return c.Estimate(l, w.joined, Scope{AllSampled: sampled == 1, AllProbed: probed == 1})
}

// TestEstimateIsExactOnAll: if all documents are sampled and looked at, both figures are exact.
func TestEstimateIsExactOnAll(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, references := range []int{0, 0, 100, 300} {
		w := newWorld(random, 200, references)
		listed, together := w.recall()
		r := w.audit(1, 1, 0)
		if math.Abs(r.Recall-together) > 1e-12 || math.Abs(r.Listed-listed) > 1e-12 || r.Low != r.Recall ||
			r.ListedHigh != r.Listed || r.Wide {
			t.Errorf("%d of the reference: %+v, want %g together, %g listed", references, r, together, listed)
		}
		if listed >= together || together == 1 || r.Sampled != len(w.documents)-references {
			t.Errorf("%d of the reference: listed %g, together %g, %+v", references, listed, together, r)
		}
	}
}

// TestEstimateIsUnbiased draws the sample, and the documents to look for partners in, many times. The mean of
// the estimates is the true share, and the intervals contain it.
func TestEstimateIsUnbiased(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		references      int
		sampled, probed float64
	}{{0, 0.3, 1}, {0, 0.3, 0.5}, {400, 0.4, 0.4}} {
		w := newWorld(random, 400, c.references)
		listed, together := w.recall()
		const trials = 60
		var sums [2]float64
		covered := [2]int{}
		for trial := range trials {
			r := w.audit(c.sampled, c.probed, uint64(trial+1))
			sums[0] += r.Listed / trials
			sums[1] += r.Recall / trials
			if r.ListedLow <= listed && listed <= r.ListedHigh {
				covered[0]++
			}
			if r.Low <= together && together <= r.High {
				covered[1]++
			}
		}
		if math.Abs(sums[0]-listed) > 0.01 || math.Abs(sums[1]-together) > 0.01 {
			t.Errorf("%+v: mean estimates %v of %g and %g", c, sums, listed, together)
		}
		if min(covered[0], covered[1]) < trials*88/100 {
			t.Errorf("%+v: %v of %d intervals hold the truth", c, covered, trials)
		}
	}
}

func TestEstimateEdges(t *testing.T) {
	var none Classes
	never := func(_, _ docref.Ref) bool { return false }
	if r := none.Estimate(NewListing(&none), never, Scope{}); r.Recall != 1 || r.Low != 0 || r.High != 1 ||
		r.Sampled != 0 || !r.Wide {
		t.Errorf("of nothing: %+v", r)
	}
	w := world{}
	for i := range 300 {
		w.documents = append(w.documents, worldDocument{cluster: i / 2, class: i / 2})
	}
	r := w.audit(1, 1, 0)
	if r.Recall != 1 || r.Low != 1 || r.Pairs != 300 || r.Partnered != 300 || r.Listed != 1 {
		t.Errorf("of all: %+v", r)
	}
	r = w.audit(0.5, 1, 1)
	if want := 1 - 3/float64(r.Partnered); r.Recall != 1 || r.Low != want || r.ListedLow != want || r.High != 1 ||
		r.Wide {
		t.Errorf("without a miss: %+v", r)
	}
	if r := w.audit(0.05, 1, 1); !r.Wide || r.Partnered > 30 {
		t.Errorf("of few: %+v", r)
	}
	if a, b := w.audit(0.3, 0.5, 9), w.audit(0.3, 0.5, 9); a != b {
		t.Errorf("%+v, then %+v", a, b)
	}
}

// TestDrawingKeepsTheFirst: the order of the documents does not matter for which are drawn, and equal
// documents take the room of one.
func TestDrawingKeepsTheFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	const documents = 3000
	draw := func(mostDocuments, mostElements int) Sample {
		d := NewDrawing(mostDocuments, mostElements)
		for _, i := range random.Perm(documents) {
			digest := uint64(i % 700) // four or five equal ones each
			d.Add(Hash(uint64(i)), docref.Ref(i), Equals{Digest: digest, Scope: digest % 3}, func() []uint64 {
				return make([]uint64, 5+digest%7)
			})
		}
		return d.Finish()
	}
	for _, bounds := range [][2]int{{100, 1 << 20}, {1 << 20, 900}, {500, 1500}, {1, 1}, {documents, 1 << 20}} {
		a, b := draw(bounds[0], bounds[1]), draw(bounds[0], bounds[1])
		elements := 0
		for _, set := range a.Sets {
			elements += len(set)
		}
		for _, equals := range a.Equals {
			if equals.Scope != equals.Digest%3 {
				t.Errorf("%v: digest %d is in scope %d", bounds, equals.Digest, equals.Scope)
			}
		}
		if !slices.Equal(a.Documents, b.Documents) || !slices.Equal(a.Classes, b.Classes) || len(a.Documents) == 0 ||
			len(a.Equals) != len(a.Sets) {
			t.Errorf("%v: %d documents, then %d", bounds, len(a.Documents), len(b.Documents))
		}
		if len(a.Documents) > bounds[0] || len(a.Documents) > 1 && elements > bounds[1] ||
			a.Cut != (len(a.Documents) < documents) {
			t.Errorf("%v: %d documents, %d elements, cut %t", bounds, len(a.Documents), elements, a.Cut)
		}
		drawn := 0
		for ref := range docref.Ref(documents) {
			if a.Has(Hash(uint64(ref)), ref) {
				drawn++
			}
		}
		if drawn != len(a.Documents) {
			t.Errorf("%v: has %d documents of %d", bounds, drawn, len(a.Documents))
		}
	}
}

// TestFitBoundsComparisons: documents that are all alike are compared within the budget, about as many on
// both sides. Documents that are not alike stay as they are.
func TestFitBoundsComparisons(t *testing.T) {
	const documents, sampled = 100_000, 8000
	for _, alike := range []bool{true, false} {
		s := Sample{ProbedBelow: Limit(1)}
		d := NewDrawing(sampled, 1<<30)
		for i := range documents {
			d.Add(Hash(uint64(i)), docref.Ref(i), Equals{Digest: uint64(i), Scope: 0}, func() []uint64 {
				set := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 100 + uint64(i)}
				if !alike {
					for k := range set {
						set[k] = Hash(uint64(16*i + k))
					}
					slices.Sort(set)
				}
				return set
			})
		}
		s = d.Finish()
		s.Fit(0.8, documents, Budget{Pairs: 1 << 16, Elements: 1 << 30})
		probed := float64(documents) * share(s.ProbedBelow)
		pairs := probed * float64(len(s.Documents))
		if alike &&
			(pairs > 1<<16 || pairs < 1<<13 || probed < float64(len(s.Documents)) ||
				probed > 16*float64(len(s.Documents))) {
			t.Errorf("alike: %d documents are compared with %g", len(s.Documents), probed)
		}
		if !alike && (len(s.Documents) != sampled || probed != documents) {
			t.Errorf("not alike: %d documents are compared with %g", len(s.Documents), probed)
		}
		if s.Hashes[len(s.Hashes)-1] >= s.ProbedBelow {
			t.Error("a sampled document is not looked at")
		}
	}
}
