package formats

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"mirrorbeam/internal/read/corpus"
)

// Annotatable looks whether records of files can get more fields, of these names. It is an error if a file has a format
// without fields, or if it has a field of one of the names already. Of Parquet and CSV it looks at all files, of JSON
// lines at the first records of some: a file that cannot be read, and a record further down, have their fault found
// later.
func Annotatable(ctx context.Context, files []corpus.File, names []string, wanted Wanted, limits corpus.Limits) error {
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
			if err := annotatable(&files[i], i, names, wanted, limits); err != nil {
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
func annotatable(file *corpus.File, number int, names []string, wanted Wanted, limits corpus.Limits) error {
	if file.Format == corpus.Parquet {
		p, err := openParquet(file, wanted)
		if err != nil {
			return err
		}
		defer p.handle.Close() // a file that was only read
		return p.Annotatable()
	}
	if file.Format == corpus.WARC || file.Format.IsWhole() {
		return fmt.Errorf("records of the format %v have no fields, so annotated cannot add any", file.Format)
	}
	finder, seen := corpus.KeyFinder{Names: names}, 0
	for batch, err := range Batches(*file, number, limits, wanted) {
		if err != nil {
			return nil
		}
		if !batch.Format.IsLines() {
			return firstOf(names, &batch)
		}
		for _, line := range batch.Lines() {
			if name := finder.Find(line); name != "" {
				return hasAlready(name)
			}
			if seen++; seen == probedRecords {
				return nil
			}
		}
	}
	return nil
}

// firstOf returns an error if the header of a batch has one of the names.
func firstOf(names []string, batch *corpus.Batch) error {
	there := map[string]bool{}
	addNames(there, batch, nil)
	for _, name := range names {
		if there[name] {
			return hasAlready(name)
		}
	}
	return nil
}

// hasAlready is the error of a field that annotated would add.
func hasAlready(name string) error {
	return fmt.Errorf("there is a field %s already, which annotated would add; rename it", name)
}
