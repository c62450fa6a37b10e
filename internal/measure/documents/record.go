package documents

import (
	"mirrorbeam/internal/read/corpus"
)

// Record is one record of the input, as a source gives it: a document, or a reject or a blank in its place. It is valid
// until the source gives the next.
type Record struct {
	// File is the number of its file. Position tells the records of a file apart, and
	// ascends in it: in a file of lines it is where the line begins.
	File     int
	Position int64
	// Bytes is how much of the input the record takes; 0 if it was not read.
	Bytes int64
	// Raw is the record as it stands in the file.
	Raw []byte
	// Content is the id, and the texts or features.
	Content corpus.Record
	// Fault says why the record is no document; empty for a document.
	Fault string
	// IsEmpty says that the fault is a text that is null or missing.
	IsEmpty bool
	// IsBlank says that the record is neither a document nor a fault: a blank line, or the beginning of a line whose rest
	// a damaged stream has lost. The fault of the stream stands for that.
	IsBlank bool
	// PassedOver says why the record is no document where none was to be expected, such as "request" in a web archive; empty
	// otherwise.
	PassedOver string
}

// contentLength returns the length of the texts of a record in bytes, or the number of its
// features.
func contentLength(content corpus.Record) int64 {
	length := int64(len(content.Features))
	for _, text := range content.Texts {
		length += int64(len(text))
	}
	return length
}
