package documents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/measure/fingerprints"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/read/formats"
	"mirrorbeam/internal/read/inflate"
	"mirrorbeam/internal/read/webtext"
	"mirrorbeam/sketch"
)

// Reading says how records are read.
type Reading struct {
	Fields corpus.Fields
	// MaxDocument is the length of the longest document: the bytes of all its texts, or the number of its
	// features.
	MaxDocument int64
	// DocumentBytes is how much memory a document may take; 0 stands for no limit. One that takes more is a reject.
	DocumentBytes int64 `json:",omitempty"`
	// MaxExpanded is how many bytes all compressed files together may expand to; 0 stands for no limit. More is an error.
	MaxExpanded int64 `json:",omitempty"`
	// PageText says which text of web pages is read.
	PageText webtext.Mode
	// WindowBytes is the largest window of a zstd file that is read, in bytes. 0 stands for
	// [corpus.DefaultWindow].
	WindowBytes int64
}

// LineLimits returns the limits of a reader that decodes on one core. The longest line is one that may hold a document of the
// largest size: JSON takes up to six bytes for one byte of text. No line is longer than the memory that a document may take.
func (r Reading) LineLimits() corpus.Limits {
	limits := corpus.Limits{Line: 6*r.MaxDocument + 1<<20, Window: r.WindowBytes, Memory: r.DocumentBytes}
	if 0 < r.DocumentBytes && r.DocumentBytes < limits.Line {
		limits.Line, limits.IsOfMemory = r.DocumentBytes, true
	}
	return limits
}

// lanes decode the compressed files of all tasks of this process.
var lanes = inflate.NewLanes(work.Cores())

// Limits returns the limits of a reader that decodes on several cores. Hold and holdWindow are for [corpus.Limits].
func (r Reading) Limits(hold func() error, holdWindow func() (func(), error)) corpus.Limits {
	limits := r.LineLimits()
	limits.Lanes, limits.Hold, limits.HoldWindow = lanes, hold, holdWindow
	return limits
}

// Wanted says what is wanted of records.
func (r Reading) Wanted() corpus.Wanted {
	return corpus.Wanted{
		Fields: r.Fields, PageText: r.PageText, MaxDocument: r.MaxDocument, MaxFeatures: int(r.DocumentBytes / featureBytes),
	}
}

// fits returns an error that says why a document is too long, or nil.
func (r Reading) fits(length int64) error {
	if length <= r.MaxDocument {
		return nil
	}
	if r.Fields.Features != "" && !r.Fields.Beside {
		return fmt.Errorf("%d features are more than the limit of %d set by max_document", length, r.MaxDocument)
	}
	return errors.New(corpus.TooLong("text", length, r.MaxDocument, "max_document"))
}

// Sketching says how records are read and how they become fingerprints.
type Sketching struct {
	Reading

	// Options do not have the list of stop words. The list is data: see [Inputs].
	Options sketch.Options
}

// WithStopWords returns the options with a list of stop words, as the user wrote it. The list is empty if
// there is none.
func (s Sketching) WithStopWords(list string) (Sketching, error) {
	if list == "" {
		return s, nil
	}
	normalizer, err := sketch.NewNormalizer(s.Options.Normalization)
	if err == nil {
		s.Options.StopWords, err = sketch.ReadStopWords(strings.NewReader(list), normalizer)
	}
	return s, err
}

// allIgnored are lists of shingles that do not count in the jobs at work in this process, by their bytes.
var allIgnored work.Shared[sketch.Shingles]

// WithLists returns the options with the list of stop words of the inputs, and with their shingles that do not count.
func (s Sketching) WithLists(inputs *Inputs) (Sketching, error) {
	s, err := s.WithStopWords(inputs.StopWords)
	if err == nil {
		s, err = s.WithIgnored(inputs.Ignored)
	}
	return s, err
}

// WithIgnored returns the options with shingles that do not count, packed as in [Inputs]. There are none if packed is empty.
func (s Sketching) WithIgnored(packed []byte) (_ Sketching, err error) {
	if len(packed) == 0 {
		return s, nil
	}
	s.Options.Ignored, err = SharedShingles(packed)
	return s, err
}

