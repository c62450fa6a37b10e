package sketch

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"mirrorbeam/asmkernels"
)

// Version stands for everything in this package that a stored set or sketch
// depends on. It goes up when a golden test has to change, which is what they are
// for; sets and sketches of different versions have nothing to do with each
// other. Texts depend on [UnicodeVersion] as well.
const Version = 1

// StopWordUse says what a [Fingerprinter] does with stop words.
type StopWordUse string

const (
	// RemoveStopWords takes them out of texts, so that the words on both sides
	// become neighbours.
	RemoveStopWords StopWordUse = "remove"
	// RequireStopWords keeps only the shingles that hold one, which running text
	// has and menus and advertisements hardly.
	RequireStopWords StopWordUse = "require"
)

// Options say what a [Fingerprinter] takes of documents. Fingerprints of
// different options have nothing to do with each other.
type Options struct {
	Measure Measure
	// Normalization is done to texts first.
	Normalization Normalization
	// StopWords are words for StopWordUse to use; nil for none.
	StopWords   *StopWords
	StopWordUse StopWordUse
	// Weights are those of the texts of a document, above 0, in their order.
	// Without them all weigh 1.
	Weights []float64
	// SimHashBits is the length of the SimHash fingerprints; 0: there are none.
	SimHashBits int
}

// Fingerprint is what a [Fingerprinter] makes of a document.
type Fingerprint struct {
	// Document holds the set of the distinct shingles of all texts, or of the
	// features.
	Document
	// SimHash is the SimHash fingerprint of the set, nil if none is wanted: see
	// [SimHash.Fingerprint]. A shingle weighs what the texts that hold it weigh
	// together. It belongs to the Fingerprinter, which overwrites it in the next
	// call.
	SimHash []uint64
}

// Fingerprinter computes the fingerprints of documents of one or several texts,
// or of features that another program has found. It reuses its buffers and must
// not be used by two goroutines at a time.
type Fingerprinter struct {
	options    Options
	normalizer *Normalizer // nil: nothing to do
	filter     *WordFilter // nil: no word to take out
	document   func(text []byte) Document
	simhash    *SimHash // nil: not wanted

	normalized, filtered []byte
	set                  []uint64
	empty                []byte
	fingerprint          []uint64
}

// NewFingerprinter returns a Fingerprinter, or an error that says what is wrong
// with o.
func NewFingerprinter(o Options) (*Fingerprinter, error) {
	f := &Fingerprinter{options: o}
	var err error
	if o.Normalization != (Normalization{}) {
		if f.normalizer, err = NewNormalizer(o.Normalization); err != nil {
			return nil, err
		}
	}
	if o.SimHashBits != 0 {
		if f.simhash, err = NewSimHash(SimHashOptions{Bits: o.SimHashBits}); err != nil {
			return nil, err
		}
	}
	switch {
	case o.StopWords == nil:
		f.document = NewHasher(o.Measure).Document
	case o.StopWordUse == RemoveStopWords:
		f.document = NewHasher(o.Measure).Document
		f.filter = NewWordFilter(o.Measure, func(word []byte) bool { return !o.StopWords.Contains(word) })
	case o.StopWordUse == RequireStopWords:
		f.document = NewShingleFilter(o.Measure, o.StopWords.Contains).Document
	default:
		return nil, fmt.Errorf("unknown use %q of stop words: take %s or %s", o.StopWordUse, RemoveStopWords, RequireStopWords)
	}
	return f, nil
}

// Texts returns the fingerprint of a document of these texts. Shingles do not
// reach from one text into the next. If there is no shingle in them the digest is
// one of their bytes as they are.
func (f *Fingerprinter) Texts(texts [][]byte) Fingerprint {
	var sum Document
	if f.simhash != nil {
		f.simhash.Reset()
	}
	if len(texts) == 1 {
		sum = f.text(texts[0])
		f.addWeighted(sum.Set, 0)
	} else {
		f.set = f.set[:0]
		for i, text := range texts {
			d := f.text(text)
			f.addWeighted(d.Set, i)
			f.set = append(f.set, d.Set...)
			sum.Tokens += d.Tokens
			sum.InvalidBytes += d.InvalidBytes
		}
		sum.Set = f.distinct()
	}
	switch {
	case len(sum.Set) == 0:
		sum.Digest = f.digestTexts(texts)
	case len(texts) != 1:
		sum.Digest = digestSet(sum.Set)
	}
	return f.finish(sum)
}

// text returns the fingerprint of one text after all that is to be done to it.
func (f *Fingerprinter) text(text []byte) Document {
	if f.normalizer != nil {
		f.normalized = f.normalizer.Append(f.normalized[:0], text)
		text = f.normalized
	}
	if f.filter != nil {
		f.filtered = f.filter.Append(f.filtered[:0], text)
		text = f.filtered
	}
	return f.document(text)
}

// addWeighted adds the set of a text to the SimHash.
func (f *Fingerprinter) addWeighted(set []uint64, text int) {
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

// digestTexts returns a digest of the bytes of texts without a shingle: that of a
// Hasher for a single one.
func (f *Fingerprinter) digestTexts(texts [][]byte) uint64 {
	if len(texts) == 1 {
		return xxh3.HashSeed(texts[0], textSeed)
	}
	f.empty = f.empty[:0]
	for _, text := range texts {
		f.empty = binary.LittleEndian.AppendUint64(f.empty, uint64(len(text)))
		f.empty = append(f.empty, text...)
	}
	return xxh3.HashSeed(f.empty, textSeed)
}

// Feature is a feature of a document that another program has found: of a text,
// an image, a sound.
type Feature struct {
	// Hash stands for the feature. It need not be a good hash.
	Hash uint64
	// Weight is how much it counts for SimHash, above 0.
	Weight float64
}

// Features returns the fingerprint of a document of these features. The weights
// of a feature that occurs more than once add up. If there is none the digest is
// one of the bytes of the record.
func (f *Fingerprinter) Features(features []Feature, record []byte) Fingerprint {
	if f.simhash != nil {
		f.simhash.Reset()
	}
	f.set = f.set[:0]
	sum := Document{Tokens: len(features)}
	for _, feature := range features {
		state := asmkernels.SplitMix(f.options.Measure.Seed) + feature.Hash + asmkernels.SplitMixStep
		element := asmkernels.SplitMix(state) >> (64 - elementBits)
		f.set = append(f.set, element)
		if f.simhash != nil {
			f.simhash.Add(element, feature.Weight)
		}
	}
	sum.Set = f.distinct()
	if len(sum.Set) > 0 {
		sum.Digest = digestSet(sum.Set)
	} else {
		sum.Digest = xxh3.HashSeed(record, textSeed)
	}
	return f.finish(sum)
}

// distinct sorts the set and drops repeats.
func (f *Fingerprinter) distinct() []uint64 {
	slices.Sort(f.set)
	return slices.Compact(f.set)
}

func (f *Fingerprinter) finish(d Document) Fingerprint {
	if f.simhash == nil {
		return Fingerprint{Document: d}
	}
	f.fingerprint = f.simhash.Fingerprint(f.fingerprint)
	return Fingerprint{d, f.fingerprint}
}
