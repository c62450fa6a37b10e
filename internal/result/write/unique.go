package write

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/panics"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/work"
)

// Unique writes the kept records, byte for byte, one file for each input file, in its format and compression. It reads
// the input again, which is cheaper than keeping it. Files that are one document each come in archives, or in a
// [output.Tree] as they are.
//
// Of [output.Annotated] it writes the records of all documents, each with its annotation; of [output.Trimmed] it writes
// the records without what is cut from their texts. With Columns the kept records have these.
type Unique struct {
	// Output is one of [output.Copies].
	Output string
	// Columns are the columns of the copies, see [corpus.ColumnsNamed].
	Columns []string `json:",omitempty"`
	// Layout says which names the files get.
	Layout output.Layout

	// Partial is the folder of output files that are not published yet.
	Partial work.Path
	// Inputs is the path of the list of inputs.
	Inputs work.Path
	// Reading is how the input was read first.
	Reading documents.Reading

	layout documents.Layout // read in Setup
}

// Delivery makes a task for each split of the input. The outcomes of some stages only add to the counts.
func (u *Unique) Delivery(splits int, onlyCounted ...work.Stage) work.Delivery {
	return work.Delivery{
		Shards:      max(splits, 1),
		Extra:       []runfile.Kind{records.Documents, u.Reads(), records.Sums},
		OnlyCounted: onlyCounted,
	}
}

// Reads returns the kind of the records that say what became of documents.
func (u *Unique) Reads() runfile.Kind {
	switch {
	case u.adds():
		return records.AnnotatedDocuments
	case u.trims():
		return records.Trims
	}
	return records.Removed
}

// adds reports whether copies get columns.
func (u *Unique) adds() bool { return u.Output == output.Annotated || len(u.Columns) > 0 }

func (u *Unique) trims() bool { return u.Output == output.Trimmed }

func (u *Unique) Setup() error { return u.layout.Read(string(u.Inputs)) }

// Task copies the kept records of the files that start in a split.
func (u *Unique) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	inputs := u.layout.Inputs
	c := &copier{ctx: ctx, Unique: u, staying: newStaying(inputs.Splits, t, w.Memory), found: &w.Outcome.Findings}
	c.staying.reads, c.staying.hasIntegers, c.staying.removes = u.Reads(), t.IntegerNames, u.Output != output.Annotated
	defer c.close()
	from, to := inputs.FilesOf(t.Number, u.layout.Starts)
	from = max(from, inputs.References())
	var all corpus.Split
	for number := from; number < to; number++ {
		all = append(all, inputs.Files[number].Whole(number))
	}
	c.ahead = corpus.NewAhead(inputs.Files, all, w.Runs.Ahead)
	c.writer.out.Later = output.NewLater(string(u.Partial), w.Runs.Ahead)
	for number := from; number < to; number++ {
		files, err := c.file(number)
		if err != nil {
			return err
		}
		w.Outcome.Files = append(w.Outcome.Files, files...)
	}
	return c.writer.out.Later.Wait()
}

// copier copies the kept records of one input file after the other. It reuses its buffers for the next file, as there
// may be a hundred thousand files.
type copier struct {
	*Unique
	ctx     context.Context // context of the task
	staying *staying
	found   *findings.Findings
	reader  *formats.Reader // nil before the first file
	buffer  []byte
	holds   bool // the right to hold a long line, which is in buffer
	windows documents.Windows
	ahead   *corpus.Ahead
	writer  recordWriter

	annotator corpus.Annotator // nil unless records are annotated
	cutter    corpus.Cutter    // nil unless texts are cut
	changed   []byte           // a record with its annotation, or with its cuts
}

func (c *copier) file(number int) ([]output.File, error) {
	input := &c.layout.Inputs.Files[number]
	if err := c.begin(number, input); err != nil {
		return nil, err
	}
	if input.Format.Definition().CopyRows != nil {
		return c.rows(number, input)
	}
	c.renew(input)
	for {
		stretch, sum, err := c.staying.next(number)
		if err == io.EOF {
			return c.finish(number)
		}
		if err == nil {
			err = c.stretch(stretch, sum)
		}
		if err != nil {
			return nil, err
		}
	}
}

func (c *copier) renew(input *corpus.File) {
	definition := input.Format.Definition()
	if c.adds() {
		wanted := c.Reading.Wanted()
		wanted.Columns = c.Columns
		c.annotator = definition.Annotator(wanted)
	}
	if c.trims() && definition.Cutter != nil { // else whole documents go
		c.cutter = definition.Cutter(c.Reading.Wanted())
	}
}

