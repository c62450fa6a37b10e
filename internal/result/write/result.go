package write

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/clusters"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
)

// Result is what a finished pipeline leaves for its driver.
type Result struct {
	// Findings is what all tasks have found.
	findings.Findings
	// Named are the sources, if they are values of a field.
	Named []sources.Source
	// Files are the files of all outputs, by name. They are not published yet.
	Files []output.File
	// Kept are the run files that a state is to keep, by split. Written are the run files of the tasks that wrote
	// clusters, sums of sites, copies and mirrors, in their order.
	Kept    map[int]work.Path `json:",omitempty"`
	Written []work.Path       `json:",omitempty"`
	// GroupedKeys are the run files of the tasks that grouped keys.
	GroupedKeys []work.Path `json:",omitempty"`
	// Fingerprinted are the run files of the tasks that read documents, or recalled them.
	Fingerprinted []work.Path `json:",omitempty"`
	// FirstReject is the first row of rejects, nil if there is none.
	FirstReject *output.Reject
}

// Finish sums up the outcomes of all stages and writes the result of the pipeline whose folder is temp. ByValue says
// that values of a field are the sources. It is an error if the numbers of rows written and counted differ.
func Finish(temp string, outcomes []work.Outcome, byValue bool) error {
	result, err := newResult(outcomes)
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
func newResult(outcomes []work.Outcome) (*Result, error) {
	r := &Result{Kept: map[int]work.Path{}}
	for _, o := range outcomes {
		findings.Merge(&r.Findings, o.Findings)
		r.Files = append(r.Files, o.Files...)
		if o.Kept != "" {
			r.Kept[o.Number] = o.Kept
		}
		if slices.Contains([]work.Stage{work.Write, work.Site, work.Guard, work.Mirror}, o.Stage) && o.Run != "" {
			r.Written = append(r.Written, work.Path(o.Run))
		}
		if o.Stage == work.Group && o.Run != "" {
			r.GroupedKeys = append(r.GroupedKeys, work.Path(o.Run))
		}
		if o.Stage == work.Fingerprint && o.Run != "" {
			r.Fingerprinted = append(r.Fingerprinted, work.Path(o.Run))
		}
		if o.FirstReject != nil {
			r.FirstReject = o.FirstReject
		}
	}
	r.Finish()
	counts := &r.Counts
	if counts.Kept+counts.Removed != counts.Documents {
		return nil, fmt.Errorf("%d documents were read, %d are kept and %d removed", counts.Documents, counts.Kept,
			counts.Removed)
	}
	slices.SortFunc(r.Files, func(a, b output.File) int { return cmp.Compare(a.Name, b.Name) })
	return r, r.check()
}

func (r *Result) check() error {
	var sites findings.Mirrors
	if r.Mirrors != nil {
		sites = *r.Mirrors
	}
	var trimmed findings.Trimmed
	if r.Trimmed != nil {
		trimmed = *r.Trimmed
	}
	for _, of := range []struct {
		output string
		count  int64
	}{
		{output.Rejects, r.Counts.Rejected},
		{output.Unique, r.Counts.Kept},
		{output.Removed, r.Counts.Removed},
		{output.Annotated, r.Counts.Documents},
		{output.Sketches, r.Counts.Documents},
		{output.Trimmed, r.Counts.Documents - trimmed.Gone},
		{output.Passages, trimmed.Passages},
		{output.Mirrors, sites.Pairs},
		{output.Sites, sites.Sites},
		{output.Suspects, sites.Suspects + sites.Campaigns + sites.Listed},
	} {
		// There are always files of rejects.
		if rows, written := r.rows(of.output); rows+r.Counts.Uncopied[of.output] != of.count &&
			(written || of.output == output.Rejects) {
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
