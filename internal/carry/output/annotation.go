package output

import (
	"bytes"
	"strconv"

	"mirrorbeam/internal/ground/quoting"
)

// AnnotationFields are the fields that records of annotated have besides their own, in this order.
var AnnotationFields = []string{"cluster", "cluster_size", "kept", "kept_id"}

// Annotation is what a record of annotated says of its document. The names are texts as [Text] returns them.
type Annotation struct {
	// Cluster is the name of its cluster, empty if it is in none.
	Cluster string
	// Size is the number of documents in the cluster, 1 if it is in none.
	Size int64
	// Kept says that the document is kept.
	Kept bool
	// KeptID is the name of the document that is kept for it, empty if it is kept itself.
	KeptID string
}

// AppendObject appends a line of JSON, which is an object with fields, with the annotation at the end of the object.
// All else stays as it is. A name that is empty is null.
func (a Annotation) AppendObject(b, line []byte) []byte {
	end := bytes.LastIndexByte(line, '}')
	b = append(b, line[:end]...)
	b = append(b, `,"cluster":`...)
	b = appendName(b, a.Cluster)
	b = append(b, `,"cluster_size":`...)
	b = strconv.AppendInt(b, a.Size, 10)
	b = append(b, `,"kept":`...)
	b = strconv.AppendBool(b, a.Kept)
	b = append(b, `,"kept_id":`...)
	b = appendName(b, a.KeptID)
	return append(b, line[end:]...)
}

// appendName appends a name, or null if it is empty.
func appendName(b []byte, name string) []byte {
	if name == "" {
		return append(b, "null"...)
	}
	return quoting.AppendQuoted(b, name)
}

// AppendCells appends a record of CSV, or of a format that has another character for the comma, with the annotation
// before its line end. All else stays as it is.
func (a Annotation) AppendCells(b, record []byte, comma byte) []byte {
	return appendCells(b, record, comma, []string{a.Cluster, strconv.FormatInt(a.Size, 10), strconv.FormatBool(a.Kept), a.KeptID})
}

// AppendHeader appends the record of CSV that names the fields, with [AnnotationFields] before its line end.
func AppendHeader(b, header []byte, comma byte) []byte {
	return appendCells(b, header, comma, AnnotationFields)
}

// appendCells appends a record with more cells.
func appendCells(b, record []byte, comma byte, cells []string) []byte {
	content := bytes.TrimRight(record, "\r\n")
	b = append(b, content...)
	for _, cell := range cells {
		b = append(b, comma)
		b = appendCell(b, cell, comma)
	}
	return append(b, record[len(content):]...)
}

// appendCell appends a cell, in quotes where it needs them.
func appendCell(b []byte, cell string, comma byte) []byte {
	special := func(i int) bool { return cell[i] == comma || cell[i] == '"' || cell[i] == '\n' || cell[i] == '\r' }
	isPlain := true
	for i := range len(cell) {
		isPlain = isPlain && !special(i)
	}
	if isPlain {
		return append(b, cell...)
	}
	b = append(b, '"')
	for i := range len(cell) {
		if cell[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, cell[i])
	}
	return append(b, '"')
}
