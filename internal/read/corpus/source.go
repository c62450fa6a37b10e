// Package corpus reads documents out of JSONL files. It lists the files of a corpus and cuts them into
// splits. It reads a split as batches of whole lines, and takes the id and the text out of each line.
//
//	listing, err := corpus.List(ctx, inputs, nil)
//	files := listing.Files
//	for _, split := range corpus.Splits(files, 64<<20) {
//		for _, stretch := range split {
//			reader, err := corpus.Open(files[stretch.File], stretch, limits)
//			for {
//				batch, err := reader.Next(buffer)   // io.EOF at the end
//				for position, line := range batch.Lines() {
//					record, err := decoder.Decode(line)
//				}
//			}
//		}
//	}
//
// # Nothing is lost in silence
//
// Each byte of a corpus is either in a line that a [Reader] hands out, or in a [Reject] that says why it is
// not. Faults of the data are rejects: a line that is too long, or a compressed stream that is cut short.
// Reading goes on wherever it can. Faults of the machine are errors: a file that vanished, a read error, or a
// file that shrank while the job ran. An answer from whatever happened to be readable would be wrong.
//
// # Positions
//
// A position is the offset of the first byte of a line in the decoded stream of its file, counted from 0. It
// is the same for a plain file and for its compressed copies. It does not depend on how files are cut into
// stretches.
package corpus

// Source reads the records of one stretch at a time as batches. It is not for concurrent use.
type Source interface {
	// Reset goes on to another stretch, perhaps of another file of the same format. It keeps buffers and
	// decoders: then small files cost little.
	Reset(file File, s Stretch) error

	// Next reads the next batch into the buffer, or into a larger one if the buffer is too small. Give it the
	// Data of an earlier batch that is no longer used. The batch is never empty. The error is io.EOF at the
	// end of the stretch. Any other error is a failure to read the file.
	Next(buffer []byte) (Batch, error)

	// Close closes the file and frees the decoders. The source cannot be used again. Closing it twice does no
	// harm.
	Close() error
}

// Decoder takes documents out of the records of one format. It is not for concurrent use.
type Decoder interface {
	// Decode reads one record of a batch with the given header. The error says in a few words why the record
	// is not a document. Its reader knows the file and position already. The error is a [PassedOver] if no
	// document was to be expected there; the Record may have Others then. It is valid until the next call.
	Decode(header, record []byte) (Record, error)
}

// MissingField is the error of a record that does not have the wanted fields.
type MissingField string

// Error says which field is missing.
func (m MissingField) Error() string { return string(m) }

// NoText is the error of a record that has the wanted field, and null in it.
type NoText string

// Error says which field is null.
func (n NoText) Error() string { return string(n) }

// PassedOver says why a record is neither a document nor a fault, such as "request" in a web archive.
type PassedOver string

// Error returns the reason.
func (p PassedOver) Error() string { return string(p) }
