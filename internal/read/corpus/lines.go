package corpus

import (
	"context"
	"fmt"
	"io"
	"iter"

	"mirrorbeam/internal/ground/storage"
)

// longestLine bounds the lines of [Lines]. Longer ones are not lines of text.
const longestLine = 1 << 30

// Lines yields the lines of one file without their line ends. The file may be plain, gzip or zstd, whatever
// its name. A line is valid until the next. An error comes last, with a nil line. It may be a fault of the
// file, a failure to read it, or the end of the context. A fault is an error because the rest of such a file,
// unlike that of a corpus, cannot be used.
func Lines(ctx context.Context, path string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		more := true
		err := eachBatch(ctx, path, func(batch Batch) bool {
			for _, line := range batch.Lines() {
				if more = yield(line, nil); !more {
					break
				}
			}
			return more
		})
		if err != nil && more {
			yield(nil, fmt.Errorf("read %s: %w", path, err))
		}
	}
}

// eachBatch visits the batches of one file until visit returns false.
func eachBatch(ctx context.Context, path string, visit func(Batch) bool) error {
	file := File{Path: storage.Clean(path)}
	if err := inspect(&file, JSONLines.String()); err != nil {
		return err
	}
	reader, err := Open(file, Stretch{End: file.Size}, Limits{Line: longestLine})
	if err != nil {
		return err
	}
	defer reader.Close()
	var batch Batch
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if batch, err = reader.Next(batch.Data); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for _, reject := range batch.Rejects {
			if !reject.Warning {
				return fmt.Errorf("at byte %d: %s", reject.Position, reject.Message)
			}
		}
		if !visit(batch) {
			return nil
		}
	}
}
