package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/incremental"
	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/input/listing"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/build"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/transforms"
)

const mostOpenSuspects = 1000

// openSuspects returns the suspects among all alerts of a state. A campaign stands for its sites.
func openSuspects(all []state.Alert) (open []finished.OpenSuspect) {
	all = slices.DeleteFunc(slices.Clone(all), func(a state.Alert) bool { return a.Pages == 0 || a.Campaign != 0 })
	slices.SortStableFunc(all, func(a, b state.Alert) int {
		return cmp.Compare(a.First.Generation, b.First.Generation)
	})
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
	sketches   string
	difference state.Difference
	// comparesAll says that the run does without the pairs of the last one.
	comparesAll bool
	fields      []string // settings of fields that an earlier run has chosen
}

func openState(ctx context.Context, config *job.Config) (*scheduled, error) {
	host, _ := os.Hostname()
	holder := fmt.Sprintf("process %d on %s", os.Getpid(), host)
	var opened *state.State
	err := awaitLease(ctx, config, func() (err error) {
		opened, err = state.Open(config.State, holder)
		return err
	})
	if errors.Is(err, context.Canceled) {
		return nil, err
	}
	if held, is := errors.AsType[*storage.HeldError](err); is {
		return nil, failure.New(failure.Unavailable,
			setting.Errorf("{state} %s: another run is at work with it: wait for it, for longer with "+
				"{wait_for_lease}, or name another folder: %w", config.State, held))
	}
	if err != nil {
		return nil, failure.New(failure.Storage, setting.Errorf("{state} %s cannot be used: %w", config.State, err))
	}
	s := &scheduled{State: opened}
	if err := errors.Join(s.keepSeed(config), s.keepFields(config)); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return s, nil
}

// awaitLease waits for a lease for as long as the configuration says.
func awaitLease(ctx context.Context, config *job.Config, try func() error) error {
	most := config.LeaseWait()
	return storage.AwaitLease(ctx, most, func(held *storage.HeldError) {
		if config.Progress != nil {
			config.Progress(fmt.Sprintf("waiting for another run, up to %v (--wait-for-lease): %v", job.Span(most),
				held))
		}
	}, try)
}

// readState reads the state of a run that is only checked. It takes no lease. The error is of a kind.
func readState(config *job.Config) (*scheduled, error) {
	last, err := state.Read(config.State)
	if errors.Is(err, state.ErrNone) {
		last, err = &state.Content{}, nil
	}
	folder, absoluteErr := storage.Absolute(config.State)
	if err = errors.Join(err, absoluteErr); err != nil {
		return nil, failure.New(failure.Storage, setting.Errorf("{state} %s cannot be used: %w", config.State, err))
	}
	s := &scheduled{State: &state.State{Folder: folder, Last: *last}}
	return s, errors.Join(s.keepSeed(config), s.keepFields(config))
}

