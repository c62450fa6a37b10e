package write

import (
	"archive/tar"
	"bytes"
	"fmt"
	"time"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/read/corpus"
)

// recordWriter writes records of an input file to a file of the same format: files that were one document each go to
// an archive of tar. The zero recordWriter has no file.
type recordWriter struct {
	input     *corpus.File
	out       output.Writer
	tar       *tar.Writer // nil but for files that are documents
	hasHeader bool
}

// reset goes on to another file.
func (w *recordWriter) reset(files Files, file output.File, input *corpus.File) error {
	if err := w.out.Reset(string(files.Partial), file, files.Format); err != nil {
		return err
	}
	w.input, w.tar, w.hasHeader = input, nil, false
	if input.Format.IsWhole() {
		w.tar = tar.NewWriter(&w.out)
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
	switch {
	case w.tar != nil:
		return w.archive(position, record)
	case w.input.Format == corpus.WARC:
		// Readers of web archives seek single records.
		if err := w.out.Row(record); err != nil {
			return err
		}
		return w.out.EndMember()
	}
	return w.out.Row(withLineFeed(record))
}

// archive writes a file. All that is not its name and content is the same in every run.
func (w *recordWriter) archive(position int64, content []byte) error {
	name, _ := w.input.Place(position)
	header := tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatPAX,
	}
	if err := w.tar.WriteHeader(&header); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if _, err := w.tar.Write(content); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return w.out.Row(nil) // counts it
}

// close finishes the file.
func (w *recordWriter) close() (output.File, error) {
	if w.tar != nil {
		if err := w.tar.Close(); err != nil {
			return output.File{}, fmt.Errorf("finish archive: %w", err)
		}
	}
	return w.out.Close()
}

// withLineFeed returns a record with a line feed at its end, which the last one of a file may lack.
func withLineFeed(record []byte) []byte {
	if bytes.HasSuffix(record, []byte("\n")) {
		return record
	}
	return append(record[:len(record):len(record)], '\n')
}
