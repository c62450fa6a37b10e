package corpus

import (
	"bytes"
	"errors"
)

// JSONCutter cuts stretches out of the texts of objects of JSON. It leaves the bytes of all else as they are, also of
// escapes. It is not for concurrent use.
type JSONCutter struct {
	decoder *JSONDecoder
	scratch []byte
}

// NewJSONCutter returns a cutter of records with these fields. The first text is the one that is cut.
func NewJSONCutter(f Fields) *JSONCutter {
	decoder := NewJSONDecoder(Fields{Texts: f.Texts[:1]})
	decoder.keeps = true
	return &JSONCutter{decoder: decoder}
}

// Cut is as [Cutter] says.
func (c *JSONCutter) Cut(b, _, record []byte, cuts []Cut) ([]byte, error) {
	if _, err := c.decoder.Decode(record); err != nil {
		return b, err
	}
	text := &c.decoder.texts[0].field
	if text.isList && len(cuts) > 0 {
		return b, errors.New("its text is a list of strings, of which nothing can be cut: make one string of it first")
	}
	at, done := text.begin+1, int64(0) // behind the quote; how much of the text is before that
	b = append(b, record[:at]...)
	for _, cut := range cuts {
		begin := c.seek(record, at, cut.Begin-done)
		b = append(b, record[at:begin]...)
		if cut.Spaced {
			b = append(b, ' ')
		}
		at, done = c.seek(record, begin, cut.End-cut.Begin), cut.End
	}
	return append(b, record[at:]...), nil
}

// seek returns the place in a record that is behind a number of bytes of the text, from another place in the text on.
func (c *JSONCutter) seek(record []byte, at int, bytesOf int64) int {
	for bytesOf > 0 {
		if record[at] == '\\' {
			var character []byte
			character, at = c.decoder.scanner.escape(c.scratch[:0], at)
			c.scratch = character
			bytesOf -= int64(len(character))
			continue
		}
		plain := min(bytesOf, int64(len(record)-at))
		if n := bytes.IndexByte(record[at:at+int(plain)], '\\'); n >= 0 {
			plain = int64(n)
		}
		at, bytesOf = at+int(plain), bytesOf-plain
	}
	return at
}
