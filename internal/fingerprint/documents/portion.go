package documents

import (
	"errors"
	"fmt"
	"iter"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/sketch"
)

// Portion is a part of a file. Its documents are sketched one after the other.
type Portion struct {
	// File is the file. For a stream it is a stand-in.
	File      *corpus.File
	Batch     corpus.Batch
	Documents int64
	// Rejected counts the records that could not be read. FirstReject names the first of them as
	// path:position, with its fault.
	Rejected    int64
	FirstReject string
}

// Sketched is a document of a portion. It is valid until the next one.
type Sketched struct {
	Position    int64
	Record      corpus.Record
	Fingerprint sketch.Fingerprint
}

// Sketch yields the documents of a portion. It counts them, and the records that cannot be read. Unreadable records
// before a document are counted when the document is yielded.
func (p *Portion) Sketch(sketcher *Sketcher) iter.Seq[Sketched] {
	return func(yield func(Sketched) bool) {
		defer sketcher.endLarge()
		for _, reject := range p.Batch.Rejects {
			p.reject(reject.Position, reject.Message)
		}
		for position, raw := range p.Batch.Records() {
			if p.Batch.IsBlank(raw) {
				continue
			}
			sketcher.endLarge()
			record, fingerprint, err := sketcher.Sketch(p, position, raw)
			if _, is := errors.AsType[corpus.PassedOver](err); is {
				continue
			}
			if err != nil && p.Batch.IsCut {
				continue // the reject of the stream stands for it
			}
			if err != nil {
				p.reject(position, err.Error())
				continue
			}
			p.Documents++
			if !yield(Sketched{position, record, fingerprint.Fingerprint}) {
				return
			}
		}
	}
}

func (p *Portion) reject(position int64, fault string) {
	if p.Rejected == 0 {
		name, inFile := p.File.Place(position)
		p.FirstReject = fmt.Sprintf("%s:%d: %s", name, inFile, fault)
	}
	p.Rejected++
}
