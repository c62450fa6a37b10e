package documents

import (
	"fmt"
	"iter"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/sketch"
)

// Portion is a part of a file, whose documents are sketched one after the other.
type Portion struct {
	// File is the name of the file.
	File  string
	Batch corpus.Batch
	// Documents is how many have been sketched so far.
	Documents int64
	// Rejected records could not be read; FirstReject says which the first one was, as
	// path:position, and why.
	Rejected    int64
	FirstReject string
}

// Sketched is a document of a portion, valid until the next.
type Sketched struct {
	// Position is that of its record in the file, in bytes of text.
	Position    int64
	Record      corpus.Record
	Fingerprint sketch.Fingerprint
}

// Sketch gives the documents of a portion. It counts them, and the records that cannot be
// read: those before a document are counted when it is given.
func (p *Portion) Sketch(sketcher *Sketcher) iter.Seq[Sketched] {
	return func(yield func(Sketched) bool) {
		for _, reject := range p.Batch.Rejects {
			p.reject(reject.Position, reject.Message)
		}
		for position, line := range p.Batch.Lines() {
			if corpus.IsBlank(line) {
				continue
			}
			record, fingerprint, err := sketcher.Sketch(line)
			if err != nil {
				p.reject(position, err.Error())
				continue
			}
			p.Documents++
			if !yield(Sketched{position, record, fingerprint}) {
				return
			}
		}
	}
}

func (p *Portion) reject(position int64, fault string) {
	if p.Rejected == 0 {
		p.FirstReject = fmt.Sprintf("%s:%d: %s", p.File, position, fault)
	}
	p.Rejected++
}
