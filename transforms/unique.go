package transforms

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&uniqueFn{})
}

// unique writes the records that stay, byte for byte, a file for each input
// file. It reads the input again, which is cheaper than to keep it.
func unique(s beam.Scope, job Job, written, sketches beam.PCollection) beam.PCollection {
	tasks := exchange(s, job, work.Delivery{Shards: max(job.Splits, 1), Extra: []runfile.Kind{records.Documents, records.Removed, records.Sums}}, written, sketches)
	return sideBySide(s, &uniqueFn{Job: job, bundle: newBundle(job)}, tasks)
}

type uniqueFn struct {
	Job Job

	bundle

	inputs *documents.Inputs // read in Setup
}

func (f *uniqueFn) Setup() (err error) {
	f.inputs, err = documents.OpenInputs(f.Job.Inputs)
	return err
}

func (f *uniqueFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, writeStage, element, func(ctx context.Context, t work.Task, w *work.Place) error {
		starts, err := f.inputs.SplitStarts()
		if err != nil {
			return err
		}
		c := &copier{ctx: ctx, job: f.Job, files: f.inputs.Files, staying: newStaying(f.inputs.Splits, t, w.Memory)}
		defer c.close()
		from, to := f.inputs.FilesOf(t.Number, starts)
		for number := max(from, f.inputs.References()); number < to; number++ {
			file, err := c.file(number, f.inputs.References())
			if err != nil {
				return err
			}
			w.Outcome.Files = append(w.Outcome.Files, file)
		}
		return nil
	})
}

// copier copies the records that stay of one input file after the other. What it
// works in goes from file to file, as there may be a hundred thousand of them.
type copier struct {
	ctx     context.Context // of the task
	job     Job
	files   []corpus.File
	staying *staying
	reader  *corpus.Reader // nil before the first file
	buffer  []byte
	holds   bool // the right to hold a long line, which is in buffer
	writer  output.Writer
}

// file copies the records of one input file that stay.
func (c *copier) file(number, references int) (output.File, error) {
	file := output.File{
		Name:   output.ShardName(output.Unique, number-references, len(c.files)-references, c.job.Format),
		Output: output.Unique, Input: c.files[number].Path,
	}
	if err := c.writer.Reset(c.job.Partial, file, c.job.Format); err != nil {
		return output.File{}, err
	}
	for {
		stretch, sum, err := c.staying.next(number)
		if errors.Is(err, io.EOF) {
			return c.writer.Close()
		}
		if err == nil {
			err = c.stretch(stretch, sum)
		}
		if err != nil {
			return output.File{}, err
		}
	}
}

// stretch copies the records of a stretch, which must have the sum that it had
// when it was read first.
func (c *copier) stretch(stretch corpus.Stretch, want documents.StretchSum) error {
	if err := c.open(stretch); err != nil {
		return work.NewInputError(err)
	}
	var sum documents.StretchSum
	for {
		batch, err := c.reader.Next(c.buffer)
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return work.NewInputError(err)
		}
		c.buffer = batch.Data
		sum.Add(batch)
		if err := c.batch(batch); err != nil {
			return err
		}
		if c.release(); c.ctx.Err() != nil {
			return c.ctx.Err()
		}
	}
	if sum != want {
		return work.NewInputError(fmt.Errorf("read input %s: the file changed while the job ran: its bytes %d to %d do not give what they gave when they were read first", c.files[stretch.File].Path, stretch.Start, stretch.End))
	}
	return nil
}

// open begins to read a stretch.
func (c *copier) open(stretch corpus.Stretch) (err error) {
	if c.reader != nil {
		return c.reader.Reset(c.files[stretch.File], stretch)
	}
	limits := corpus.Limits{Line: lineLimit(c.job.MaxDocument), Window: c.job.WindowBytes, Hold: c.hold}
	c.reader, err = corpus.Open(c.files[stretch.File], stretch, limits)
	return err
}

// hold waits for the right to hold a long line.
func (c *copier) hold() error {
	err := documents.HoldLongLine(c.ctx)
	c.holds = err == nil
	return err
}

// release gives the right back.
func (c *copier) release() {
	if c.holds {
		c.buffer, c.holds = nil, false
		documents.ReleaseLongLine()
	}
}

// batch copies the records of a batch.
func (c *copier) batch(batch corpus.Batch) error {
	end := batch.Offset + int64(len(batch.Data))
	for {
		position, found, err := c.staying.before(batch.File, end)
		if err != nil || !found {
			return err
		}
		if position < batch.Offset {
			continue // the file has changed, as its check sum will say
		}
		record := batch.Data[position-batch.Offset:]
		if n := bytes.IndexByte(record, '\n'); n >= 0 {
			record = record[:n+1]
		} else {
			// The last line of a file may lack its line feed.
			record = append(record, '\n')
		}
		if err := c.writer.Row(record); err != nil {
			return err
		}
	}
}

// close frees what the copier works in.
func (c *copier) close() {
	c.release()
	c.writer.Abort()
	c.staying.Reader.Close()
	if c.reader != nil {
		c.reader.Close() // a file that was only read
	}
}
