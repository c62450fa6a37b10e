package formats

import (
	"bytes"
	"strings"

	"mirrorbeam/internal/read/corpus"
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
	comma := c.decoder.separator.in(header)
	begin, end := cellAt(record, comma, c.decoder.texts[0])
	b = appendCell(append(b, record[:begin]...), string(c.cell), comma)
	return append(b, record[end:]...), nil
}

// cellAt returns where a cell of a record is, by its number. The record has that many.
func cellAt(record []byte, comma byte, number int) (begin, end int) {
	content := bytes.TrimRight(record, "\r\n")
	for ; ; number-- {
		end = begin
		if end < len(content) && content[end] == '"' {
			for end++; ; end += 2 { // skips a doubled quote
				end += bytes.IndexByte(content[end:], '"')
				if end+1 >= len(content) || content[end+1] != '"' {
					break
				}
			}
		}
		if next := bytes.IndexByte(content[end:], comma); next >= 0 {
			end += next
		} else {
			end = len(content)
		}
		if number == 0 || end == len(content) {
			return begin, end
		}
		begin = end + 1
	}
}

// appendCell appends a cell, in quotes where it needs them.
func appendCell(b []byte, cell string, comma byte) []byte {
	if !strings.ContainsAny(cell, "\"\r\n"+string(rune(comma))) {
		return append(b, cell...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(cell, `"`, `""`)...)
	return append(b, '"')
}
