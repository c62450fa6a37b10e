package formats

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"mirrorbeam/internal/read/corpus"
)

// Annotatable looks whether records of files can get [corpus.AnnotationFields]. It is an error if a file has a format
// without fields, or if it has a field of one of the names already. Of Parquet and CSV it looks at all files, of JSON
// lines at the first records of some: a file that cannot be read, and a record further down, have their fault found
// later.
func Annotatable(ctx context.Context, files []corpus.File, wanted corpus.Wanted, limits corpus.Limits) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(opened)
	faults := make([]error, len(files))
	looked := probed(len(files))
	for i := range files {
		if files[i].Reference || files[i].Format.IsLines() && !slices.Contains(looked, i) {
			continue
		}
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := annotatable(&files[i], i, wanted, limits); err != nil {
				faults[i] = fmt.Errorf("%s: %w", files[i].Path, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, fault := range faults {
		if fault != nil {
			return fault
		}
	}
	return nil
}

// annotatable looks at one file, which is the one of that number.
func annotatable(file *corpus.File, number int, wanted corpus.Wanted, limits corpus.Limits) error {
	definition := file.Format.Definition()
	switch {
	case definition.Annotatable != nil:
		return definition.Annotatable(file)
	case definition.Annotator == nil:
		return fmt.Errorf("records of the format %v have no fields, so annotated cannot add any", file.Format)
	}
	annotator, seen := definition.Annotator(), 0
	for batch, err := range Batches(*file, number, limits, wanted) {
		if err != nil {
			return nil
		}
		for _, record := range batch.Records() {
			if name := annotator.Clash(batch.Header, record); name != "" {
				return fmt.Errorf("there is a field %s already, which annotated would add; rename it", name)
			}
			if seen++; seen == probedRecords || len(batch.Header) > 0 { // a header tells for all records
				return nil
			}
		}
	}
	return nil
}
