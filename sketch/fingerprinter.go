package sketch

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"mirrorbeam.dev/asmkernels"
)

// Version stands for everything in this package on which a stored set or sketch depends. It goes up when a golden test
// has to change. Sets and sketches of different versions cannot be compared. Texts also depend on [UnicodeVersion].
const Version = 4

// StopWordUse says what a [Fingerprinter] does with stop words.
type StopWordUse string

const (
	// RemoveStopWords removes them from texts. So the words on both sides become neighbours.
	RemoveStopWords StopWordUse = "remove"
	// RequireStopWords keeps only the shingles that contain a stop word. Running text has many, menus and
	// advertisements hardly any.
	RequireStopWords StopWordUse = "require"
)

// Options say how a [Fingerprinter] reads documents. Fingerprints of different options cannot be compared.
type Options struct {
	Measure Measure
	// Code says how texts of program code are read. That comes first.
	Code Code
	// Normalization is applied to texts next.
	Normalization Normalization
	// StopWords are the words that StopWordUse is about; nil for none.
	StopWords   *StopWords
	StopWordUse StopWordUse
	// Ignored are shingles of texts that do not count; nil for none. They are data, and no part of the encoded options.
	Ignored *Shingles `json:"-"`
	// LeastShingles is the least number of distinct shingles of a document that is compared. The set of one with fewer
	// is empty, and its digest is made of the whole set. So it is only equal to documents or not. 0 means no limit.
	LeastShingles int
	// Weights are the weights of the texts of a document, in order, above 0. Without them all texts weigh 1.
	Weights []float64
	// SimHashBits is the length of the SimHash fingerprints. 0 means none.
	SimHashBits int
	// Budget bounds the memory that a document takes; nil for no limit. It is no part of the encoded options either.
	Budget *Budget `json:"-"`
	// FeatureShingles is how many shingles of a text a feature next to it counts for; 0 stands for 1.
	FeatureShingles int
}

// Fingerprint is what a [Fingerprinter] makes of a document.
type Fingerprint struct {
	// Document holds the set of the distinct shingles of all texts, or of the
	// features. It is also empty if there are fewer than [Options] ask for.
	Document
	// SimHash is the SimHash fingerprint of the set, or nil if there is none: see [SimHash.Fingerprint]. The
	// weight of a shingle is the sum of the weights of the texts that contain it. SimHash belongs to the
	// Fingerprinter, which overwrites it in the next call.
	SimHash []uint64
}

// Fingerprinter computes the fingerprints of documents. A document has one or several texts, or features that
// another program has found. A Fingerprinter reuses its buffers. Only one goroutine may use it at a time.
type Fingerprinter struct {
	options  Options
	prepare  preparation
	hasher   *Hasher
	filter   *ShingleFilter // nil: all shingles count
	simhash  *SimHash       // nil: not wanted
	digester *Digester
	features *asmkernels.Hash // has keys of its own

	set         []uint64
	kept        []uint64
	fingerprint []uint64
}

// NewFingerprinter returns a Fingerprinter, or an error that says what is wrong with o.
func NewFingerprinter(o Options) (*Fingerprinter, error) {
	f := &Fingerprinter{options: o, digester: NewDigester(o.Measure.Seed)}
	f.features = asmkernels.NewHash(keysOf("features", o.Measure.Seed), 1, 0)
	var err error
	if f.prepare, err = newPreparation(o); err != nil {
		return nil, err
	}
	if o.SimHashBits != 0 {
		if f.simhash, err = NewSimHash(SimHashOptions{Bits: o.SimHashBits}); err != nil {
			return nil, err
		}
	}
	switch {
	case o.StopWords == nil, o.StopWordUse == RemoveStopWords: // the preparation removes them
		if f.hasher, err = NewHasher(o.Measure); err != nil {
			return nil, err
		}
		f.hasher.budget = o.Budget
	case o.StopWordUse == RequireStopWords:
		if f.filter, err = NewShingleFilter(o.Measure, o.StopWords.Contains); err != nil {
			return nil, err
		}
		f.filter.hasher.budget = o.Budget
	default:
		return nil, fmt.Errorf("unknown use %q of stop words: take %s or %s", o.StopWordUse, RemoveStopWords,
			RequireStopWords)
	}
	return f, nil
}

// Texts returns the fingerprint of a document of these texts. A shingle does not reach from one text into the next. If
// the texts have no shingle, the digest is a digest of their unchanged bytes. If [LeastOwn] shingles are not left
// in addition to those that do not count, the set is empty, and the digest is made of the whole set.
//
// A document may take more memory than its [Budget] allows. That says so then, and the fingerprint is of no use.
func (f *Fingerprinter) Texts(texts [][]byte) Fingerprint { return f.TextsAndFeatures(texts, nil) }

