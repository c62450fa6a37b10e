package documents

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"

	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/util/panics"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/sketch"
)

// Reading says how records are read.
type Reading struct {
	Fields corpus.Fields
	// Records is as in [corpus.Wanted].
	Records string `json:",omitempty"`
	// MaxDocument is the length of the longest document: the bytes of all its texts, or the number of its features.
	MaxDocument int64
	// DocumentBytes is how much memory a document may take; 0 stands for no limit. One that takes more is a reject.
	DocumentBytes int64 `json:",omitempty"`
	// MaxExpanded bounds the bytes to which all compressed files together may expand; 0: no limit. More is an error.
	MaxExpanded int64 `json:",omitempty"`
	// TextForm says how texts in fields are written; empty stands for [webtext.Plain].
	TextForm webtext.Form `json:",omitempty"`
	PageText webtext.Mode
	// AsShown is as in [corpus.Wanted].
	AsShown bool `json:",omitempty"`
	// Dialect and Charset are as in [corpus.Wanted].
	Dialect corpus.Dialect `json:",omitzero"`
	Charset string         `json:",omitempty"`
	// WindowBytes is the largest window of a zstd file that is read, in bytes. 0 stands for [corpus.DefaultWindow].
	WindowBytes int64
}

// LineLimits returns the limits of a reader that never waits. The longest line may hold the largest document, at six
// bytes of JSON for a byte of text, and is no longer than the memory of a document.
func (r Reading) LineLimits() corpus.Limits {
	limits := corpus.Limits{Line: 6*r.MaxDocument + 1<<20, Window: r.WindowBytes, Memory: r.DocumentBytes}
	if 0 < r.DocumentBytes && r.DocumentBytes < limits.Line {
		limits.Line, limits.IsOfMemory = r.DocumentBytes, true
	}
	return limits
}

// Limits returns the limits of a reader that waits for large windows and long lines, see [corpus.Limits].
func (r Reading) Limits(hold func() error, holdWindow func() (func(), error)) corpus.Limits {
	limits := r.LineLimits()
	limits.Hold, limits.HoldWindow = hold, holdWindow
	return limits
}

// Wanted says what is wanted of records.
func (r Reading) Wanted() corpus.Wanted {
	return corpus.Wanted{
		Fields:      r.Fields,
		Records:     r.Records,
		TextForm:    r.TextForm,
		PageText:    r.PageText,
		AsShown:     r.AsShown,
		MaxDocument: r.MaxDocument,
		MaxFeatures: int(r.DocumentBytes / featureBytes),
		Dialect:     r.Dialect,
		Charset:     r.Charset,
	}
}

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

// WithStopWords returns the options with a list of stop words, as the user wrote it, empty for none.
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

// WithIgnored returns the options with shingles that do not count, packed as in [Inputs]; packed may be empty.
func (s Sketching) WithIgnored(packed []byte) (_ Sketching, err error) {
	if len(packed) == 0 {
		return s, nil
	}
	s.Options.Ignored, err = SharedShingles(packed)
	return s, err
}

// SharedShingles returns shingles that do not count, packed as in [Inputs]. The process holds each list once.
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

// Sketcher makes the fingerprints of a job from single records, outside of a job. It is not for concurrent use.
type Sketcher struct {
	making
	decoder *formats.Decoder
}

// NewSketcher returns a Sketcher of what kept says, with a list of stop words as the user wrote it. The list is empty
// if there is none. The error says what is wrong with the options or with the list.
func NewSketcher(s Sketching, kept Kept, stopWords string) (*Sketcher, error) {
	s, err := s.WithStopWords(stopWords)
	if err != nil {
		return nil, err
	}
	making, err := newMaking(s, kept)
	if err != nil {
		return nil, err
	}
	return &Sketcher{making, formats.NewDecoder(s.Wanted())}, nil
}

// TakeTurns makes large documents wait until no other one of the process is fingerprinted. [Portion.Sketch] gives the
// right back before the next document, and at its end. Without a limit for the memory of a document none is large.
func (s *Sketcher) TakeTurns(ctx context.Context) {
	s.takeTurns(func() error { return work.BeginLarge(ctx) })
}

// endLarge gives the right of a large document back. New buffers replace those that have grown with it.
func (s *Sketcher) endLarge() {
	if !s.isLarge {
		return
	}
	s.renew()    // without an error, as when the Sketcher was made
	runtime.GC() // before the next large document gets memory of its own
	s.making.endLarge()
}

// making makes fingerprints, within the memory that a document may take.
type making struct {
	sketching Sketching
	kept      Kept
	budget    *sketch.Budget // nil: no limit
	isLarge   bool           // it has the right to fingerprint a large document
	maker     fingerprints.Maker
}

func newMaking(s Sketching, kept Kept) (making, error) {
	s.Options.Budget = s.newBudget()
	m := making{sketching: s, kept: kept, budget: s.Options.Budget}
	return m, m.renew()
}

// renew makes new buffers. The old ones have grown with the largest document.
func (m *making) renew() error {
	kind, err := fingerprints.Of(m.kept.Fingerprints)
	if err == nil {
		m.maker, err = kind.New(fingerprints.Options{
			Options:           m.sketching.Options,
			Fields:            m.sketching.Fields,
			Scheme:            m.kept.Scheme,
			Keep:              m.kept.Of,
			ExcludeQuotations: m.kept.ExcludeQuotations,
		})
	}
	return err
}

func (m *making) takeTurns(begin func() error) {
	m.budget.Await(func() error {
		err := begin()
		m.isLarge = err == nil
		return err
	})
}

func (m *making) endLarge() {
	if m.isLarge {
		m.isLarge = false
		work.EndLarge()
	}
}

