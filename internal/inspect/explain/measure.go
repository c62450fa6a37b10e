package explain

import (
	"errors"
	"math"
	"slices"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/inspect/difference"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/sketch"
)

// Similarity says how similar two documents are, by each measure.
type Similarity struct {
	Jaccard float64 `json:"jaccard"`
	// ContainmentA is the share of the shingles of the first document that the second one has, ContainmentB the
	// reverse.
	ContainmentA float64 `json:"containment_a"`
	ContainmentB float64 `json:"containment_b"`
	// Common and Union count distinct shingles, in both documents and in either. Needed is the least Common of a pair
	// of documents of these sizes; 0 where pairs are not judged by that.
	Common int `json:"common"`
	Union  int `json:"union"`
	Needed int `json:"needed,omitempty"`
	// Whole is the Jaccard similarity by all shingles, where base texts or common shingles are left out of the others;
	// nil where nothing is.
	Whole *float64 `json:"jaccard_whole,omitempty"`
	// Hamming is the number of the Bits in which their SimHash fingerprints differ. It is nil if one has no words.
	Hamming *int `json:"hamming,omitempty"`
	Bits    int  `json:"bits,omitempty"`
	// IsGiven says that another program has made the fingerprints, so that nothing else is known of the documents.
	IsGiven bool `json:"is_given,omitempty"`
	// Same says that the two are equal under the measure of the run.
	Same bool `json:"same,omitempty"`
	// Words is the length of the longest passage that both have; 0 for features.
	Words int `json:"words,omitempty"`
}

// Keys says under which keys two documents meet. Documents that share no key are not compared.
type Keys struct {
	Method methods.Name `json:"method"`
	// AllPairs says that the run has compared all pairs of documents of similar sizes. Then there are no keys.
	AllPairs bool `json:"all_pairs,omitempty"`
	// Certain says that two near-duplicates always share a key. Where the keys depend on the whole corpus, nothing more
	// is known of them.
	Certain bool `json:"certain"`
	// Shared is the number of common keys, A and B are the numbers of keys of each document; nil if they are not known.
	Shared *int `json:"shared,omitempty"`
	A      int  `json:"a,omitempty"`
	B      int  `json:"b,omitempty"`
	// Probability is how likely two documents of this similarity share a key; 0 if it is not known.
	Probability float64 `json:"probability,omitempty"`
}

// heldBytes is how much of a text is compared word by word.
const heldBytes = 1 << 20

type text struct {
	id, ref   string
	url, date string
	content   string // its first bytes
	bytes     int64
	words     int
	reference bool
	others    [][]byte

	whole   []uint64 // all shingles
	set     []uint64 // those that count
	simhash []uint64
	digest  sketch.Digest        // the digest of the fingerprint of the run
	block   fingerprints.Content // what a block has of that
}

type reader struct {
	kind   *fingerprints.Kind  // the kind of the run
	bits   int                 // of SimHash fingerprints
	own    *documents.Sketcher // makes fingerprints of that kind
	sets   *documents.Sketcher // makes sets
	whole  *documents.Sketcher // makes sets and leaves nothing out; nil: as sets
	common *sketch.Shingles    // nil: none
}

func (x *explainer) newReader() (*reader, error) {
	c := x.config
	stopWords, err := c.ReadStopWords()
	if err != nil {
		return nil, err
	}
	sketching := c.Sketching(c.Sizing(0).WindowBytes)
	sketching.Options.SimHashBits = c.Bits
	r := &reader{kind: x.config.Kind(), bits: c.Bits}
	if x.leavesCommon {
		if r.common, err = x.folder.Shingles(output.CommonShingles); err != nil {
			return nil, err
		}
	}
	if x.leavesIgnored {
		if r.whole, err = documents.NewSketcher(sketching, documents.Kept{}, stopWords); err != nil {
			return nil, err
		}
		if sketching.Options.Ignored, err = x.folder.Shingles(output.IgnoredShingles); err != nil {
			return nil, err
		}
	}
	kept := documents.Kept{Fingerprints: x.config.Kind().Name, ExcludeQuotations: c.NoQuotations}
	r.own, err = documents.NewSketcher(sketching, kept, stopWords)
	if r.sets = r.own; err == nil && !r.kind.HasColumns {
		r.sets, err = documents.NewSketcher(sketching, documents.Kept{}, stopWords)
	}
	return r, err
}

func (r *reader) read(d *finished.Found) (*text, error) {
	var whole []uint64
	if r.whole != nil {
		_, all, err := r.whole.Sketch(&d.Portion, d.Position, d.Raw)
		if err != nil {
			return nil, err
		}
		whole = slices.Clone(all.Set)
	}
	record, fingerprint, err := r.sets.Sketch(&d.Portion, d.Position, d.Raw)
	if err != nil {
		return nil, err
	}
	t := &text{
		id:        d.ID,
		ref:       d.Ref,
		url:       d.URL,
		date:      d.Date,
		content:   d.Text(heldBytes),
		words:     fingerprint.Tokens,
		reference: d.Portion.File.Reference,
		set:       slices.Clone(fingerprint.Set),
		simhash:   slices.Clone(fingerprint.SimHash),
	}
	for _, value := range d.Record.Others {
		t.others = append(t.others, slices.Clone(value))
	}
	for _, one := range record.Texts {
		t.bytes += int64(len(one))
	}
	if err := r.fingerprint(t, d); err != nil {
		return nil, err
	}
	if t.whole = whole; r.whole == nil {
		t.whole = t.set
	}
	if r.common != nil {
		return t, r.leaveCommonOut(t)
	}
	return t, nil
}

