package formats

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"mirrorbeam/internal/read/corpus"
)

// probedRecords is how many records show whether a file has the wanted fields.
const probedRecords = 1000

// Probe looks for the wanted fields in the first records of some files. It returns an error, with the names
// of the existing fields, if none of these files has them. It ignores files that cannot be read: their faults
// are found later.
func Probe(files []corpus.File, wanted corpus.Wanted, limits corpus.Limits) error {
	var first error
	for _, number := range probed(len(files)) {
		fault := probe(files[number], number, wanted, limits)
		if fault == nil {
			return nil
		}
		if first == nil {
			first = fmt.Errorf("%s: %w", files[number].Path, fault)
		}
	}
	return first
}

// probed returns which of n files are looked into.
func probed(n int) []int {
	if n == 0 {
		return nil
	}
	numbers := []int{0, n / 2, n - 1}
	return slices.Compact(numbers)
}

func probe(file corpus.File, number int, wanted corpus.Wanted, limits corpus.Limits) error {
	decoder := NewDecoder(wanted)
	seen := 0
	names := map[string]bool{}
	for batch, err := range Batches(file, number, limits, wanted) {
		if err != nil {
			return nil
		}
		for position, record := range batch.Records() {
			if batch.IsBlank(record) {
				continue
			}
			_, err := decoder.Decode(&file, &batch, position, record)
			if _, isMissing := errors.AsType[corpus.MissingField](err); !isMissing {
				return nil
			}
			if fieldNames := batch.Format.Definition().FieldNames; fieldNames != nil {
				for _, name := range fieldNames(batch.Header, record) {
					names[name] = true
				}
			}
			if seen++; seen == probedRecords {
				return noField(wanted.Fields, seen, names)
			}
		}
	}
	if seen == 0 {
		return nil
	}
	return noField(wanted.Fields, seen, names)
}

// noField returns the error for a file without the wanted fields.
func noField(fields corpus.Fields, records int, names map[string]bool) error {
	wanted := fields.Texts
	if fields.Features != "" && !fields.Beside {
		wanted = []string{fields.Features}
	}
	first := "the first record"
	if records > 1 {
		first = fmt.Sprintf("the first %d records", records)
	}
	if len(names) == 0 {
		return fmt.Errorf("no field %s in %s, nor any other", quoted(wanted), first)
	}
	return fmt.Errorf("no field %s in %s; there are %s", quoted(wanted), first, quoted(slices.Sorted(maps.Keys(names))))
}

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