// TextsAndFeatures returns the fingerprint of a document of these texts with features next to them. Each different
// feature is as many elements of the set as the options say, and in SimHash each of these has the weight of the
// feature. The rest is as in [Fingerprinter.Texts].
func (f *Fingerprinter) TextsAndFeatures(texts [][]byte, features []Feature) Fingerprint {
	isOne := len(texts) == 1 && len(features) == 0
	parts := max(f.options.FeatureShingles, 1)
	var sum Document
	if f.simhash != nil {
		f.simhash.Reset()
	}
	if isOne {
		sum = f.text(texts[0])
		f.addWeighted(sum.Set, 0)
	} else {
		f.set = f.set[:0]
		for i, text := range texts {
			d := f.text(text)
			f.addWeighted(d.Set, i)
			if f.options.Budget.take(setBytes * f.options.Budget.elements(d.Set, d.Tokens)) {
				f.set = append(f.set, d.Set...)
			}
			sum.Tokens += d.Tokens
			sum.InvalidBytes += d.InvalidBytes
		}
		if f.options.Budget.take(featureBytes * len(features) * parts) {
			f.addFeatures(features, parts)
		}
		sum.Set = f.distinct()
	}
	if !isOne || len(sum.Set) == 0 { // a filter has hashed a text without a shingle as it was prepared
		sum.Digest = f.digester.of(sum.Set, texts...)
	}
	if f.options.Ignored != nil &&
		f.options.Budget.take(setBytes*f.options.Budget.elements(sum.Set, sum.Tokens+len(features)*parts)) {
		f.kept = f.options.Ignored.leaveOut(&sum, f.kept, f.digester)
		if len(sum.Set) == 0 && f.simhash != nil {
			f.simhash.Reset()
		}
	}
	return f.finish(sum)
}

func (f *Fingerprinter) text(text []byte) Document {
	if f.filter != nil {
		return f.filter.Document(f.prepare.apply(text))
	}
	f.hasher.begin(len(text))
	if f.prepare.each(text, f.hasher.read) {
		f.hasher.end()
	}
	return f.hasher.document(text)
}

func (f *Fingerprinter) addWeighted(set []uint64, text int) {
	if f.simhash != nil && f.options.Ignored != nil {
		f.kept = f.options.Ignored.appendOthers(f.kept[:0], set)
		set = f.kept
	}
	switch {
	case f.simhash == nil:
	case f.options.Weights == nil || f.options.Weights[text] == 1:
		f.simhash.AddSet(set)
	default:
		for _, element := range set {
			f.simhash.Add(element, f.options.Weights[text])
		}
	}
}

// Feature is a feature of a document, such as a text, an image or a sound. Another program has found it.
type Feature struct {
	// Hash stands for the feature. It need not be a good hash, but features of one hash are the same. So take a
	// cryptographic hash of a feature that is longer.
	Hash [16]byte
	// Weight is how much the feature counts for SimHash. It is above 0.
	Weight float64
}

// Features returns the fingerprint of a document of these features. The weights of a feature that occurs more
// than once add up. Without features, the digest is a digest of the bytes of the record.
func (f *Fingerprinter) Features(features []Feature, record []byte) Fingerprint {
	if f.simhash != nil {
		f.simhash.Reset()
	}
	f.set = f.set[:0]
	sum := Document{Tokens: len(features)}
	if f.options.Budget.take(featureBytes * len(features)) {
		f.addFeatures(features, 1)
	}
	sum.Set = f.distinct()
	sum.Digest = f.digester.of(sum.Set, record)
	return f.finish(sum)
}

// addFeatures adds elements for the parts of each feature to the set and the SimHash. A part is a token of two full
// blocks: the feature, and its number. As all have one length, nothing is padded and nothing goes through a polynomial.
// So the bound of [asmkernels.Hash] for tokens of up to 32 bytes holds, whatever bytes of them are zero.
func (f *Fingerprinter) addFeatures(features []Feature, parts int) {
	var token [2 * tokenBlock]byte
	var hash, element [1]uint64
	for _, feature := range features {
		copy(token[:], feature.Hash[:])
		for part := range parts {
			binary.LittleEndian.PutUint64(token[tokenBlock:], uint64(part))
			hash[0] = f.features.Token(asmkernels.Prefix{}, token[:])
			f.features.Shingles(element[:], hash[:], 1)
			f.set = append(f.set, element[0])
			if f.simhash != nil {
				f.simhash.Add(element[0], feature.Weight)
			}
		}
	}
}

