// Package methods holds the ways to find similar documents. A [Method] is one thing in one file. It says how documents
// are keyed, how the documents of a key are grouped, and what scores their pairs. It also says what it promises and
// what it costs. A job and a plan ask the same method, so there is one law of keys.
package methods

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
)

// Method is a way to find similar documents. Only Name and Keys are required. The other fields are, by default,
// right for a method whose keys are hashes of parts of the shingle set.
type Method struct {
	Name Name

	// Similarity is what the method finds. The zero value is [Resemblance].
	Similarity Similarity
	Settings   Settings
	// Refuses are settings that the method cannot heed. Owns are settings that only this method heeds, and Called is
	// what messages call it.
	Refuses, Owns []Refusal
	Called        string
	// Scorings are the ways to score that a job may ask for. The zero value is [Jaccard] only.
	Scorings    []Scoring
	ComparesAll bool
	// Load says how much a job takes. The zero value is the load of sets.
	Load Load

	// Fingerprints is the kind of fingerprint that the method needs. The zero value is [fingerprints.Sets].
	Fingerprints fingerprints.Name

	// Reads says which parts of a sketch block the keys are made of. The block must hold them.
	Reads Parts
	// DigestFirst says that the first record of a document comes from [AppendDigest]. Then the content of a repeat,
	// which sends no other, is not read.
	DigestFirst bool
	// Ordered says that keys depend on the Frequencies of shingles, which have to be counted first.
	Ordered bool
	// Exact says that keys are shingles, of [candidates.PrefixKeyOf], and not hashes.
	Exact bool
	// Keys returns a function that makes the Keys of a task. It is called once for many tasks, the function for each.
	Keys func(p *Parameters) (func() Keys, error)

	// Records is the kind of the key records, 0 for [records.Keys].
	Records runfile.Kind
	// Write writes a key record, nil for the layout of [records.PutKey].
	Write func(run *runfile.Writer, shards int, r *candidates.Record, d *Document) error

	// Group goes through the records of a shard and writes pairs or edges, nil for [groups.Keyed].
	Group func(ctx context.Context, p *Parameters, l *documents.Layout, shard int, w *work.TaskContext) error
	// OversizedGroups says what becomes of groups of very many pairs.
	OversizedGroups OversizedGroups

	// Scorer returns what scores the pairs, nil for a comparison of [Sets].
	Scorer func(p *Parameters) Scorer

	// Promise returns what is known of the pairs that the method finds; nil for nothing.
	Promise func(p *Parameters) Promise
	// Tell says in a sentence what a finished job has found, and how surely. The default promises nothing.
	Tell func(t *Told) string
	// KeyBytes returns the size of the given number of key records of a document, in bytes, for methods that a plan
	// compares; nil for [HashBytes].
	KeyBytes func(keys float64) float64
}

// Keys appends the key records of a document, in their order. Documents of equal digest and parts must get equal
// records, but for the ref. Of a repeated document only the first record is sent. It is not for concurrent use.
type Keys func(all []candidates.Record, d *Document) []candidates.Record

// OversizedGroups says what becomes of groups of very many pairs.
type OversizedGroups int

const (
	// ToHotGroups lets such groups wait until all are known. Dense ones become hot groups, compared with pivots.
	ToHotGroups OversizedGroups = iota
	// ToStars lets them wait. The documents of dense ones are compared with the first.
	ToStars
	// NeverWait has Group deal with all groups at once.
	NeverWait
)

// Settings say which settings of a job belong to a method.
type Settings struct {
	// Bands says that the number of bands and rows, or the recall from which they follow, belong to it.
	Bands bool
	// Distance says that the Hamming distance, and the bits of fingerprints, belong to it.
	Distance bool
}

// Load says how much a job takes, in multiples of what one with sets takes.
type Load struct {
	// Text is how many bytes of keys are sorted for each byte of text.
	Text int64
	// Memory is how much memory the shingles of a document take while they are compared.
	Memory int64
}

// Promise is what is known of the pairs that a method finds, before the search.
type Promise struct {
	// Recall is the probability that a pair at the threshold is found, 0 if unknown.
	Recall float64
	// ByConstruction says that the promise holds for every corpus, so that nobody has to measure the recall.
	ByConstruction bool
	// Words is the number of words in a row that make two documents sure to be compared; 0 where that does not matter.
	Words int
}

