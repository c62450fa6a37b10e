package documents

import (
	"context"
	"fmt"
	"io"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
)

// EachAgain reads documents of a split that an earlier stage has read. It visits the documents of the given refs, which ascend. It is an
// input error if one of them is not there any more.
func (l *Layout) EachAgain(ctx context.Context, r Reading, split int, wanted []docref.Ref, visit func(docref.Ref, *Record) error) error {
	in := l.Inputs
	reader, decoder := newSplitReader(r, in.Files, in.Splits[split]), newRecordDecoder(in.Files, r.Wanted())
	defer reader.close()
	var p part
	defer p.release()
	for len(wanted) > 0 {
		p.release()
		if err := reader.fill(ctx, &p); err == io.EOF {
			return l.missing(wanted[0])
		} else if err != nil {
			return err
		}
		for _, batch := range p.batches {
			for position, raw := range batch.Records() {
				ref, err := docref.New(batch.File, position)
				if err != nil {
					return fmt.Errorf("file %s: %w", in.Files[batch.File].Path, err)
				}
				if len(wanted) == 0 || ref < wanted[0] {
					continue
				}
				record := decoder.read(&batch, position, raw)
				if ref > wanted[0] || record.Fault != "" {
					return l.missing(wanted[0])
				}
				wanted = wanted[1:]
				if err := visit(ref, record); err != nil {
					return err
				}
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// missing is the error of a document that was there when it was read first.
func (l *Layout) missing(ref docref.Ref) error {
	return work.NewInputError(fmt.Errorf("read document %s again: it is not there any more: the file changed while the job ran: run the job again when nobody writes to it", l.Inputs.Name(ref)))
}
