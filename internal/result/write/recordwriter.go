package write

import (
	"bytes"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/quoting"
)

// recordWriter writes records of an input file to a file of the same format, or each to a file of its own. The zero
// recordWriter has no file.
type recordWriter struct {
	input     *corpus.File
	out       output.Writer
	records   corpus.RecordWriter // nil if each has a file of its own
	hasHeader bool

	folder, of string        // where files of records go, and the output that they are of
	separated  []output.File // the files of records
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

// separate begins the copy of a group of files that are one document each. Each record gets a file with the name of its
// file in the group.
func (w *recordWriter) separate(folder, of string, input *corpus.File) {
	w.input, w.records, w.hasHeader = input, nil, false
	w.folder, w.of, w.separated = folder, of, nil
}

func (w *recordWriter) header(header []byte) error {
	if w.hasHeader || len(header) == 0 {
		return nil
	}
	w.hasHeader = true
	_, err := w.out.Write(withLineFeed(header))
	return err
}

func (w *recordWriter) record(position int64, record []byte) error {
	if w.records == nil {
		return w.file(w.input.At(position), record)
	}
	name, _ := w.input.Place(position)
	return w.records.Write(name, record)
}

func (w *recordWriter) file(of *corpus.File, record []byte) error {
	file := output.File{Name: output.TreeName(w.of, of.CopyName()), Output: w.of, Input: quoting.Text(of.Path)}
	if err := w.out.Reset(w.folder, file, output.Format(of.Format.String()+of.CopySuffix())); err != nil {
		return err
	}
	err := w.out.Row(record)
	if err == nil {
		file, err = w.out.Close()
	}
	w.separated = append(w.separated, file)
	return err
}

func (w *recordWriter) close() ([]output.File, error) {
	if w.records == nil {
		return w.separated, nil
	}
	if err := w.records.Close(); err != nil {
		return nil, err
	}
	file, err := w.out.Close()
	return []output.File{file}, err
}

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
