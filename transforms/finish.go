package transforms

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/output"
	"mirrorbeam/internal/storage"
	"mirrorbeam/internal/work"
)

func init() {
	register.DoFn3x1[context.Context, int64, func(*[]byte) bool, error](&finishFn{})
}

// Result is what a finished pipeline leaves for its driver.
type Result struct {
	Counts  work.Counts
	Skipped work.Skipped
	Files   []output.File
	// AllPairs says that all pairs of documents were compared.
	AllPairs bool
}

// finishFn sums up the outcomes of all stages.
type finishFn struct {
	Temp []byte // a path travels as bytes, see Job.MarshalJSON
}

func (f *finishFn) ProcessElement(_ context.Context, _ int64, elements func(*[]byte) bool) error {
	outcomes, counts, err := work.ReadOutcomes(elements)
	if err != nil {
		return err
	}
	counts.Kept = counts.Documents - counts.Removed
	result := Result{Counts: counts}
	for _, o := range outcomes {
		result.Skipped.Add(o.Skipped)
		result.AllPairs = result.AllPairs || o.AllPairs
		result.Files = append(result.Files, o.Files...)
	}
	if rows := result.rows(output.Rejects); rows != counts.Rejected {
		return fmt.Errorf("%d rejects were counted, %d written", counts.Rejected, rows)
	}
	if rows := result.rows(output.Unique); slices.ContainsFunc(result.Files, isUnique) && rows != counts.Kept {
		return fmt.Errorf("%d documents are kept, %d records were written to unique", counts.Kept, rows)
	}
	isSketches := func(file output.File) bool { return file.Output == output.Sketches }
	if rows := result.rows(output.Sketches); slices.ContainsFunc(result.Files, isSketches) && rows != counts.Documents {
		return fmt.Errorf("%d documents were counted, %d sketches written", counts.Documents, rows)
	}
	slices.SortFunc(result.Files, func(a, b output.File) int { return cmp.Compare(a.Name, b.Name) })
	b, err := json.Marshal(result)
	if err == nil {
		err = storage.WriteFile(resultPath(string(f.Temp)), b)
	}
	if err != nil {
		return work.MarkFault(fmt.Errorf("write result: %w", err))
	}
	return nil
}

func resultPath(temp string) string { return storage.Join(temp, "result.json") }

// ReadResult returns the result of the pipeline whose folder is temp.
func ReadResult(temp string) (result Result, err error) {
	b, err := storage.ReadFile(resultPath(temp))
	if err == nil {
		err = json.Unmarshal(b, &result)
	}
	if err != nil {
		err = fmt.Errorf("read result: %w", err)
	}
	return result, err
}

func isUnique(file output.File) bool { return file.Output == output.Unique }

// rows returns the number of rows of an output.
func (r *Result) rows(output string) int64 {
	n := int64(0)
	for _, file := range r.Files {
		if file.Output == output {
			n += file.Rows
		}
	}
	return n
}
