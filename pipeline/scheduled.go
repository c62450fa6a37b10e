package pipeline

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/failure"
	"mirrorbeam/internal/lineage"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/outputs"
	"mirrorbeam/internal/setting"
	"mirrorbeam/internal/state"
	"mirrorbeam/internal/storage"
	"mirrorbeam/internal/work"
	"mirrorbeam/job"
)

// StateSummary says what a run found in its state, and what has changed since the last run.
type StateSummary struct {
	// Generation is the number of the generation that the run has written.
	Generation int `json:"generation"`
	// Files counts the files by how they differ from those of the last run.
	Files state.Difference `json:"files"`
	// Changes counts the changes of clusters by their kinds; see [output.ChangeKinds].
	Changes map[string]int64 `json:"changes"`
}

// Failing returns the conditions of [job.Config.FailOn] that the run meets.
func (s *Summary) Failing() []string {
	var met []string
	for _, kind := range output.ChangeKinds {
		condition := kind + "-clusters"
		if s.State != nil && s.State.Changes[kind] > 0 && slices.Contains(s.Config.FailOn, condition) {
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

// publishScheduled publishes the results together with what has changed since the last run, and then commits the state. A
// run that dies in between has told of its changes, and the next one tells of them again.
func (r *run) publishScheduled(result *outputs.Result, summary *Summary) error {
	followed, clusters, err := r.follow(result)
	if err != nil {
		return failure.Explain(&r.Config, failure.Storage, err)
	}
	summary.State = followed
	if err := r.results.Publish(result.Files, *summary); err != nil {
		return failure.Explain(&r.Config, failure.Storage, err)
	}
	if err := r.commit(result, clusters); err != nil {
		return failure.Explain(&r.Config, failure.Storage, setting.Errorf("the results are published, but the {state} is as it was: %w", err))
	}
	return nil
}

// follow compares the clusters of the run with those of the last one, writes what has changed as an output, and the
// clusters to a file of the state, which it returns.
func (r *run) follow(result *outputs.Result) (summary *StateSummary, clusters string, err error) {
	s := r.state
	summary = &StateSummary{Generation: s.Last.Number + 1, Files: s.difference, Changes: map[string]int64{}}
	var last []lineage.Group
	if s.Last.Clusters != "" {
		if last, err = lineage.Read(s.Path(s.Last.Clusters)); err != nil {
			return nil, "", err
		}
	}
	now, err := outputs.ReadMemberships(result.Written)
	if err != nil {
		return nil, "", err
	}
	changes := lineage.Follow(output.Clusters, last, now, summary.Generation)
	for _, change := range changes {
		summary.Changes[change.Change]++
	}
	files, err := outputs.WriteChanges(outputs.Files{Partial: work.Path(r.results.Partial), Format: r.Config.OutputFormat}, changes)
	if err != nil {
		return nil, "", err
	}
	result.Files = append(result.Files, files...)
	clusters = state.ClustersName(rand.Text())
	return summary, clusters, lineage.Write(s.Path(clusters), now)
}

// commit makes what the run has found the next generation of the state.
func (r *run) commit(result *outputs.Result, clusters string) error {
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
		Made: time.Now(), Program: version(), Sketches: s.sketches, Config: config,
		Files: s.Files(r.inputs, made, r.Begun), Documents: result.Counts.Documents + result.Counts.ReferenceDocuments, Clusters: clusters,
	})
}
