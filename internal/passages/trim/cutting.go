package trim

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/work"
)

// Cutting says what is cut from the documents of a split, and makes the rows of passages. It reads the documents again
// that have a passage that occurs earlier.
type Cutting struct{ Trimming }

// CuttingDelivery makes a task of [Cutting] for each split with a passage that occurs earlier.
func CuttingDelivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.PassageRepeats}}
}

// Task writes what is cut from the documents of one split, in their order.
func (c *Cutting) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	r, err := newReader(c.Rule, c.Sketching, c.layout.Inputs)
	if err != nil {
		return err
	}
	o := &cutter{Cutting: c, ctx: ctx, taskContext: w, reader: r}
	if err := o.count(); err != nil {
		return err
	}
	err = c.layout.EachAgain(ctx, c.Sketching.Reading, searched, w, t.Number, slices.Clone(o.refs), o.document)
	w.Outcome.Trimmed = &o.found
	return err
}

type cutter struct {
	*Cutting
	ctx         context.Context
	taskContext *work.TaskContext
	reader      *reader

	refs    []docref.Ref       // documents still to come
	counts  map[docref.Ref]int // the numbers of their passages that occur earlier
	repeats []records.Repeat   // passages of the next documents, sorted
	found   findings.Trimmed
}

// each visits all passages of the split that occur earlier, range by range.
func (c *cutter) each(visit func(records.Repeat)) error {
	var repeats records.Repeats
	return eachPiece(c.ctx, c.taskContext, func(isNewRun bool, rest []byte) error {
		if isNewRun {
			repeats = records.Repeats{}
		}
		for len(rest) > 0 {
			var next records.Repeat
			next, rest = repeats.Next(rest)
			visit(next)
		}
		return nil
	})
}

func (c *cutter) count() error {
	c.counts = map[docref.Ref]int{}
	err := c.each(func(r records.Repeat) { c.counts[r.At.Ref]++ })
	c.refs = slices.Sorted(maps.Keys(c.counts))
	return err
}

// of returns the passages of a document that occur earlier, in its order. Documents before it are left out.
func (c *cutter) of(ref docref.Ref) ([]records.Repeat, error) {
	for c.refs[0] != ref {
		if n := c.counts[c.refs[0]]; len(c.repeats) > 0 {
			c.repeats = c.repeats[n:]
		}
		c.refs = c.refs[1:]
	}
	if len(c.repeats) == 0 {
		end, held := 0, 0
		for end < len(c.refs) && (end == 0 || held+c.counts[c.refs[end]] <= c.Held) {
			held += c.counts[c.refs[end]]
			end++
		}
		last := c.refs[end-1]
		c.repeats = slices.Grow(c.repeats[:0], held)
		err := c.each(func(r records.Repeat) {
			if ref <= r.At.Ref && r.At.Ref <= last {
				c.repeats = append(c.repeats, r)
			}
		})
		if err != nil {
			return nil, err
		}
		slices.SortFunc(c.repeats, func(a, b records.Repeat) int {
			return cmp.Or(cmp.Compare(a.At.Ref, b.At.Ref), cmp.Compare(a.At.At, b.At.At))
		})
	}
	n := c.counts[ref]
	own := c.repeats[:n]
	c.refs, c.repeats = c.refs[1:], c.repeats[n:]
	return own, nil
}

// document writes what is cut from a document.
func (c *cutter) document(ref docref.Ref, d *documents.Record) error {
	c.taskContext.Figures.Records++
	c.taskContext.Figures.Bytes += d.Bytes
	repeats, err := c.of(ref)
	if err != nil {
		return err
	}
	text := d.Content.Texts[0]
	c.reader.read(text)
	parts := c.reader.parted(repeats)
	if parts == nil {
		return errText(c.layout.Inputs.Name(ref))
	}
	trim := records.Trim{Ref: ref}
	words, bytes := 0, int64(0)
	for _, run := range joined(parts) {
		if cut, is := c.reader.cut(run.from, run.to); is {
			words, bytes = words+run.to-run.from, bytes+cut.End-cut.Begin
			trim.Cuts = append(trim.Cuts, cut)
		}
	}
	if len(trim.Cuts) == 0 {
		return nil
	}
	if trim.Whole = c.reader.words.Len()-words < c.Rule.Least; trim.Whole {
		words, bytes, trim.Cuts = c.reader.words.Len(), int64(len(text)), nil
	}
	// Whatever may panic is done before anything is counted or written.
	rows := make([][]byte, len(parts))
	for i, part := range parts {
		rows[i] = output.AppendRow(nil, c.row(ref, d, part, trim.Whole))
	}
	if c.found.Documents++; trim.Whole {
		c.found.Gone++
	}
	c.found.Words, c.found.Bytes = c.found.Words+int64(words), c.found.Bytes+bytes
	return c.write(rows, &trim, int64(words))
}

func (c *cutter) write(rows [][]byte, trim *records.Trim, words int64) error {
	if c.ByFile {
		c.taskContext.Outcome.Sources.Cut.Add(c.layout.Inputs.SourceOf(trim.Ref), words)
	}
	split := documents.SplitOf(c.layout.Starts, trim.Ref)
	for _, row := range rows {
		b, err := c.taskContext.Run.Record(records.TrimRows, split, len(row))
		if err != nil {
			return err
		}
		copy(b, row)
		c.found.Passages++
	}
	return records.Write(&c.taskContext.Run, records.Trims, split, trim)
}

func (c *cutter) row(ref docref.Ref, d *documents.Record, p part, isGone bool) *output.Cut {
	inputs := c.layout.Inputs
	row := &output.Cut{
		Ref:       quoting.Text(inputs.RefText(nil, ref)),
		Begin:     int64(c.reader.words.Starts[p.from]),
		End:       int64(c.reader.words.Ends[p.to-1]),
		Words:     int64(p.to - p.from),
		FirstRef:  quoting.Text(inputs.RefText(nil, p.first.Ref)),
		FirstAt:   p.first.At,
		Gone:      isGone,
		Reference: p.first.Ref < c.layout.FirstInput,
	}
	if row.ID = row.Ref; len(d.Content.ID) > 0 {
		row.ID = quoting.Text(d.Content.ID)
	}
	row.URL, row.Date = documents.CaptureOf(&d.Content)
	return row
}
