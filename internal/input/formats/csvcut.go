package formats

import (
	"mirrorbeam.dev/internal/input/corpus"
)

// csvCutter cuts stretches out of the cell of a text. It leaves the bytes of the other cells as they are.
type csvCutter struct {
	decoder *csvDecoder
	cell    []byte
}

func (c *csvCutter) Cut(b, header, record []byte, cuts []corpus.Cut) ([]byte, error) {
	found, err := c.decoder.Decode(header, record)
	if err != nil {
		return b, err
	}
	c.cell = corpus.AppendCut(c.cell[:0], found.Texts[0], cuts)
	text := c.decoder.cells[c.decoder.texts[0]]
	begin, end := text.begin, text.end
	if text.isQuoted {
		begin, end = begin-1, end+1
	}
	b = c.decoder.appendCell(append(b, record[:begin]...), string(c.cell))
	return append(b, record[end:]...), nil
}
