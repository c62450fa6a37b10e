package corpus

// Source reads the records of one stretch at a time as batches. It is not for
// concurrent use.
type Source interface {
	// Reset goes on to another stretch, which may be of another file of the same format. It keeps buffers and
	// decoders, so that many small files cost little.
	Reset(file File, s Stretch) error

	// Next reads the next batch into the buffer, or into a larger one where the
	// buffer is too small: give the Data of a batch back when it has been used.
	// The batch is never empty. The error is io.EOF at the end of the stretch;
	// any other is a failure to read the file.
	Next(buffer []byte) (Batch, error)

	// Close closes the file and frees the decoders. The source cannot be used
	// again; closing it twice does no harm.
	Close() error
}

// Decoder takes documents out of the records of one format. It is not for concurrent use.
type Decoder interface {
	// Decode reads one record of a batch with that header. The error says in a few words why the record is no
	// document, for a reader who knows its file and position. It is a [PassedOver] if none was to be expected there.
	// The Record is valid until the next call.
	Decode(header, record []byte) (Record, error)
}

// MissingField is the error of a record that does not have the wanted fields.
type MissingField string

// Error says which field is missing.
func (m MissingField) Error() string { return string(m) }

// PassedOver says why a record is not a document, and no fault either, such as "request" in a web archive.
type PassedOver string

// Error returns the reason.
func (p PassedOver) Error() string { return string(p) }
