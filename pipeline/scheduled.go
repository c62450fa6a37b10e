package pipeline

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/look/finished"
	"mirrorbeam/internal/match/groups"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/settle/standing"
	"mirrorbeam/internal/settle/state"
	"mirrorbeam/internal/settle/write"
	"mirrorbeam/internal/start/build"
	"mirrorbeam/internal/start/failure"
	"mirrorbeam/internal/start/listing"
	"mirrorbeam/job"
	"mirrorbeam/transforms"
)

// mostOpenSuspects is the number of suspects that a summary dates.
const mostOpenSuspects = 1000

// openSuspects returns the suspects among all alerts of a state. A campaign stands for its sites.
func openSuspects(all []state.Alert) (open []finished.OpenSuspect) {
	all = slices.DeleteFunc(slices.Clone(all), func(a state.Alert) bool { return a.Pages == 0 || a.Campaign != 0 })
	slices.SortStableFunc(all, func(a, b state.Alert) int { return cmp.Compare(a.First.Generation, b.First.Generation) })
	for _, a := range all[:min(len(all), mostOpenSuspects)] {
		suspect := finished.OpenSuspect{ID: a.Lineage(), Site: a.Site, Generation: a.First.Generation}
		if a.First.Seconds != 0 {
			suspect.Seen = time.Unix(a.First.Seconds, 0).UTC().Format(time.RFC3339)
		}
		open = append(open, suspect)
	}
	return open
}

// scheduled is the part of a run that its state knows about.
type scheduled struct {
	*state.State
	// sketches identifies what decides the units.
	sketches   string
	difference state.Difference
	// comparesAll says that the run does without the pairs of the last one.
	comparesAll bool
	// makesAllRows says that the run copies none of the last results.
	makesAllRows bool
	// standing are the components of the last run, nil if none of them may stand.
	standing *standing.List
}

func openState(config *job.Config) (*scheduled, error) {
	host, _ := os.Hostname()
	opened, err := state.Open(config.State, fmt.Sprintf("process %d on %s", os.Getpid(), host))
	if held, is := errors.AsType[*storage.HeldError](err); is {
		return nil, failure.New(failure.Storage, setting.Errorf("{state} %s: another run is at work with it (%s): wait for it, or name another folder", config.State, held.Holder))
	}
	if err != nil {
		return nil, failure.New(failure.Storage, setting.Errorf("{state} %s cannot be used: %w", config.State, err))
	}
	s := &scheduled{State: opened}
	if err := s.keepSeed(config); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return s, nil
}

// keepSeed replaces a seed that was drawn by the one of the state: its sketches can be compared with no others.
func (s *scheduled) keepSeed(config *job.Config) error {
	if !config.Seed.IsDrawn || s.Last.Number == 0 || config.Rebuild {
		return nil
	}
	var last job.Config
	if err := json.Unmarshal(s.Last.Config, &last); err != nil {
		return fmt.Errorf("read the configuration of the last run: %w", err)
	}
	config.Seed.Number = last.Seed.Number
	return nil
}

// earlier returns what the state knows of the files. Another version of the program may find other formats, and so does another format
// that the user names. Whether the files have the fields of the configuration is known, since other fields need other units.
func (r *run) earlier() (e listing.Earlier) {
	s, last := r.state, job.Config{}
	if s == nil {
		return e
	}
	if r.Config.Add {
		e.Corpus, e.Order = s.Corpus(), s.Last.Order
	}
	if r.Config.Rebuild || s.Last.Program != build.Version() || json.Unmarshal(s.Last.Config, &last) != nil || last.Format != r.Config.Format {
		return e
	}
	e.Known, e.Annotatable = s.Known(), slices.Contains(last.Outputs(), output.Annotated)
	return e
}

