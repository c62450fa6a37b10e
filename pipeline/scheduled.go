package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/failure"
	"mirrorbeam/internal/lineage"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/outputs"
	"mirrorbeam/internal/setting"
	"mirrorbeam/internal/state"
	"mirrorbeam/internal/storage"
	"mirrorbeam/internal/verdicts"
	"mirrorbeam/internal/work"
	"mirrorbeam/job"
)

// StateSummary says what a run found in its state, and what has changed since the last run.
type StateSummary struct {
	// Generation is the number of the generation that the run has written.
	Generation int `json:"generation"`
	// Files counts the files by how they differ from those of the last run.
	Files state.Difference `json:"files"`
	// Changes counts the changes of the groups of an output, such as [output.Clusters], by their kinds; see
	// [output.ChangeKinds].
	Changes map[string]map[string]int64 `json:"changes"`
}

// Failing returns the conditions of [job.Config.FailOn] that the run meets.
func (s *Summary) Failing() []string {
	var met []string
	for _, kind := range output.ChangeKinds {
		condition := kind + "-clusters"
		if s.State != nil && s.State.Changes[output.Clusters][kind] > 0 && slices.Contains(s.Config.FailOn, condition) {
			met = append(met, condition)
		}
	}
	return met
}

// scheduled is the part of a run that its state knows about.
type scheduled struct {
	*state.State
	// sketches identifies what decides the units.
	sketches   string
	difference state.Difference
}

// openState opens the state of a configuration.
func openState(config *job.Config) (*scheduled, error) {
	host, _ := os.Hostname()
	opened, err := state.Open(config.State, fmt.Sprintf("process %d on %s", os.Getpid(), host))
	if held, is := errors.AsType[*storage.HeldError](err); is {
		return nil, failure.New(failure.Storage, setting.Errorf("{state} %s: another run is at work with it (%s): wait for it, or name another folder", config.State, held.Holder))
	}
	if err != nil {
		return nil, failure.New(failure.Storage, setting.Errorf("{state} %s cannot be used: %w", config.State, err))
	}
	return &scheduled{State: opened}, nil
}

// known returns the files that are of the corpus even if the configuration does not name them.
func (r *run) known() []corpus.File {
	if r.state == nil || !r.Config.Add {
		return nil
	}
	return r.state.Corpus()
}

// assign takes what the state has of the inputs, which are cut anew. The error is of a kind.
func (r *run) assign(f documents.Fingerprinting, splitBytes int64) error {
	s := r.state
	var err error
	if s.sketches, err = f.UnitsHash(r.inputs); err != nil {
		return err
	}
	if s.Last.Number > 0 && !r.Config.Rebuild && s.sketches != s.Last.Sketches {
		return failure.New(failure.Usage, r.otherSettings())
	}
	cut := func() { r.inputs.Splits, r.inputs.Units, s.difference = s.Assign(r.inputs.Files, splitBytes) }
	cut()
	if known := len(s.Last.Files); s.difference.Removed*10 > known && !r.Config.AllowRemoval {
		return failure.New(failure.Input, setting.Errorf("%d of the %d files that the {state} knows are not in the {input} any more: if that is right, allow it with {allow_removal}; with {add} the {input} need only name what is new",
			s.difference.Removed, known))
	}
	if r.Config.Rebuild {
		s.Last.Files = nil
		cut()
	}
	return nil
}

// otherSettings is the error of a configuration whose sketches the state does not have.
func (r *run) otherSettings() error {
	var last job.Config
	if err := json.Unmarshal(r.state.Last.Config, &last); err != nil {
		return fmt.Errorf("read the configuration of the last run: %w", err)
	}
	what := "another version of this program, another list of words or sources, or fewer outputs"
	if names := r.Config.Differing(&last); len(names) > 0 {
		what = fmt.Sprintf("other settings (%v)", names)
	}
	return setting.Errorf("{state} %s was made with %s, so its sketches cannot be compared with new ones: use the settings of the last run, name another folder, or have all files read again with {rebuild}",
		r.Config.State, what)
}

// settled returns the path of the table of similar pairs of the last run, "" if this run cannot use it. Where documents have
// sides, or there is a reference, the last run need not have compared two classes that can be compared now. Where pairs are
// estimated, a candidate may be an edge though it is not similar, and exact keys depend on the corpus.
func (r *run) settled() string {
	s := r.state
	if s == nil || s.Last.Verdicts == "" || s.Last.Results != r.ConfigHash || r.Config.Rebuild ||
		r.Config.Verify != methods.VerifyExact || r.Config.Across != "" || len(r.Config.Reference) > 0 {
		return ""
	}
	return s.Path(s.Last.Verdicts)
}

// executeAll runs the graph of the job. If dense groups turn up, what is compared in them depends on all documents. So the
// job then begins anew and compares all pairs itself, as a run over everything does.
func (r *run) executeAll(ctx context.Context) (*metrics.Results, error) {
	found, err := execute(ctx, r.job, &r.Config)
	if err != nil || r.job.Parameters.Verdicts == "" {
		return found, err
	}
	result, err := outputs.ReadResult(r.results.Temp)
	if err != nil || hasComparedAll(result) {
		return found, err
	}
	r.job.Parameters.Verdicts = ""
	return execute(ctx, r.job, &r.Config)
}

// hasComparedAll reports whether a run has compared all candidates.
func hasComparedAll(result outputs.Result) bool {
	return result.Skipped.Groups == 0 && result.Skipped.Pairs == 0
}

// found is what a run hands on to the next one.
type found struct {
	changes            []output.Change
	clusters, verdicts string // files of the state
}

// publishScheduled publishes the results together with what has changed since the last run, and then commits the state. A
// run that dies in between has told of its changes, and the next one tells of them again.
func (r *run) publishScheduled(result *outputs.Result, summary *Summary) error {
	of, err := r.handOn(result, r.state.Last.Number+1)
	if err != nil {
		return failure.Explain(&r.Config, failure.Storage, err)
	}
	kinds := map[string]int64{}
	for _, change := range of.changes {
		kinds[change.Change]++
	}
	summary.State = &StateSummary{
		Generation: r.state.Last.Number + 1, Files: r.state.difference, Changes: map[string]map[string]int64{output.Clusters: kinds},
	}
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

// handOn compares the clusters of the run with those of the last one, and writes files of the state for the next one.
func (r *run) handOn(result *outputs.Result, generation int) (f found, err error) {
	s := r.state
	var last []lineage.Group
	if s.Last.Clusters != "" {
		if last, err = lineage.Read(s.Path(s.Last.Clusters)); err != nil {
			return f, err
		}
	}
	now, pairs, err := outputs.ReadForNext(result.Written)
	if err != nil {
		return f, err
	}
	f.changes = lineage.Follow(output.Clusters, last, now, generation)
	clusters, similar := state.NewNames()
	if err := lineage.Write(s.Path(clusters), now); err != nil {
		return f, err
	}
	f.clusters = clusters
	if hasComparedAll(*result) && r.Config.Scoring() == methods.Jaccard {
		f.verdicts, err = similar, verdicts.Write(s.Path(similar), pairs)
	}
	return f, err
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
	s := r.state
	return s.Commit(state.Content{
		Made: time.Now(), Program: version(), Sketches: s.sketches, Config: config, Files: s.Files(r.inputs, made, r.Begun),
		Documents: result.Counts.Documents + result.Counts.ReferenceDocuments, Clusters: of.clusters, Verdicts: of.verdicts, Results: r.ConfigHash,
	})
}
