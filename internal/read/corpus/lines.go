package corpus

import (
	"bytes"
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
// unlike a line of a corpus, cannot be used.
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

// lineEnd returns the byte that ends lines.
func lineEnd(cr bool) byte {
	if cr {
		return '\r'
	}
	return '\n'
}

// endsWithCR reports whether the lines of a text end with a carriage return alone, as old programs write them. The text is the
// beginning of a file; isEnd says that it is all of it. It is unknown if the text holds no line end yet. In lines of JSON a carriage
// return is white space, too. There it counts only between two objects.
func endsWithCR(text []byte, isEnd bool) (cr, known bool) {
	text = bytes.TrimPrefix(text, []byte(ByteOrderMark))
	isJSON := bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
	newline := bytes.IndexByte(text, '\n')
	if known = newline >= 0; known {
		text = text[:newline+1]
	}
	for at := 0; ; at++ {
		n := bytes.IndexByte(text[at:], '\r')
		if n < 0 {
			return false, known || isEnd
		}
		at += n
		switch before, after := bytes.TrimRight(text[:at], " \t\r"), bytes.TrimLeft(text[at+1:], " \t\r"); {
		case len(after) == 0:
			return !isJSON && isEnd, isEnd
		case after[0] == '\n' && len(after) == 1:
			return false, true
		case !isJSON, bytes.HasSuffix(before, []byte("}")) && after[0] == '{':
			return true, true
		default:
			at = len(text) - len(after) - 1 // behind the white space
		}
	}
}