// keepFields takes the fields that an earlier run has chosen, unless the user names others.
func (s *scheduled) keepFields(config *job.Config) error {
	if len(s.Last.Fields) == 0 {
		return nil
	}
	var last job.Config
	if err := json.Unmarshal(s.Last.Config, &last); err != nil {
		return fmt.Errorf("read the configuration of the last run: %w", err)
	}
	earlier := job.SettingsOf(&last)
	for i, setting := range job.SettingsOf(config) {
		if slices.Contains(s.Last.Fields, setting.Name) && setting.IsDefault() &&
			!slices.Contains(config.Given, setting.Name) {
			setting.Value.Set(earlier[i].Value)
			s.fields = append(s.fields, setting.Name)
		}
	}
	return nil
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

// earlier returns what the state knows of the files. Another version of the program may find other formats, and so does
// another format that the user names. Whether the files have the fields of the configuration is known, since other
// fields need other segments.
func (r *run) earlier() (e listing.Earlier) {
	s, last := r.state, job.Config{}
	if s == nil {
		return e
	}
	e.HasRun, e.Fields = s.Last.Number > 0, s.fields
	if r.Config.Add {
		e.Corpus, e.Order = s.Corpus(), s.Last.Order
	}
	if r.Config.Rebuild || s.Last.Program != build.Version() || json.Unmarshal(s.Last.Config, &last) != nil ||
		last.Format != r.Config.Format {
		return e
	}
	e.Known = s.Known()
	_, e.Columns = last.AddsColumns()
	return e
}

// assign takes what the state has of the inputs, which are cut again. The error is of a kind.
func (r *run) assign(splitBytes int64) error {
	s := r.state
	var err error
	fingerprinting := transforms.NewFingerprinting(&r.Config, transforms.Extent{Scheme: r.Scheme})
	if s.sketches, err = fingerprinting.SegmentsHash(r.inputs); err != nil {
		return err
	}
	if !r.Config.CommonLaw().IsOff() {
		s.sketches += " common " + r.Config.Common // another law, another list
	}
	if s.Last.Number > 0 && !r.Config.Rebuild && s.sketches != s.Last.Sketches {
		return failure.New(failure.Usage, r.otherSettings())
	}
	reading := state.Reading{
		RanksNames: r.ranking != "" && r.Config.SourceField == "",
		Memory:     r.Config.DocumentBytes(),
	}
	cut := func() {
		r.inputs.Splits, r.inputs.Segments, s.difference = s.Assign(r.inputs.Files, splitBytes, reading)
	}
	cut()
	if (s.Last.Kept != "" || s.Last.SharedIDs > 0) && !r.Config.Rebuild {
		r.inputs.Past = s.Past(r.inputs)
	}
	known, removed := len(s.Last.Files), s.difference.Removed
	if float64(removed) > cmp.Or(r.Config.RemovalLimit, usualRemoval)*float64(known) && !r.Config.AllowRemoval {
		return failure.New(failure.Input,
			setting.Errorf(
				"%d of the %d files that the {state} knows are not in the {input} or {reference} any more: "+
					"if that is right, allow it with {allow_removal}, or in each run of a moving window with "+
					"{removal_limit} %.2g; with {add} the {input} need only name what is new",
				removed, known, float64((100*removed+known-1)/known)/100))
	}
	switch {
	case r.Config.Rebuild:
		difference := s.difference
		s.Last.Files = nil
		cut()
		s.difference = difference // that all files are read again changes none
	case s.difference.Reordered:
		return failure.New(failure.Usage,
			setting.Errorf(
				"{state} %s was made with the files in another order, which decides between copies: "+
					"name {input} and {reference} in the order of the last run (%s), name another folder, "+
					"or have all files read again with {rebuild}",
				r.Config.State, strings.Join(s.Last.Order, ", ")))
	}
	return nil
}

// usualRemoval is the share of the files of a state that may be gone, unless a run says otherwise.
const usualRemoval = 0.1

// documentsOf returns about how many documents the inputs have, by the last run's documents and bytes; 0 without one.
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
	return setting.Errorf(
		"{state} %s was made with %s, so its sketches cannot be compared with new ones: "+
			"use the settings of the last run, name another folder, or have all files read again with {rebuild}",
		r.Config.State, what)
}

func (r *run) plan() incremental.Plan {
	if r.state == nil {
		return incremental.Plan{}
	}
	return incremental.Decide(&r.Config, &r.state.Last, incremental.Listing{
		Results: r.ConfigHash,
		InOrder: r.inputs.Past.IsInOrder(),
		Dense:   r.state.comparesAll,
	})
}

// oversizedPairs returns at least how many pairs the oversized key groups of the corpus have, given the outcome of this
// run: a run that leaves documents out adds the pairs with new documents to what was there. Of SimHash distances, it is
// the largest number of pairs within the distance that one key may have.
func (r *run) oversizedPairs(result *write.Result) int64 {
	now, added := result.OversizedPairs, result.NewOversizedPairs
	if r.Config.Scorer().IsDistance {
		now, added = int64(result.Alike), int64(result.Alike)
	}
	if r.hasPruned() {
		return max(now, r.state.Last.OversizedPairs+added)
	}
	return now
}

func (r *run) hasPruned() bool { return r.job != nil && r.job.Parameters.Pruned }

// executeAll runs the graph of the job, which once does. If dense groups turn up in a run that leaves documents out,
// what is compared in them depends on all documents. So the job then starts over and compares all, as a full run does.
func (r *run) executeAll(once func() (*metrics.Results, error)) (*metrics.Results, error) {
	found, err := once()
	if err != nil || !r.hasPruned() || incremental.KeepsPassages(&r.Config) {
		return found, err
	}
	result, err := write.ReadResult(r.results.Temp)
	if err != nil {
		return nil, failure.Explain(&r.Config, failure.Storage, err)
	}
	if hasComparedAll(result) && !incremental.IsDense(&r.Config, r.oversizedPairs(&result), documentsOf(result)) {
		return found, nil
	}
	r.state.comparesAll = true
	r.job = r.newJob().In(r.results.Temp, r.results.Partial)
	return once()
}

func documentsOf(result write.Result) int64 {
	return result.Counts.Documents + result.Counts.ReferenceDocuments
}

// hasComparedAll reports whether a run has compared all candidates.
func hasComparedAll(result write.Result) bool {
	return result.Skipped.Groups == 0 && result.Skipped.Pairs == 0
}
