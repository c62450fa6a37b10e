package packing

import (
	"context"
	"fmt"

	"mirrorbeam/internal/carry/output"
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
			return fmt.Errorf("read rows of %s: %s has %d rows, and %d were written", of, file.Temporary, rows, file.Rows)
		}
	}
	return nil
}

// EachRejected visits the documents that a task of [Arranging] has rejected.
func EachRejected(ctx context.Context, folder work.Path, o work.Outcome, visit func(Rejected)) error {
	return EachRow(ctx, folder, o, repeated, func(r Rejected) {
		visit(Rejected{quoting.Original(r.ID), r.Reason})
	})
}