// fingerprinted is the step of a panic over a fingerprint, see [panics.Over].
const fingerprinted = "fingerprinted"

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
	var fingerprint fingerprints.Fingerprint
	err = panics.Over(fingerprinted, func() error {
		fingerprint = s.maker.Make(raw, content)
		return s.budget.Err()
	})
	if panics.Of(err) != nil {
		s.renew() // without an error, as when the Sketcher was made
	}
	if errors.Is(err, sketch.ErrSpent) {
		return corpus.Record{}, fingerprints.Fingerprint{}, errors.New(s.sketching.spent(s.budget))
	} else if err != nil {
		return corpus.Record{}, fingerprints.Fingerprint{}, err
	}
	return content, fingerprint, nil
}

// part is a part of the input on its way from the reader of a split to the goroutine that takes the records out of it.
type part struct {
	batches []corpus.Batch
	text    []byte // text of the batches
	holds   bool   // the right to hold a long line
}

// keepBytes is the largest text whose memory is reused.
const keepBytes = 8 << 20

func (l *part) reset() {
	if cap(l.text) > keepBytes {
		l.text = nil
	}
	l.text, l.batches = l.text[:0], l.batches[:0]
}

// release frees the text if it holds a long line. It is called when nobody will ask for the records any more.
func (l *part) release() {
	if !l.holds {
		return
	}
	l.text, l.batches, l.holds = nil, nil, false
	ReleaseLongLine()
}

// recordDecoder takes the records out of parts of the input. It is not for concurrent use.
type recordDecoder struct {
	files   []corpus.File
	decoder *formats.Decoder
	record  Record
}

func newRecordDecoder(files []corpus.File, wanted corpus.Wanted) *recordDecoder {
	return &recordDecoder{files: files, decoder: formats.NewDecoder(wanted)}
}

// records yields the records of a portion, and the rejects between them, in the order of the input.
func (d *recordDecoder) records(l *part) iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		for _, batch := range l.batches {
			rejects := batch.Rejects // in the order of the file, as the records are
			for position, record := range batch.Records() {
				for ; len(rejects) > 0 && rejects[0].Position < position; rejects = rejects[1:] {
					if !yield(d.unread(batch.File, rejects[0])) {
						return
					}
				}
				if !yield(d.read(&batch, position, record)) {
					return
				}
			}
			for _, reject := range rejects {
				if !yield(d.unread(batch.File, reject)) {
					return
				}
			}
		}
	}
}

func (d *recordDecoder) read(batch *corpus.Batch, position int64, raw []byte) *Record {
	d.record = Record{File: batch.File, Position: position, Bytes: int64(len(raw)), Raw: raw}
	if d.record.IsBlank = batch.IsBlank(raw); d.record.IsBlank {
		return &d.record
	}
	content, err := d.decoder.Decode(&d.files[batch.File], batch, position, raw)
	d.record.Content, d.record.Panic = content, panics.Of(err)
	if reason, is := errors.AsType[corpus.PassedOver](err); is {
		d.record.PassedOver = string(reason)
	} else if err != nil && batch.IsCut {
		d.record.IsBlank = true
	} else if err != nil {
		d.record.Fault, d.record.IsEmpty = err.Error(), isEmpty(err)
		d.record.Damage = isCutShort(batch, raw, err)
	}
	return &d.record
}

// isCutShort reports whether the file ends within an object of JSON, or a record of CSV.
func isCutShort(batch *corpus.Batch, raw []byte, err error) bool {
	const end = "\n"
	if !bytes.HasSuffix(batch.Data, raw) || bytes.HasSuffix(raw, []byte(end)) {
		return false
	}
	return batch.Format.Definition().IsTable && !isEmpty(err) || strings.Contains(err.Error(), " at the end of ")
}

// isEmpty reports whether a record is no document since it has no text.
func isEmpty(err error) bool {
	return errors.As(err, new(corpus.MissingField)) || errors.As(err, new(corpus.NoText))
}

// unread returns the record that stands for a reject, a part of a file that the reader could not use.
func (d *recordDecoder) unread(file int, reject corpus.Reject) *Record {
	d.record = Record{File: file, Position: reject.Position, Fault: reject.Message, Damage: reject.Damage}
	return &d.record
}

// Record is one record of the input, as a source gives it: a document, or a reject or a blank in its place. It is valid
// until the source gives the next.
type Record struct {
	// File is the number of its file. Position tells the records of a file apart, and
	// ascends in it: in a file of lines it is where the line begins.
	File     int
	Position int64
	// Bytes is how much of the input the record takes; 0 if it was not read.
	Bytes int64
	// Raw is the record as it is in the file.
	Raw []byte
	// Content is the id, and the texts or features.
	Content corpus.Record
	// Fault says why the record is no document; empty for a document.
	Fault string
	// Panic is the panic that the fault is; nil if it is none.
	Panic *panics.Error
	// IsEmpty says that the fault is a null or missing text, Damage that the file is damaged or cut short there.
	IsEmpty, Damage bool
	// IsBlank says that the record is neither a document nor a fault: a blank line, or the beginning of a line whose
	// rest a damaged stream has lost. The fault of the stream stands for that.
	IsBlank bool
	// PassedOver says why no document was to be expected, such as "request" in a web archive; empty otherwise.
	PassedOver string
}

// CaptureOf returns from where and when a web archive fetched a record, as texts of rows; empty if unknown.
func CaptureOf(r *corpus.Record) (url, date string) {
	at := records.CaptureOf(records.AppendCapture(nil, r.URL, r.Date, nil))
	return at.URL, at.Date
}

// contentLength returns the length of the texts of a record in bytes, or the number of its features.
func contentLength(content corpus.Record) int64 {
	length := int64(len(content.Features))
	for _, text := range content.Texts {
		length += int64(len(text))
	}
	return length
}
