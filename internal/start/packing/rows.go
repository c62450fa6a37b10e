package packing

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/quoting"
	"mirrorbeam/internal/ground/storage"
)

// Rejected is a row of the rejects of [Arranging].
type Rejected struct {
	// ID is the id. The row has it as [quoting.Text] writes it.
	ID     string `json:"id" parquet:"id"`
	Reason string `json:"reason" parquet:"reason"`
}

// AppendJSON appends the row as a line of JSON.
func (r Rejected) AppendJSON(b []byte) []byte {
	b = quoting.AppendString(append(b, `{"id":`...), r.ID)
	b = quoting.AppendString(append(b, `,"reason":`...), r.Reason)
	return append(b, "}\n"...)
}

// EachRow visits the rows that a task has written to an output in a folder. R has the fields of a row, as JSON names them.
func EachRow[R any](folder work.Path, o work.Outcome, of string, visit func(R)) error {
	for _, file := range o.Files {
		if file.Output != of {
			continue
		}
		rows, err := eachLine(storage.Join(string(folder), file.Temporary), visit)
		if err == nil && rows != file.Rows {
			err = fmt.Errorf("%s has %d rows, and %d were written", file.Temporary, rows, file.Rows)
		}
		if err != nil {
			return fmt.Errorf("read rows of %s: %w", of, err)
		}
	}
	return nil
}

// EachRejected visits the documents that a task of [Arranging] has rejected.
func EachRejected(folder work.Path, o work.Outcome, visit func(Rejected)) error {
	return EachRow(folder, o, repeated, func(r Rejected) {
		visit(Rejected{quoting.Original(r.ID), r.Reason})
	})
}

// eachLine visits the values in a file of lines of JSON, and returns their number.
func eachLine[R any](path string, visit func(R)) (rows int64, err error) {
	file, err := storage.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close() // a file that was only read
	stream := file.From(0)
	defer stream.Close()
	for lines := json.NewDecoder(bufio.NewReaderSize(stream, 1<<20)); ; rows++ {
		var row R
		switch err := lines.Decode(&row); {
		case err == io.EOF:
			return rows, nil
		case err != nil:
			return rows, fmt.Errorf("%s: %w", path, err)
		}
		visit(row)
	}
}