func (f *Fingerprinter) distinct() []uint64 {
	slices.Sort(f.set)
	return slices.Compact(f.set)
}

func (f *Fingerprinter) finish(d Document) Fingerprint {
	if len(d.Set) < f.options.LeastShingles {
		d.Set = nil
		if f.simhash != nil {
			f.simhash.Reset()
		}
	}
	if f.simhash == nil {
		return Fingerprint{Document: d}
	}
	f.fingerprint = f.simhash.Fingerprint(f.fingerprint)
	return Fingerprint{d, f.fingerprint}
}

// leastPiece is how many bytes a piece of a long text has at least. Pieces fit into a core's cache.
const leastPiece = 64 << 10

// preparation is what is done to a text before it is cut into tokens. It is not for concurrent use.
type preparation struct {
	budget     *Budget
	code       *codeReader // nil: no code
	normalizer *Normalizer // nil: nothing to do
	filter     *WordFilter // nil: no word to remove
	least      int         // least length of a piece

	normalized, filtered []byte // a piece of the text
	whole                []byte
}

func newPreparation(o Options) (p preparation, err error) {
	p.budget, p.least = o.Budget, leastPiece
	if p.code, err = newCodeReader(o.Code, o.Budget); err != nil {
		return p, err
	}
	if o.Normalization != (Normalization{}) {
		if p.normalizer, err = NewNormalizer(o.Normalization); err != nil {
			return p, err
		}
		p.normalizer.budget = o.Budget
	}
	if o.StopWords != nil && o.StopWordUse == RemoveStopWords {
		p.filter, err = NewWordFilter(o.Measure, func(word []byte) bool { return !o.StopWords.Contains(word) })
	}
	return p, err
}

// each visits the text after all that is to be done to it, in pieces. All but the last end with white space. A piece is
// valid until visit returns. If that is false, each stops and returns false.
func (p *preparation) each(text []byte, visit func(piece []byte) bool) bool {
	if p.code != nil {
		text = p.code.read(text)
	}
	if p.normalizer == nil && p.filter == nil {
		return visit(text)
	}
	var held int64
	goesOn := true
	for goesOn && len(text) > 0 {
		piece := text[:p.pieceEnd(text)]
		text = text[len(piece):]
		held = p.budget.reuse(held, func() { piece = p.change(piece, len(text) == 0) }, func() {
			goesOn = visit(piece) && p.budget.goesOn()
		})
	}
	if !goesOn {
		p.budget.cut()
	}
	return goesOn
}

// change normalizes a piece and takes words out of it. It panics if the piece then ends within a word that may go on in
// the next one.
func (p *preparation) change(piece []byte, isLast bool) []byte {
	if p.normalizer != nil {
		p.normalized = p.normalizer.Append(p.normalized[:0], piece)
		piece = p.normalized
	}
	if p.filter != nil {
		p.filtered = p.filter.Append(p.filtered[:0], piece)
		p.budget.take(len(p.filtered))
		piece = p.filtered
	}
	if last, _ := utf8.DecodeLastRune(piece); len(piece) > 0 && !isLast && !unicode.IsSpace(last) {
		panic(fmt.Sprintf("sketch: a piece of a text ends with %U, and not with white space", last))
	}
	return piece
}

// apply returns the text after all that is to be done to it, valid until the next call.
func (p *preparation) apply(text []byte) []byte {
	p.whole = p.whole[:0]
	isWhole := p.normalizer == nil && p.filter == nil
	p.each(text, func(piece []byte) bool {
		if isWhole {
			text = piece
			return true
		}
		p.whole = append(p.whole, piece...)
		return p.budget.take(moving * len(piece))
	})
	if isWhole {
		return text
	}
	return p.whole
}

// pieceEnd returns where the first piece of a text ends: behind a space or the end of a line, before a character that
// belongs to nothing before it, and not within what an override shows backward. Normalized by itself, a piece becomes
// what it becomes within the text.
func (p *preparation) pieceEnd(text []byte) int {
	for at := p.least; at < len(text); at++ {
		if text[at-1] != ' ' && text[at-1] != '\n' || !beginsPiece(text[at:]) {
			continue
		}
		end, isMoved := p.normalizer.moves(text, at)
		if !isMoved {
			return at
		}
		at = end
	}
	return len(text)
}

// beginsPiece reports whether no normal form joins the first character of text to a space before it.
func beginsPiece(text []byte) bool {
	if text[0] < utf8.RuneSelf {
		return true
	}
	r, size := utf8.DecodeRune(text)
	return (r != utf8.RuneError || size > 1) && norm.NFKC.Properties(text).BoundaryBefore()
}