func (c *copier) begin(number int, input *corpus.File) error {
	if c.Layout == output.Tree && input.Members != nil {
		c.writer.separate(string(c.Partial), c.Output, input)
		return nil
	}
	inputs := c.layout.Inputs
	references := inputs.References()
	files := Files{Partial: c.Partial, Format: output.Format(input.Ending())}
	file := files.Name(c.Output, number-references, len(inputs.Files)-references)
	if c.Layout == output.Tree {
		file.Name = output.TreeName(c.Output, input.CopyName())
	}
	file.Input = quoting.Text(input.Path)
	return c.writer.reset(files, file, input)
}

// rows copies the kept rows of a file that is copied as a whole.
func (c *copier) rows(number int, input *corpus.File) ([]output.File, error) {
	end := int64(0) // of the stretch at hand
	var fault error
	out := sink{w: &c.writer.out}
	var rows corpus.RowCopy
	rows.Keep = func(row int64) bool {
		for row >= end && fault == nil {
			var stretch corpus.Stretch
			stretch, _, fault = c.staying.next(number)
			end = stretch.End
		}
		if fault != nil {
			return false
		}
		var kept int64
		kept, found, err := c.staying.before(number, row+1)
		fault = err
		return found && kept == row && fault == nil
	}
	rows.Lost = func(rows int64) {
		findings.Merge(&c.found.Counts.Uncopied, map[string]int64{c.Output: rows})
		findings.Merge(&c.found.Damaged, map[string]int64{quoting.Text(input.Name): 1})
	}
	if c.adds() {
		rows.Annotations = &corpus.Annotations{
			Columns:      c.Columns,
			HaveIntegers: c.staying.hasIntegers,
			Of: func(row int64) corpus.Annotation {
				a, _ := c.staying.annotation(number, row) // a row of that number is no document
				return a
			},
		}
	}
	if c.trims() {
		rows.Text = c.Reading.Fields.Texts[0]
		rows.Cuts = func(row int64) []corpus.Cut { return c.staying.cuts(number, row) }
	}
	copied, err := input.Format.Definition().CopyRows(input, c.limits(), &out, rows)
	for _, fault := range []error{fault, out.err, c.ctx.Err()} {
		if fault != nil {
			return nil, fault
		}
	}
	if err != nil {
		return nil, work.NewInputError(err)
	}
	c.writer.out.Count(copied)
	return c.finish(number)
}

// finish closes the copy of a file, which must have all documents that were kept of it.
func (c *copier) finish(number int) ([]output.File, error) {
	position, isLeft, err := c.staying.before(number, math.MaxInt64)
	if err == nil && isLeft {
		err = c.lost(number, position)
	}
	if err != nil {
		return nil, err
	}
	return c.writer.close()
}

// lost is the error of a document that the second reading does not find.
func (c *copier) lost(number int, position int64) error {
	return work.NewInputError(
		fmt.Errorf(
			"read input %s: the file changed while the job ran: the document at %d was there when it was read first, "+
				"and is not any more: run the job again when nobody writes to the file",
			c.layout.Inputs.Files[number].Path, position))
}

// sink keeps the error of a writer, which is not one of the input.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	if err != nil {
		s.err = err
	}
	return n, err
}

// stretch copies the records of a stretch, whose checksum must be as in the first read.
func (c *copier) stretch(stretch corpus.Stretch, want documents.Checksum) error {
	if err := c.open(stretch); err != nil {
		return work.NewInputError(err)
	}
	var sum documents.Checksum
	for {
		batch, err := c.reader.Next(c.buffer)
		if err == io.EOF {
			break
		} else if err != nil {
			return work.NewInputError(err)
		}
		c.buffer = batch.Data
		sum.Add(batch)
		if err := c.batch(&batch); err != nil {
			return err
		}
		if c.release(); c.ctx.Err() != nil {
			return c.ctx.Err()
		}
	}
	if sum != want {
		return work.NewInputError(
			fmt.Errorf(
				"read input %s: the file changed while the job ran: its bytes %d to %d do not give what they gave "+
					"when they were read first: run the job again when nobody writes to the file",
				c.layout.Inputs.Files[stretch.File].Path, stretch.Start, stretch.End))
	}
	return nil
}

func (c *copier) open(stretch corpus.Stretch) (err error) {
	file := c.layout.Inputs.Files[stretch.File]
	if c.reader == nil {
		c.reader = formats.NewReader(c.limits(), c.Reading.Wanted())
	}
	return c.reader.Reset(file, stretch)
}

