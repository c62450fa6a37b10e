package formats

import (
	"errors"
	"fmt"
	"maps"
	"slices"

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

// probe looks at the first records of one file.
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
