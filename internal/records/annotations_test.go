package records_test

import (
	"fmt"
	"testing"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestAnnotations: what is written of the documents of a split, in any order and by several tasks, is found by
// document.
func TestAnnotations(t *testing.T) {
	const n = 1000
	annotation := func(i int) records.Annotation {
		a := records.Annotation{Ref: docref.Ref(3 * i), Cluster: fmt.Sprint("c", i), Size: uint32(i), Kept: i%2 == 0}
		if !a.Kept {
			a.KeptID = fmt.Sprint("é", i-1)
		}
		return a
	}
	runs := worktest.Runs(t)
	var pieces []runfile.Piece
	for task := range 3 {
		run := worktest.Write(t, runs, func(run *runfile.Writer) error {
			for i := range n {
				// In another order than the documents.
				if i = i * 7 % n; i%3 != task {
					continue
				}
				a := annotation(i)
				if err := records.Write(run, records.AnnotatedDocuments, 5, &a); err != nil {
					return err
				}
			}
			return nil
		})
		of, err := runfile.Pieces(run)
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, of...)
	}
	var reader runfile.Reader
	defer reader.Close()
	all, err := records.ReadAnnotations(&reader, pieces)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if got, found := all.Of(docref.Ref(3 * i)); !found || got != annotation(i) {
			t.Fatalf("%+v, want %+v", got, annotation(i))
		}
		if got, found := all.Of(docref.Ref(3*i + 1)); found {
			t.Fatalf("%+v of a document that has none", got)
		}
	}
	if none, err := records.ReadAnnotations(&reader, nil); err != nil {
		t.Error(err)
	} else if _, found := none.Of(0); found {
		t.Error("an annotation of a split that has none")
	}
}
