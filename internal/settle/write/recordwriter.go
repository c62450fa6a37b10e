package write

import (
	"bytes"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/read/corpus"
)

// recordWriter writes records of an input file to a file of the same format. The zero recordWriter has no file.
type recordWriter struct {
	input     *corpus.File
	out       output.Writer
	records   corpus.RecordWriter
	hasHeader bool
}

func (w *recordWriter) reset(files Files, file output.File, input *corpus.File) error {
	if err := w.out.Reset(string(files.Partial), file, files.Format); err != nil {
		return err
	}
	w.input, w.records, w.hasHeader = input, rows{&w.out}, false
	if writer := input.Format.Definition().Writer; writer != nil {
		w.records = writer(&w.out)
	}
	return nil
}

// header writes the record that names the fields, once in a file.
func (w *recordWriter) header(header []byte) error {
	if w.hasHeader || len(header) == 0 {
		return nil
	}
	w.hasHeader = true
	_, err := w.out.Write(withLineFeed(header))
	return err
}

// record writes one record as it stands in the input.
func (w *recordWriter) record(position int64, record []byte) error {
	name, _ := w.input.Place(position)
	return w.records.Write(name, record)
}

func (w *recordWriter) close() (output.File, error) {
	if err := w.records.Close(); err != nil {
		return output.File{}, err
	}
	return w.out.Close()
}

// rows writes each record as a row.
type rows struct{ out *output.Writer }

func (r rows) Write(_ string, record []byte) error { return r.out.Row(withLineFeed(record)) }

func (rows) Close() error { return nil }

// withLineFeed returns a record with a line feed at its end, which the last one of a file may lack.
func withLineFeed(record []byte) []byte {
	if bytes.HasSuffix(record, []byte("\n")) {
		return record
	}
	return append(record[:len(record):len(record)], '\n')
}
