package write

import (
	"fmt"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/read/corpus"
)

// annotation returns what is known of the document at a position of the file of that number, in the current split.
func (s *staying) annotation(file int, position int64) (corpus.Annotation, error) {
	ref, err := docref.New(file, position)
	if err != nil {
		return corpus.Annotation{}, err
	}
	a, isClustered := s.annotations.Of(ref)
	if !isClustered {
		return corpus.Annotation{Size: 1, Kept: true}, nil
	}
	return corpus.Annotation{Cluster: a.Cluster, Size: int64(a.Size), Kept: a.Kept, KeptID: a.KeptID}, nil
}

// write writes the record at a position as the output has it.
func (c *copier) write(batch *corpus.Batch, position int64, record []byte) error {
	if !c.Annotate {
		return c.writer.record(position, record)
	}
	annotation, err := c.staying.annotation(batch.File, position)
	if name := c.annotator.Clash(batch.Header, record); name != "" && err == nil {
		err = fmt.Errorf("the record has a field %s already, which annotated would add; rename it, or leave annotated out", name)
	}
	if err != nil {
		return work.NewInputError(fmt.Errorf("annotate %s:%d: %w", c.layout.Inputs.Files[batch.File].Path, position, err))
	}
	c.annotated = c.annotator.Record(c.annotated[:0], record, annotation)
	return c.writer.record(position, c.annotated)
}