func (c *copier) limits() corpus.Limits {
	limits := c.Reading.Limits(c.hold, func() (func(), error) { return c.windows.Hold(c.ctx) })
	limits.Ahead = c.ahead
	return limits
}

// hold waits for the right to hold a long line.
func (c *copier) hold() error {
	err := documents.HoldLongLine(c.ctx)
	c.holds = err == nil
	return err
}

func (c *copier) release() {
	if c.holds {
		c.buffer, c.holds = nil, false
		documents.ReleaseLongLine()
	}
}

func (c *copier) batch(batch *corpus.Batch) error {
	if !batch.Format.IsLines() {
		return c.frames(batch)
	}
	end := batch.End()
	for {
		position, found, err := c.staying.before(batch.File, end)
		if err != nil || !found {
			return err
		}
		if position < batch.Offset {
			return c.lost(batch.File, position)
		}
		if err := c.write(batch, position, batch.Line(position)); err != nil {
			return err
		}
	}
}

// frames copies the kept records of a batch whose records are not lines.
func (c *copier) frames(batch *corpus.Batch) error {
	header := batch.Header
	if c.adds() && len(header) > 0 {
		header = c.annotator.Header(nil, header)
	}
	if err := c.writer.header(header); err != nil {
		return err
	}
	for position, record := range batch.Records() {
		kept, isKept, err := c.staying.before(batch.File, position+1)
		if err == nil && isKept && kept < position {
			err = c.lost(batch.File, kept)
		}
		if err == nil && isKept {
			err = c.write(batch, position, record)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) close() {
	c.release()
	c.writer.out.Abort()
	c.staying.Reader.Close()
	if c.reader != nil {
		c.reader.Close() // closing a file that was only read cannot lose data
	}
	c.ahead.Close()
	_ = c.writer.out.Later.Wait() // the task has waited, unless it has failed
}

// annotation returns what is known of the document at a position of the file of that number, in the current split.
func (s *staying) annotation(file int, position int64) (corpus.Annotation, error) {
	ref, err := docref.New(file, position)
	if err != nil {
		return corpus.Annotation{}, err
	}
	a, isClustered := s.annotations.Of(ref)
	if !isClustered {
		return corpus.Annotation{Size: 1, Kept: true, Sources: 1, Files: 1}, nil
	}
	return corpus.Annotation{
		Cluster:     a.Cluster,
		Size:        int64(a.Size),
		Kept:        a.Kept,
		KeptID:      a.KeptID,
		Sources:     int64(a.Sources),
		Files:       int64(a.Files),
		HasIntegers: s.hasIntegers,
	}, nil
}

func (s *staying) cuts(file int, position int64) []corpus.Cut {
	ref, _ := docref.New(file, position) // a position of that number is no document
	return s.trims[ref]
}

// write writes the record at a position as the output has it, or unchanged if the program panics over it.
func (c *copier) write(batch *corpus.Batch, position int64, record []byte) error {
	if c.adds() || c.trims() {
		step, operation, change := "annotated", "annotate", c.annotate
		if c.trims() {
			step, operation, change = "cut", "cut the text of", c.cut
		}
		input := &c.layout.Inputs.Files[batch.File]
		err := panics.Over(step, func() (err error) {
			record, err = change(batch, position, record)
			return err
		})
		if fault := panics.Of(err); fault != nil {
			name, inFile := input.Place(position)
			c.found.AddPanic(quoting.Text(fmt.Sprintf("%s:%d", name, inFile)), fault)
			c.renew(input)
			c.changed = nil
		} else if err != nil {
			return work.NewInputError(fmt.Errorf("%s %s:%d: %w", operation, input.Path, position, err))
		}
	}
	return c.writer.record(position, record)
}

func (c *copier) cut(batch *corpus.Batch, position int64, record []byte) (_ []byte, err error) {
	cuts := c.staying.cuts(batch.File, position)
	if len(cuts) == 0 {
		return record, nil
	}
	c.changed, err = c.cutter.Cut(c.changed[:0], batch.Header, record, cuts)
	return c.changed, err
}

func (c *copier) annotate(batch *corpus.Batch, position int64, record []byte) ([]byte, error) {
	annotation, err := c.staying.annotation(batch.File, position)
	if name := c.annotator.Clash(batch.Header, record); name != "" && err == nil {
		err = fmt.Errorf(
			"the record has a field %s already, which %s would add; rename it, or leave the column out", name,
			c.Output)
	}
	if err != nil {
		return nil, err
	}
	c.changed = c.annotator.Record(c.changed[:0], record, annotation)
	return c.changed, nil
}

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

// separate begins the copy of a group of single-document files. Each record gets a file with its file's name.
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
