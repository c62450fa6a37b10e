package formats

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"mirrorbeam/internal/read/corpus"
)

// csvAnnotator adds cells before the line end of a record.
type csvAnnotator struct{ comma byte }

func (c csvAnnotator) Clash(header, _ []byte) string {
	names, _ := newCSVDecoder(corpus.Wanted{}, c.comma).read(header) // an unreadable header has no names
	for _, name := range corpus.AnnotationFields {
		if slices.Contains(names, name) {
			return name
		}
	}
	return ""
}

func (c csvAnnotator) Header(b, header []byte) []byte {
	return c.append(b, header, corpus.AnnotationFields)
}

func (c csvAnnotator) Record(b, record []byte, a corpus.Annotation) []byte {
	return c.append(b, record, []string{a.Cluster, strconv.FormatInt(a.Size, 10), strconv.FormatBool(a.Kept), a.KeptID})
}

// append appends a record with more cells.
func (c csvAnnotator) append(b, record []byte, cells []string) []byte {
	content := bytes.TrimRight(record, "\r\n")
	b = append(b, content...)
	for _, cell := range cells {
		b = append(b, c.comma)
		b = c.appendCell(b, cell)
	}
	return append(b, record[len(content):]...)
}

// appendCell appends a cell, in quotes where it needs them.
func (c csvAnnotator) appendCell(b []byte, cell string) []byte {
	if !strings.ContainsAny(cell, "\"\r\n"+string(c.comma)) {
		return append(b, cell...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(cell, `"`, `""`)...)
	return append(b, '"')
}