// SharedShingles returns shingles that do not count, packed as in [Inputs]. All who use them in this process share them.
func SharedShingles(packed []byte) (*sketch.Shingles, error) {
	return allIgnored.Get(IgnoredHash(packed), func(string) (*sketch.Shingles, error) {
		return sketch.NewShingles(sketchblock.AppendSet(nil, packed))
	})
}

// IgnoredHash identifies shingles that do not count, packed as in [Inputs]. It is empty if there are none.
func IgnoredHash(packed []byte) string {
	if len(packed) == 0 {
		return ""
	}
	sum := sha256.Sum256(packed)
	return hex.EncodeToString(sum[:])
}

// Sketcher makes the fingerprints of a job from single records, outside of a job. It is not for concurrent
// use.
type Sketcher struct {
	sketching Sketching
	kept      Kept
	budget    *sketch.Budget
	isLarge   bool // the Sketcher has the right to fingerprint a large document
	decoder   *formats.Decoder
	maker     fingerprints.Maker
}

// NewSketcher returns a Sketcher of what kept says, with a list of stop words as the user wrote it. The list is empty if
// there is none. The error says what is wrong with the options or with the list.
func NewSketcher(s Sketching, kept Kept, stopWords string) (*Sketcher, error) {
	s, err := s.WithStopWords(stopWords)
	if err != nil {
		return nil, err
	}
	s.Options.Budget = s.newBudget()
	maker, err := s.newMaker(&kept)
	if err != nil {
		return nil, err
	}
	return &Sketcher{sketching: s, kept: kept, budget: s.Options.Budget, decoder: formats.NewDecoder(s.Wanted()), maker: maker}, nil
}

// TakeTurns makes large documents wait until no other one of the process is fingerprinted. [Portion.Sketch] gives the right back before
// the next document, and at its end. Without a limit for the memory of a document none is large.
func (s *Sketcher) TakeTurns(ctx context.Context) {
	s.budget.Await(func() error {
		err := work.BeginLarge(ctx)
		s.isLarge = err == nil
		return err
	})
}

// endLarge gives the right of a large document back. New buffers replace those that have grown with it.
func (s *Sketcher) endLarge() {
	if !s.isLarge {
		return
	}
	s.isLarge = false
	if maker, err := s.sketching.newMaker(&s.kept); err == nil { // as it was when the Sketcher was made
		s.maker = maker
	}
	runtime.GC() // before the next large document gets memory of its own
	work.EndLarge()
}

// newMaker returns a maker of the fingerprints that are kept.
func (s Sketching) newMaker(kept *Kept) (fingerprints.Maker, error) {
	kind, err := fingerprints.Of(kept.Fingerprints)
	if err != nil {
		return nil, err
	}
	return kind.New(fingerprints.Options{
		Options: s.Options, Fields: s.Fields, Scheme: kept.Scheme, Keep: kept.Of, ExcludeQuotations: kept.ExcludeQuotations,
	})
}

// Sketch returns the content of a record of a portion and its fingerprint. Both are valid until the next
// call. The error says why the record is not a document.
func (s *Sketcher) Sketch(p *Portion, position int64, raw []byte) (corpus.Record, fingerprints.Fingerprint, error) {
	content, err := s.decoder.Decode(p.File, &p.Batch, position, raw)
	if err == nil {
		err = s.sketching.fits(contentLength(content))
	}
	if err != nil {
		return corpus.Record{}, fingerprints.Fingerprint{}, err
	}
	s.budget.Begin(memoryOf(&Record{Raw: raw, Content: content}, p.Batch.Format))
	fingerprint := s.maker.Make(raw, content)
	if err := s.budget.Err(); errors.Is(err, sketch.ErrSpent) {
		return corpus.Record{}, fingerprints.Fingerprint{}, errors.New(s.sketching.spent(s.budget))
	} else if err != nil {
		return corpus.Record{}, fingerprints.Fingerprint{}, err
	}
	return content, fingerprint, nil
}
