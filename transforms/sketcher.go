package transforms

import (
	"fmt"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/documents"
	"mirrorbeam/sketch"
)

// Sketcher turns lines into fingerprints as a job does, but outside of one. It must
// not be used by two goroutines at a time.
type Sketcher struct{ fingerprinter *fingerprinter }

// NewSketcher returns a Sketcher with the measure of a job and its list of stop
// words, empty for none. Of the job, folders and inputs are not used.
func NewSketcher(job Job, stopWords string) (*Sketcher, error) {
	stage := fingerprintFn{Job: job, inputs: &documents.Inputs{StopWords: stopWords}}
	f, err := stage.newFingerprinter()
	if err != nil {
		return nil, err
	}
	return &Sketcher{f}, nil
}

// Sketch returns the record in a line and its fingerprint, which are valid until
// the next call. The error says why the line is no document.
func (s *Sketcher) Sketch(line []byte) (corpus.Record, sketch.Fingerprint, error) {
	record, err := s.fingerprinter.decoder.Decode(line)
	if err != nil {
		return corpus.Record{}, sketch.Fingerprint{}, err
	}
	if length, limit := recordLength(record), s.fingerprinter.job.MaxDocument; length > limit {
		return corpus.Record{}, sketch.Fingerprint{}, fmt.Errorf("text of %d bytes is longer than the %d bytes that --max-document allows", length, limit)
	}
	return record, s.fingerprinter.sketch(line, record), nil
}

// LineLimit is the length of the longest line that may hold a document of the
// largest size of a job.
func LineLimit(maxDocument int64) int64 { return lineLimit(maxDocument) }