// assign takes what the state has of the inputs, which are cut anew. The error is of a kind.
func (r *run) assign(splitBytes int64) error {
	s := r.state
	var err error
	fingerprinting := transforms.NewFingerprinting(&r.Config, transforms.Extent{Scheme: r.Scheme})
	if s.sketches, err = fingerprinting.UnitsHash(r.inputs); err != nil {
		return err
	}
	if !r.Config.CommonLaw().IsOff() {
		s.sketches += " common " + r.Config.Common // another law, another list
	}
	if s.Last.Number > 0 && !r.Config.Rebuild && s.sketches != s.Last.Sketches {
		return failure.New(failure.Usage, r.otherSettings())
	}
	cut := func() { r.inputs.Splits, r.inputs.Units, s.difference = s.Assign(r.inputs.Files, splitBytes) }
	cut()
	if (s.Last.Kept != "" || s.Last.SharedIDs > 0) && !r.Config.Rebuild {
		r.inputs.Past = s.Past(r.inputs)
	}
	if known := len(s.Last.Files); s.difference.Removed*10 > known && !r.Config.AllowRemoval {
		return failure.New(failure.Input, setting.Errorf("%d of the %d files that the {state} knows are not in the {input} any more: if that is right, allow it with {allow_removal}; with {add} the {input} need only name what is new",
			s.difference.Removed, known))
	}
	switch {
	case r.Config.Rebuild:
		s.Last.Files = nil
		cut()
	case s.difference.Reordered:
		return failure.New(failure.Usage, setting.Errorf("{state} %s was made with the files in another order, which decides between copies: name {input} and {reference} in the order of the last run (%s), name another folder, or have all files read again with {rebuild}",
			r.Config.State, strings.Join(s.Last.Order, ", ")))
	}
	return nil
}

// documentsOf returns about how many documents the inputs have, by the documents and the bytes of the last run, 0 if there was none.
func (s *scheduled) documentsOf(in *documents.Inputs) int64 {
	before := int64(0)
	for i := range s.Last.Files {
		before += s.Last.Files[i].TextSize()
	}
	return int64(float64(s.Last.Documents) * float64(in.TextBytes()) / float64(max(before, 1)))
}

// otherSettings is the error of a configuration whose sketches the state does not have.
func (r *run) otherSettings() error {
	var last job.Config
	if err := json.Unmarshal(r.state.Last.Config, &last); err != nil {
		return fmt.Errorf("read the configuration of the last run: %w", err)
	}
	what := "another version of this program"
	if made := r.state.Last.Program; made != build.Version() {
		what += fmt.Sprintf(" (%s, and this is %s)", made, build.Version())
	}
	what += ", another list of words or sources, or fewer outputs"
	if names := r.Config.Differing(&last); len(names) > 0 {
		what = fmt.Sprintf("other settings (%v)", names)
	}
	return setting.Errorf("{state} %s was made with %s, so its sketches cannot be compared with new ones: use the settings of the last run, name another folder, or have all files read again with {rebuild}",
		r.Config.State, what)
}

// paired returns the path of the table of similar pairs of the last run, "" if this run cannot use it. Where pairs are estimated, a
// candidate may be an edge though it is not similar, and exact keys depend on the corpus. A worker of a cluster must be able to
// hold it.
func (r *run) paired() string {
	s := r.state
	if r.keepsPairs() {
		return r.kept()
	}
	if s == nil || s.comparesAll || s.Last.SimilarPairs > mostVerdicts(&r.Config) || !r.Config.Scorer().HasClusters || s.Last.Verdicts == "" || s.Last.Results != r.ConfigHash || r.Config.Rebuild ||
		!r.Config.Scorer().IsExact {
		return ""
	}
	return s.Path(s.Last.Verdicts)
}

// keepsPairs reports whether the state has the pairs of the last run with their passages, and not the verdicts about them.
func (r *run) keepsPairs() bool {
	return r.state != nil && r.Config.Scorer().Reads == methods.Texts && r.Config.CommonLaw().IsOff()
}

// kept returns the path of the run file with the pairs of the last run and their passages, "" if this run cannot use it. Which of several equal
// documents is the first depends on the order of the files.
func (r *run) kept() string {
	last := &r.state.Last
	if last.Kept == "" || last.Results != r.ConfigHash || r.Config.Rebuild || !r.inputs.Past.IsInOrder() {
		return ""
	}
	return r.state.Path(last.Kept)
}

// settled returns the same path if the table has all that rows tell of a pair. It has no similarities by all shingles, which rows tell where
// common ones are left out.
func (r *run) settled() string {
	if !r.Config.CommonLaw().IsOff() || !r.Config.Scorer().HasClusters {
		return ""
	}
	return r.paired()
}

