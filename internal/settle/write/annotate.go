package write

import (
	"fmt"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/read/parquetfile"
)

// annotator adds what the job has found out about a document to its record.
type annotator struct {
	keys   corpus.KeyFinder
	record []byte // with its annotation
}

func newAnnotator() *annotator {
	return &annotator{keys: corpus.KeyFinder{Names: output.AnnotationFields}}
}

// header returns the record that names the fields, with the fields of the annotation.
func (a *annotator) header(format corpus.Format, header []byte) []byte {
	if len(header) == 0 {
		return nil
	}
	return output.AppendHeader(nil, header, comma(format))
}

// annotate returns a record with its annotation, valid until the next call. It is an error if the record has a field of
// one of the names already.
func (a *annotator) annotate(format corpus.Format, record []byte, of output.Annotation) ([]byte, error) {
	if !format.IsLines() {
		a.record = of.AppendCells(a.record[:0], record, comma(format))
		return a.record, nil
	}
	if name := a.keys.Find(record); name != "" {
		return nil, fmt.Errorf("the record has a field %s already, which annotated would add; rename it, or leave annotated out", name)
	}
	a.record = of.AppendObject(a.record[:0], record)
	return a.record, nil
}

// comma returns the character between the cells of a format.
func comma(format corpus.Format) byte {
	if format == corpus.TSV {
		return '\t'
	}
	return ','
}

// annotation returns what is known of a document of the current split.
func (s *staying) annotation(ref docref.Ref) output.Annotation {
	a, isClustered := s.annotations.Of(ref)
	if !isClustered {
		return output.Annotation{Size: 1, Kept: true}
	}
	return output.Annotation{Cluster: a.Cluster, Size: int64(a.Size), Kept: a.Kept, KeptID: a.KeptID}
}

// columns returns what is known of a row of the Parquet file of that number.
func (s *staying) columns(file int) func(row int64) parquetfile.Annotation {
	return func(row int64) parquetfile.Annotation {
		ref, err := docref.New(file, row)
		if err != nil {
			return parquetfile.Annotation{} // no document has that place
		}
		a := s.annotation(ref)
		return parquetfile.Annotation{Cluster: nameOrNil(a.Cluster), Size: a.Size, Kept: a.Kept, KeptID: nameOrNil(a.KeptID)}
	}
}

// nameOrNil returns the bytes of a name, nil if it is empty.
func nameOrNil(name string) []byte {
	if name == "" {
		return nil
	}
	return []byte(name)
}

// write writes the record at a position as the output has it.
func (c *copier) write(format corpus.Format, file int, position int64, record []byte) error {
	if c.annotator == nil {
		return c.writer.record(position, record)
	}
	ref, err := docref.New(file, position)
	if err == nil {
		record, err = c.annotator.annotate(format, record, c.staying.annotation(ref))
	}
	if err != nil {
		return work.NewInputError(fmt.Errorf("annotate %s:%d: %w", c.layout.Inputs.Files[file].Path, position, err))
	}
	return c.writer.record(position, record)
}
