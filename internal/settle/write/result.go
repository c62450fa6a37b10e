package write

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/read/sources"
	"mirrorbeam/internal/settle/clusters"
)

// Result is what a finished pipeline leaves for its driver.
type Result struct {
	// Counts is the sum of the counts of all tasks.
	Counts work.Counts
	// Skipped says what was not compared.
	Skipped work.Skipped
	// PassedOver counts records that are no documents, by the reason.
	PassedOver work.PassedOver
	// Named are the sources, if they are values of a field.
	Named []sources.Source
	// Sources counts documents by their sources, and Texts doubtful texts. Templates and Bridges are doubtful clusters.
	Sources   sources.Counts
	Texts     work.Texts
	Repeated  work.RepeatedIDs
	Templates work.Worst[work.Template]
	Bridges   work.Worst[work.Bridge]
	// Largest holds the largest clusters of output shards.
	Largest work.Worst[work.LargeCluster]
	// Common says which shingles are common; nil if nobody asked.
	Common *work.CommonFound
	// Mirrors says what was found of sites.
	Mirrors work.MirrorFindings
	// Files are the files of all outputs, by name. They are not published yet.
	Files []output.File
	// Kept are the run files that a state is to keep, by split. Written are the run files of the tasks that wrote clusters and
	// mirrors, in their order.
	Kept    map[int]work.Path `json:",omitempty"`
	Written []work.Path       `json:",omitempty"`
	// Fingerprinted are the run files of the tasks that read documents, or recalled them.
	Fingerprinted []work.Path `json:",omitempty"`
	// FirstReject is the first row of rejects, nil if there is none.
	FirstReject *output.Reject
	// AllPairs says that all pairs of documents were compared.
	AllPairs bool
}

// Finish sums up the outcomes of all stages and writes the result of the pipeline whose folder is temp. Counts is the
// sum of the counts of the outcomes. ByValue says that values of a field are the sources. It is an error if the numbers
// of rows written and counted differ.
func Finish(temp string, outcomes []work.Outcome, counts work.Counts, byValue bool) error {
	result, err := newResult(outcomes, counts)
	if err != nil {
		return err
	}
	if byValue {
		choice, err := clusters.ReadSourceChoice(temp)
		if err != nil {
			return err
		}
		result.Named, result.Sources.Documents = choice.Sources, choice.Documents
	}
	return result.write(temp)
}

// newResult sums up the outcomes. It checks that each document was kept or removed, and the numbers of rows.
func newResult(outcomes []work.Outcome, counts work.Counts) (*Result, error) {
	counts.Kept += counts.Documents // those outside of clusters are kept, too
	for _, o := range outcomes {
		counts.Kept -= o.Sent
	}
	if counts.Kept+counts.Removed != counts.Documents {
		return nil, fmt.Errorf("%d documents were read, %d are kept and %d removed", counts.Documents, counts.Kept, counts.Removed)
	}
	r := &Result{Counts: counts, Kept: map[int]work.Path{}}
	for _, o := range outcomes {
		r.Skipped.Add(o.Skipped)
		r.PassedOver = r.PassedOver.Add(o.PassedOver)
		r.Sources.Add(o.Sources)
		r.Texts.Add(o.Texts)
		r.Repeated.Add(o.Repeated)
		r.Mirrors.Add(o.Mirrors)
		r.Templates.AddAll(o.Templates)
		r.Bridges.AddAll(o.Bridges)
		r.Largest.AddAll(o.Largest)
		r.AllPairs = r.AllPairs || o.AllPairs
		r.Files = append(r.Files, o.Files...)
		if o.Common != nil {
			r.Common = o.Common
		}
		if o.Kept != "" {
			r.Kept[o.Number] = o.Kept
		}
		if (o.Stage == work.Write || o.Stage == work.Mirror) && o.Run != "" {
			r.Written = append(r.Written, work.Path(o.Run))
		}
		if o.Stage == work.Fingerprint && o.Run != "" {
			r.Fingerprinted = append(r.Fingerprinted, work.Path(o.Run))
		}
		if o.FirstReject != nil {
			r.FirstReject = o.FirstReject
		}
	}
	slices.SortFunc(r.Files, func(a, b output.File) int { return cmp.Compare(a.Name, b.Name) })
	return r, r.check()
}

// check compares the numbers of rows with what was counted.
func (r *Result) check() error {
	counts := r.Counts
	// There are always files of rejects.
	if rows, _ := r.rows(output.Rejects); rows != counts.Rejected {
		return fmt.Errorf("%d rejects were counted, %d written", counts.Rejected, rows)
	}
	if rows, written := r.rows(output.Unique); written && rows != counts.Kept {
		return fmt.Errorf("%d documents are kept, %d records were written to unique", counts.Kept, rows)
	}
	if rows, written := r.rows(output.Removed); written && rows != counts.Removed {
		return fmt.Errorf("%d documents are removed, %d rows were written to removed", counts.Removed, rows)
	}
	if rows, written := r.rows(output.Annotated); written && rows != counts.Documents {
		return fmt.Errorf("%d documents were counted, %d records were written to annotated", counts.Documents, rows)
	}
	if rows, written := r.rows(output.Sketches); written && rows != counts.Documents {
		return fmt.Errorf("%d documents were counted, %d sketches written", counts.Documents, rows)
	}
	for _, of := range []struct {
		output string
		count  int64
	}{{output.Mirrors, r.Mirrors.Pairs}, {output.Sites, r.Mirrors.Sites}, {output.Suspects, r.Mirrors.Suspects + r.Mirrors.Campaigns}} {
		if rows, written := r.rows(of.output); written && rows != of.count {
			return fmt.Errorf("%d rows of %s were counted, %d written", of.count, of.output, rows)
		}
	}
	return nil
}

// rows returns the number of rows of an output, and whether it has any files.
func (r *Result) rows(of string) (n int64, written bool) {
	for _, file := range r.Files {
		if file.Output == of {
			n, written = n+file.Rows, true
		}
	}
	return n, written
}

// write writes the result for [ReadResult].
func (r *Result) write(temp string) error {
	b, err := json.Marshal(r)
	if err == nil {
		err = storage.WriteFile(resultPath(temp), b)
	}
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// ReadResult returns the result of the pipeline whose folder is temp. Finish wrote it.
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

func resultPath(temp string) string { return storage.Join(temp, "result.json") }