// mostVerdicts returns the largest number of similar pairs of the last run that a job makes use of. A process of a cluster holds them
// and, in one task, the documents that they are about, in a quarter of its memory.
func mostVerdicts(config *job.Config) int64 {
	if job.IsLocal(config.Runner) || config.ProcessMemory() == 0 {
		return math.MaxInt64
	}
	return config.ProcessMemory() / 4 / (state.VerdictSize + 4*records.KnownSize)
}

// growth bounds how far a corpus may grow from nights that leave documents out: by a part of this size of what it was when a run
// last grouped all documents.
const growth = 8

// narrows reports whether the run may leave documents out that can be in no pair. Which pairs of a dense group are compared depends on
// all documents. So all are grouped once in a while, and always if the crowds of the corpus come near to what is allowed. Only
// a small corpus has no dense groups.
func (r *run) narrows() bool {
	if r.paired() == "" || r.state.Last.Grouped == 0 {
		return false
	}
	if r.keepsPairs() {
		return true // the groups of all keys that new documents, gone ones or crowds have are whole
	}
	last := &r.state.Last
	return last.Documents <= max(last.Grouped+last.Grouped/growth, methods.SmallCorpus) && !r.isCrowded(last.Crowded, last.Documents)
}

// crowded returns how many pairs the crowds of the corpus have, given the outcome of this run. Of SimHash distances, it is the largest
// number of pairs within the distance that one key may have by now: a night sees all pairs with new documents.
func (r *run) crowded(result *write.Result) int64 {
	switch {
	case r.Config.Scorer().IsDistance && r.hasNarrowed():
		return r.state.Last.Crowded + int64(result.Alike)
	case r.Config.Scorer().IsDistance:
		return int64(result.Alike)
	case r.hasNarrowed():
		return max(r.state.Last.Crowded, result.Crowded)
	}
	return result.Crowded
}

// hasNarrowed reports whether this run has left documents out.
func (r *run) hasNarrowed() bool { return r.job != nil && r.job.Parameters.Narrowed }

// isCrowded reports whether the pairs of all crowds are more than half of what is compared of a corpus of that many documents. Of SimHash
// distances, it reports whether one key may have more pairs than are listed.
func (r *run) isCrowded(pairs, documents int64) bool {
	bounds := groups.UsualBounds()
	if r.Config.Scorer().IsDistance {
		return pairs > bounds.Group
	}
	return 2*pairs > bounds.Allowed(documents)
}

// knowsCommon reports whether the state has a list of common shingles, which the run takes as it is.
func (r *run) knowsCommon() bool {
	return r.state != nil && !r.Config.CommonLaw().IsOff() && r.state.Last.Number > 0 && !r.Config.Rebuild
}

// executeAll runs the graph of the job, which once does. If dense groups turn up, what is compared in them depends on all documents. So the
// job then begins anew and compares all pairs itself, as a run over everything does. It also begins anew if rows call documents otherwise
// than the rows that it has copied, or if it has copied rows that are to be made.
func (r *run) executeAll(once func() (*metrics.Results, error)) (*metrics.Results, error) {
	found, err := once()
	if err != nil || r.job.Parameters.Verdicts == "" && !r.hasNarrowed() || r.keepsPairs() {
		return found, err
	}
	result, err := write.ReadResult(r.results.Temp)
	if err != nil {
		return nil, failure.Explain(&r.Config, failure.Storage, err)
	}
	isNamedOtherwise := r.job.Rows.Standing.List != "" && result.Counts.HasIntegerNames() != r.state.Last.IntegerNames
	isDense := !hasComparedAll(result) || r.hasNarrowed() && r.isCrowded(r.crowded(&result), documentsOf(result))
	if !isNamedOtherwise && !isDense && !result.StoodTooEarly {
		return found, nil
	}
	r.state.makesAllRows, r.state.comparesAll = true, isDense
	r.job = r.newJob().In(r.results.Temp, r.results.Partial)
	return once()
}

// documentsOf returns the number of all documents of a result.
func documentsOf(result write.Result) int64 {
	return result.Counts.Documents + result.Counts.ReferenceDocuments
}

// hasComparedAll reports whether a run has compared all candidates.
func hasComparedAll(result write.Result) bool {
	return result.Skipped.Groups == 0 && result.Skipped.Pairs == 0
}
