package write

import (
	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
)

// Files says where output files are written, and how.
type Files struct {
	// Partial is the folder of output files that are not published yet.
	Partial work.Path
	Format  output.Format
}

// Name describes one file of an output, before it is written.
func (f Files) Name(of string, shard, shards int) output.File {
	return output.File{Name: output.ShardName(of, shard, shards, f.Format), Output: of}
}

// writeRows makes one output file of the rows that write passes to its row function.
func writeRows[T any](f Files, file output.File, write func(row func(T) error) error) (output.File, error) {
	rows, err := output.NewRows[T](string(f.Partial), file, f.Format)
	return finish(rows, err, write)
}

// finish writes the rows of a file, unless an error says that it cannot be made.
func finish[T any](rows *output.Rows[T], err error, write func(row func(T) error) error) (output.File, error) {
	if err != nil {
		return output.File{}, err
	}
	defer rows.Abort()
	if err := write(rows.Write); err != nil {
		return output.File{}, err
	}
	return rows.Close()
}

// Write makes one output file of the rows that write passes to its row function, and notes it in the outcome of a task.
func Write[T any](f Files, file output.File, w *work.Desk, write func(row func(T) error) error) error {
	file, err := writeRows(f, file, write)
	if err != nil {
		return err
	}
	w.Figures.Bytes += file.Bytes
	w.Outcome.Files = append(w.Outcome.Files, file)
	return nil
}

// splitsOf returns the range of splits whose documents the task of an output shard writes.
func splitsOf(t work.Task, splits int) (first, end int) {
	return t.Number * splits / t.Shards, (t.Number + 1) * splits / t.Shards
}

// eachSplit visits splits of a catalog one after the other, each with a desk of its own.
func eachSplit(catalog string, first, end int, m *work.Memory, visit func(*work.Desk) error) error {
	for split := first; split < end; split++ {
		pieces, err := runfile.ReadCatalog(catalog, split)
		if err != nil {
			return err
		}
		w := &work.Desk{Memory: m, Pieces: pieces}
		err = visit(w)
		w.Reader.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