func (r *reader) fingerprint(t *text, d *finished.Found) error {
	_, own, err := r.own.Sketch(&d.Portion, d.Position, d.Raw)
	if err != nil {
		return err
	}
	if t.digest = own.Digest; r.kind.HasShingles {
		t.set = slices.Clone(own.Set)
	}
	t.block.Set = t.set
	if own.Stored.Sequence != nil {
		err = r.kind.Block().Read(&t.block, own.Stored.Sequence)
	}
	return err
}

// leaveCommonOut takes the common shingles out of what is compared of a document, as the job did.
func (r *reader) leaveCommonOut(t *text) error {
	stripper, err := sketch.NewStripper(r.common, r.bits)
	if err != nil {
		return err
	}
	t.set, t.simhash = stripper.Strip(t.set)
	t.block.Set = t.set
	t.block.Sequence.LeaveOut(r.common, len(t.set) == 0)
	return nil
}

func (x *explainer) measure() error {
	if x.a == nil || x.b == nil {
		return nil
	}
	x.compare()
	if x.leavesIgnored || x.leavesCommon {
		shared, union := overlap(x.a.whole, x.b.whole)
		whole := float64(shared) / float64(max(union, 1))
		x.Similarity.Whole = &whole
	}
	if x.config.HasTexts() {
		sides := difference.SideBySide(x.a.content, x.b.content, x.config.Shingle, x.config.Tokens, x.extent)
		x.Sides = sides
		x.Difference = sides.Merged()
		for _, p := range sides.Passages {
			x.Similarity.Words = max(x.Similarity.Words, int(p.Words))
		}
		if sides.A.CutBefore || sides.A.CutAfter || sides.B.CutBefore || sides.B.CutAfter {
			x.note("Only parts of the texts are compared here, because they are long.")
		}
	}
	return x.compareKeys()
}

func overlap(a, b []uint64) (shared, union int) {
	shared = asmkernels.Intersect(a, b, 0)
	return shared, len(a) + len(b) - shared
}

func (x *explainer) compare() {
	a, b := x.a, x.b
	s := &Similarity{Same: a.digest == b.digest, IsGiven: x.config.Fingerprints != ""}
	x.Similarity = s
	s.Common, s.Union = overlap(a.set, b.set)
	share := func(of int) float64 {
		switch {
		case of > 0:
			return float64(s.Common) / float64(of)
		case s.Same:
			return 1
		}
		return 0
	}
	s.Jaccard, s.ContainmentA, s.ContainmentB = share(s.Union), share(len(a.set)), share(len(b.set))
	if x.scorer.TellsWhole() && x.config.Kind().HasShingles {
		// Common/(sizes-Common) reaches the threshold t from t/(1+t) of the sizes on.
		t, sizes := x.config.Threshold, float64(len(a.set)+len(b.set))
		s.Needed = int(math.Ceil(t / (1 + t) * sizes * (1 - 1e-12)))
	}
	if len(a.set) > 0 && len(b.set) > 0 {
		distance := sketch.Hamming(a.simhash, b.simhash)
		s.Hamming, s.Bits = &distance, x.config.Bits
	}
}

func (x *explainer) compareKeys() error {
	c, method := x.config, x.method
	if _, known := methods.Of(c.Method()); !known {
		return errors.New("the run has brought documents together in a way that this program does not know")
	}
	scheme, err := c.Scheme()
	if err != nil {
		return err
	}
	p := &methods.Parameters{
		Shards:      1,
		Threshold:   c.Threshold,
		Shingle:     c.Shingle,
		Passage:     c.Passage,
		Scheme:      scheme,
		SimHashBits: c.SimHashBits(),
		Distance:    c.Hamming,
		Blocks:      c.Blocks,
		Scoring:     c.Scoring(),
	}
	if blocks := x.folder.Summary.Plan.Blocks; len(blocks) > 0 {
		p.Blocks = blocks // by the number of documents
	}
	counts := x.folder.Summary.Counts
	keys := &Keys{Method: method.Name, Certain: method.Promise(p).ByConstruction && x.scorer.HasClusters}
	keys.AllPairs = method.ComparesAll || counts.Documents+counts.ReferenceDocuments <= c.AllPairsUpTo()
	x.Keys = keys
	if keys.AllPairs || method.Ordered {
		return nil
	}
	if method.Settings.Bands {
		keys.Probability = scheme.Probability(x.Similarity.Jaccard)
	}
	make, err := method.Keys(p)
	if err != nil {
		return err
	}
	bands, err := fingerprints.NewBands(scheme)
	if err != nil {
		return err
	}
	a, b := keysOf(x.a, make(), bands), keysOf(x.b, make(), bands)
	shared := 0
	for key := range a {
		if b[key] {
			shared++
		}
	}
	keys.Shared, keys.A, keys.B = &shared, len(a), len(b)
	return nil
}

func keysOf(t *text, keys methods.Keys, bands *fingerprints.Bands) map[uint64]bool {
	d := &methods.Document{
		Digest:  t.digest,
		Size:    len(t.set),
		Content: t.block,
		SimHash: t.simhash,
		Bands:   slices.Clone(bands.Of(t.set)),
	}
	all := map[uint64]bool{}
	for _, record := range keys(nil, d) {
		all[candidates.KeyOf(record.Key, 0)] = true
	}
	return all
}
