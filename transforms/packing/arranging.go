package packing

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/work"
)

// The outputs of the stage.
const (
	arranged = "documents" // the documents of a range, in the order of their ids
	Repeated = "repeated"  // rejects: documents that have the id of another one
)

// Arranging writes the documents of a range of ids to a file, in the order of the ids. Of documents with one id the
// file has the one whose text comes first. The others are rejects.
type Arranging struct {
	Folder work.Path
}

// Delivery says what the tasks get.
func (Arranging) Delivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.Texts}}
}

// Task writes the file of a range.
func (a *Arranging) Task(_ context.Context, t work.Task, w *work.TaskContext) error {
	packed, err := w.Read(0, records.Texts)
	if err != nil {
		return err
	}
	texts := slices.SortedFunc(records.All[records.Text](packed), func(a, b records.Text) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Text, b.Text))
	})
	hasID := func(a, b records.Text) bool { return a.ID == b.ID }
	file, err := a.write(t.Number, slices.CompactFunc(slices.Clone(texts), hasID))
	if err != nil {
		return fmt.Errorf("arrange documents: %w", err)
	}
	w.Figures.Records, w.Figures.Bytes = file.Rows, file.Bytes
	w.Outcome.Files = append(w.Outcome.Files, file)
	if int(file.Rows) == len(texts) {
		return nil
	}
	files := write.Files{Partial: a.Folder, Format: output.JSONL}
	of := output.File{Name: Repeated, Output: Repeated}
	return write.Write(files, of, output.Names{}, w, func(row func(Rejected) error) error {
		for i := 1; i < len(texts); i++ {
			if !hasID(texts[i-1], texts[i]) {
				continue
			}
			if err := row(Rejected{quoting.Text(texts[i].ID), "another document has the same id"}); err != nil {
				return err
			}
		}
		return nil
	})
}

// write writes documents to a file as lines of JSON. The name of the file begins with the number of the range.
func (a *Arranging) write(number int, texts []records.Text) (output.File, error) {
	file := output.File{
		Name:   fmt.Sprintf("%s-%05d-%s.jsonl", arranged, number, rand.Text()),
		Output: arranged,
		Rows:   int64(len(texts)),
	}
	out, err := storage.Create(storage.Join(string(a.Folder), file.Name))
	if err != nil {
		return file, err
	}
	defer out.Abort()
	buffered := bufio.NewWriterSize(out, 1<<20)
	var line []byte
	for _, one := range texts {
		line = append(line[:0], `{"id":`...)
		line = appendString(line, one.ID)
		line = appendString(append(line, `,"text":`...), one.Text)
		line = append(line, "}\n"...)
		file.Bytes += int64(len(line))
		if _, err := buffered.Write(line); err != nil {
			return file, err
		}
	}
	if err := buffered.Flush(); err != nil {
		return file, err
	}
	return file, out.Commit()
}

// appendString appends a JSON string. The stage that reads texts judges bytes that are not valid UTF-8.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// Rejected is a row of the rejects of [Arranging].
type Rejected struct {
	// ID is the id. The row has it as [quoting.Text] writes it.
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// AppendJSON appends the row as a line of JSON.
func (r Rejected) AppendJSON(b []byte, _ output.Names) []byte {
	b = quoting.AppendQuoted(append(b, `{"id":`...), r.ID)
	return append(quoting.AppendQuoted(append(b, `,"reason":`...), r.Reason), "}\n"...)
}

// EachRow visits the rows that a task has written to an output in a folder.
func EachRow[R any](ctx context.Context, folder work.Path, o work.Outcome, of string, visit func(R)) error {
	for _, file := range o.Files {
		if file.Output != of {
			continue
		}
		rows := int64(0)
		for row, err := range output.Read[R](ctx, storage.Join(string(folder), file.Temporary), of, nil) {
			if err != nil {
				return err
			}
			visit(row)
			rows++
		}
		if rows != file.Rows {
			return fmt.Errorf("read rows of %s: %s has %d rows, and %d were written", of, file.Temporary, rows,
				file.Rows)
		}
	}
	return nil
}