// Told is what a finished job knows of its search.
type Told struct {
	Threshold float64
	// Scheme is the scheme of MinHash keys; zero for others.
	Scheme lshbands.Scheme
	// Tables is the number of permuted tables of SimHash keys, Bits the length of the fingerprints, and Distance how
	// many of these bits may differ; 0 for others.
	Tables, Bits, Distance int
	// Words is as in [Promise].
	Words int
	// Recall is the probability that a pair at the threshold was compared, 0 if unknown.
	Recall float64
	// Skips says that pairs of dense groups were skipped.
	Skips bool
}

var registered = map[Name]*Method{}

// Register adds a method. It is called when the program starts. It panics if there is a method of the same name: that
// is a mistake of a programmer, and no input and no setting brings it about.
func Register(m Method) {
	if registered[m.Name] != nil || m.Name == Auto {
		panic(fmt.Sprintf("methods: %s is there twice", m.Name))
	}
	m.complete()
	registered[m.Name] = &m
}

func (m *Method) complete() {
	if m.Similarity == "" {
		m.Similarity = Resemblance
	}
	if m.Scorings == nil {
		m.Scorings = []Scoring{Jaccard}
	}
	m.Load.Text, m.Load.Memory = max(m.Load.Text, 1), max(m.Load.Memory, 1)
	if m.Fingerprints == "" {
		m.Fingerprints = fingerprints.Sets
	}
	if m.Records == 0 {
		m.Records = records.Keys
	}
	if m.Write == nil {
		kind := m.Records
		m.Write = func(run *runfile.Writer, shards int, r *candidates.Record, _ *Document) error {
			b, err := run.Record(kind, records.ShardOf(r.Key, shards), records.LengthOfKey(r))
			if err == nil {
				records.PutKey(b, *r)
			}
			return err
		}
	}
	if m.Group == nil {
		m.Group = func(_ context.Context, p *Parameters, l *documents.Layout, shard int, w *work.TaskContext) error {
			return m.keyed(p, l).Shard(w, shard)
		}
	}
	if m.Scorer == nil {
		m.Scorer = bySets
	}
	if m.Promise == nil {
		m.Promise = func(*Parameters) Promise { return Promise{} }
	}
	if m.Tell == nil {
		name := m.Name
		m.Tell = func(t *Told) string {
			return fmt.Sprintf("keys %s, which promise nothing at the threshold %g", name, t.Threshold)
		}
	}
	if m.KeyBytes == nil {
		m.KeyBytes = HashBytes
	}
}

// Of returns the method of that name. If none is found, the method has no keys, no settings, and no promise.
func Of(name Name) (m *Method, found bool) {
	if m, found = registered[name]; found {
		return m, true
	}
	return unknown, false
}

// unknown stands for a method that is not registered.
var unknown = func() *Method {
	m := &Method{Name: Auto}
	m.complete()
	return m
}()

func mustOf(name Name) (*Method, error) {
	m, found := Of(name)
	if !found {
		return nil, fmt.Errorf("keys %s: there is no such method", name)
	}
	return m, nil
}

func inOrder() (all []*Method) {
	for _, name := range slices.Sorted(maps.Keys(registered)) {
		all = append(all, registered[name])
	}
	return all
}

// Resembling returns the names of the methods that find near-duplicates, in alphabetical order.
func Resembling() []Name { return Names(Resemblance) }

// Names returns the names of the methods that find a similarity, in alphabetical order.
func Names(similarity Similarity) []Name {
	var names []Name
	for _, m := range inOrder() {
		if m.Similarity == similarity {
			names = append(names, m.Name)
		}
	}
	return names
}

// Kind returns the kind of fingerprint of the method. It panics if there is none: that is a mistake of a programmer.
func (m *Method) Kind() *fingerprints.Kind {
	kind, err := fingerprints.Of(m.Fingerprints)
	if err != nil {
		panic(fmt.Sprintf("methods: %s: %v", m.Name, err))
	}
	return kind
}

