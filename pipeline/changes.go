package pipeline

import (
	"encoding/json"
	"slices"
	"time"

	"mirrorbeam/internal/failure"
	"mirrorbeam/internal/lineage"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/mirrors"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/outputs"
	"mirrorbeam/internal/setting"
	"mirrorbeam/internal/state"
	"mirrorbeam/internal/verdicts"
	"mirrorbeam/internal/warnings"
	"mirrorbeam/internal/work"
	"mirrorbeam/job"
	"mirrorbeam/sketch"
)

// Failing returns the conditions of [job.Config.FailOn] that the run meets.
func (s *Summary) Failing() []string {
	if s.State == nil {
		return nil
	}
	var met []string
	for _, of := range output.Followed {
		for _, kind := range output.ChangeKindsOf(of) {
			condition := job.FailCondition(kind, of)
			if s.State.Changes[of][kind] > 0 && slices.Contains(s.Config.FailOn, condition) {
				met = append(met, condition)
			}
		}
	}
	return met
}

// found is what a run hands on to the next one.
type found struct {
	changes []output.Change
	// warnings say which protected sites could not be compared, and originals what the next run is to know of them.
	warnings  []warnings.Warning
	originals []lineage.Original
	unseen    int64
	// names are the files of the state that the next run needs.
	names state.Names
}

// publishScheduled publishes the results together with what has changed since the last run, and then commits the state. A
// run that dies in between has told of its changes, and the next one tells of them again.
func (r *run) publishScheduled(result *outputs.Result, summary *Summary) error {
	of, err := r.handOn(result)
	if err != nil {
		return failure.Explain(&r.Config, failure.Storage, err)
	}
	summary.Warnings = append(summary.Warnings, of.warnings...)
	summary.State = &StateSummary{Generation: r.state.Last.Number + 1, Files: r.state.difference, Changes: r.count(of.changes), Unseen: of.unseen}
	files, err := outputs.WriteChanges(outputs.Files{Partial: work.Path(r.results.Partial), Format: r.Config.OutputFormat}, of.changes)
	if err == nil {
		err = r.results.Publish(append(result.Files, files...), *summary)
	}
	if err != nil {
		return failure.Explain(&r.Config, failure.Storage, err)
	}
	if err := r.commit(result, of); err != nil {
		return failure.Explain(&r.Config, failure.Storage, setting.Errorf("the results are published, but the {state} is as it was: %w", err))
	}
	return nil
}

// count counts changes by output and kind. Outputs that the run has found no groups for are left out.
func (r *run) count(changes []output.Change) map[string]map[string]int64 {
	counts := map[string]map[string]int64{output.Clusters: {}}
	if r.Config.HasSites() {
		counts[output.Mirrors], counts[output.Suspects], counts[output.Protected] = map[string]int64{}, map[string]int64{}, map[string]int64{}
	}
	for _, change := range changes {
		counts[change.Of][change.Change]++
	}
	return counts
}

// handOn compares what the run has found with what the last one did, and writes files of the state for the next one. A run
// that is not about sites hands on what an earlier one has found of them.
func (r *run) handOn(result *outputs.Result) (f found, err error) {
	now, err := outputs.ReadForNext(result.Written)
	if err != nil {
		return f, err
	}
	last, names := &r.state.Last, state.NewNames()
	f.names = state.Names{Clusters: names.Clusters, Mirrors: last.Mirrors, Suspects: last.Suspects}
	f.originals = last.Originals
	if err = r.follow(&f, output.Clusters, last.Clusters, now.Clusters, names.Clusters); err != nil {
		return f, err
	}
	if r.Config.HasSites() {
		f.names.Mirrors, f.names.Suspects = names.Mirrors, names.Suspects
		if err = r.follow(&f, output.Mirrors, last.Mirrors, now.Mirrors, names.Mirrors); err != nil {
			return f, err
		}
		if err = r.followAlerts(&f, now.Suspects, result.Written); err != nil {
			return f, err
		}
	}
	if hasComparedAll(*result) && r.Config.Similarity == methods.Resemblance && r.Config.Scoring() == methods.Jaccard && r.Config.CommonLaw().IsOff() {
		f.names.Verdicts = names.Verdicts
		err = verdicts.Write(r.state.Path(names.Verdicts), now.Verdicts)
	}
	return f, err
}

// follow compares the groups of an output with those in a file of the last run, whose name may be empty, and writes them to
// another one.
func (r *run) follow(f *found, of, lastName string, now []lineage.Group, name string) (err error) {
	var last []lineage.Group
	if lastName != "" {
		if last, err = lineage.Read(r.state.Path(lastName)); err != nil {
			return err
		}
	}
	f.changes = append(f.changes, lineage.Follow(of, last, now, r.state.Last.Number+1)...)
	return lineage.Write(r.state.Path(name), now)
}

// followAlerts does the same for suspects, and tells which protected sites it could not compare.
func (r *run) followAlerts(f *found, now []lineage.Alert, runs []work.Path) (err error) {
	var known []lineage.Alert
	if name := r.state.Last.Suspects; name != "" {
		if known, err = lineage.ReadAlerts(r.state.Path(name)); err != nil {
			return err
		}
	}
	originals := r.state.Last.Originals
	if r.Config.Rebuild {
		originals = nil
	}
	watch, err := mirrors.NewWatch(runs, r.inputs.Sites.Protected, originals, known)
	if err != nil {
		return err
	}
	f.originals = watch.Originals
	for _, site := range watch.Changed {
		f.warnings = append(f.warnings, warnings.Warning{Kind: warnings.ProtectedChanged, Text: site.String(), Flag: "--rebuild"})
	}
	changes, all := lineage.FollowAlerts(output.Suspects, known, now, watch.IsUnseen)
	for _, a := range all {
		if a.Unseen && a.Campaign == 0 {
			f.unseen++
		}
	}
	f.changes = append(append(f.changes, changes...), watch.Changes()...)
	return lineage.WriteAlerts(r.state.Path(f.names.Suspects), all)
}

// commit makes what the run has found the next generation of the state.
func (r *run) commit(result *outputs.Result, of found) error {
	config, err := json.Marshal(r.Config)
	if err != nil {
		return err
	}
	made := map[int]string{}
	for split, run := range result.Kept {
		made[split] = string(run)
	}
	s, names := r.state, of.names
	common, err := r.common()
	if err != nil {
		return err
	}
	return s.Commit(state.Content{
		Made: time.Now(), Program: version(), Sketches: s.sketches, Config: config, Files: s.Files(r.inputs, made, r.Begun),
		Documents: result.Counts.Documents + result.Counts.ReferenceDocuments, Results: r.ConfigHash,
		Clusters: names.Clusters, Verdicts: names.Verdicts, Mirrors: names.Mirrors, Suspects: names.Suspects, Originals: of.originals,
		StopWords: r.inputs.StopWords, Ignored: r.inputs.Ignored, Common: common, Sketch: sketch.Version, Unicode: sketch.UnicodeVersion,
	})
}
