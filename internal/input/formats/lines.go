package formats

import (
	"bytes"
	"errors"

	"mirrorbeam.dev/internal/input/corpus"
)

func init() {
	corpus.Register(corpus.Definition{
		Format:   corpus.PlainLines,
		Name:     "lines",
		Help:     "a line is a document",
		IsLines:  true,
		AllNames: true,
		Charset:  corpus.AnyCharset,
		Source:   func(l corpus.Limits, _ corpus.Wanted) corpus.Source { return corpus.NewReader(l) },
		Decoder: func(w corpus.Wanted) corpus.Decoder {
			return &lineDecoder{
				texts:  make([][]byte, max(len(w.Fields.Texts), 1)),
				others: make([][]byte, len(w.Fields.Others)),
			}
		},
		Cutter: func(corpus.Wanted) corpus.Cutter { return lineCutter{} },
	})
}

type lineDecoder struct {
	texts  [][]byte // further text fields stay empty
	others [][]byte // stay nil: a line has no fields
}

func (d *lineDecoder) Decode(_, line []byte) (corpus.Record, error) {
	if bytes.IndexByte(line, 0) >= 0 {
		return corpus.Record{}, errors.New("the line is no text: it has a zero byte")
	}
	d.texts[0] = line
	return corpus.Record{Texts: d.texts, Others: d.others}, nil
}

type lineCutter struct{}

func (lineCutter) Cut(b, _, line []byte, cuts []corpus.Cut) ([]byte, error) {
	return corpus.AppendCut(b, line, cuts), nil
}