func (m *Method) keyed(p *Parameters, l *documents.Layout) *groups.Keyed {
	threshold := p.Threshold
	if m.Similarity == Containment {
		threshold = 0 // a page may be part of a much longer book
	}
	return &groups.Keyed{
		Layout:       l,
		Shards:       p.Shards,
		Threshold:    threshold,
		Exact:        m.Exact,
		Stars:        m.OversizedGroups == ToStars,
		Bounds:       &p.Bounds,
		KeyBytes:     p.KeyBytes,
		Unchanged:    p.unchanged,
		Reused:       p.reused,
		TellsLasting: p.TellsLasting,
	}
}

// Scorer says what pairs are scored by, and what their rows say therefore. All that depends on how documents are
// compared asks it. Whether common shingles are left out, or rarity is told, are variants of a scorer.
type Scorer struct {
	// Reads is what the scorer reads of both documents.
	Reads Evidence
	// IsDistance says that a score is the Hamming distance of two SimHash fingerprints. Otherwise it is a similarity.
	IsDistance bool
	// HasClusters says that pairs join documents to clusters, where each is kept or removed. Otherwise pairs are all
	// there is: a common passage does not make two documents one.
	HasClusters bool
	// IsExact says that full sets are compared. Otherwise similarities are estimates from their smallest hashes.
	IsExact bool
	// AcceptsAll takes every candidate pair for an edge.
	AcceptsAll bool
	// NeedsAll says that documents in no pair decide which pairs are listed, so no incremental run may prune.
	NeedsAll bool
}

// Evidence is what a scorer reads of both documents of a pair.
type Evidence int

const (
	// Sets are the shingle sets of both documents.
	Sets Evidence = iota
	// Texts are sequences, for the passages that both documents have.
	Texts
	// Nothing means that Group has written edges.
	Nothing
)

// TellsWhole reports whether a score has a second figure, by all shingles, where common ones are left out of the first.
func (s Scorer) TellsWhole() bool { return s.HasClusters && !s.IsDistance }

func bySets(p *Parameters) Scorer {
	return Scorer{Reads: Sets, HasClusters: true, IsExact: p.Verify == VerifyExact, AcceptsAll: p.Verify == VerifyNone}
}

// Refusal is a setting of a job that a method cannot heed. A job that has another value than the default is refused.
type Refusal struct {
	Setting string
	// Why follows the setting and its value in the message.
	Why string
	// But are values that are accepted in addition to the default. Only, if not empty, is the one refused value.
	But  []string
	Only string
	// IfGiven refuses the default, too, where somebody has asked for it.
	IfGiven bool
}

// Accepts reports whether the method can heed a value other than the default.
func (r *Refusal) Accepts(value string) bool {
	if r.Only != "" {
		return value != r.Only
	}
	return slices.Contains(r.But, value)
}

// Refusals returns the settings that a job with the method refuses: its own, and settings that belong to other methods.
func (m *Method) Refusals() []Refusal {
	all := m.Refuses
	for _, other := range inOrder() {
		if other == m {
			continue
		}
		for _, r := range other.Owns {
			r.Why += "is for " + other.Called
			all = append(all[:len(all):len(all)], r)
		}
	}
	return all
}

// Wish is what a job asks for that decides on its method.
type Wish struct {
	Similarity Similarity
	Keys       Name
	Score      Scoring
	Verify     Verification
	// IsGiven says that records have fingerprints.
	IsGiven bool
	// Misses says that the settings allow near-duplicates to be missed.
	Misses bool
}

// Choose returns the name of the method for a job. It never returns [Auto].
func Choose(w Wish) Name {
	switch {
	case w.Similarity == Containment:
		return Passages
	case w.Keys != Auto:
		return w.Keys
	case w.Score == Hamming || w.IsGiven:
		return SimHash
	case w.Misses || w.Verify != VerifyExact:
		return MinHash
	}
	return Exact
}

// ScoringOf returns what makes two documents near-duplicates under a wish. It never returns [AutoScoring].
func ScoringOf(w Wish) Scoring {
	switch {
	case w.Score != AutoScoring:
		return w.Score
	case Choose(w) == SimHash:
		return Hamming
	}
	return Jaccard
}
