// Package pipeline is the driver of a job: it lays out the graph of stages, runs it on a Beam runner, and publishes the
// results.
package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/match/recall"
	"mirrorbeam/internal/measure/common"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/settle/write"
	"mirrorbeam/internal/start/failure"
	"mirrorbeam/internal/start/listing"
	"mirrorbeam/internal/start/workspace"
	"mirrorbeam/job"
	"mirrorbeam/transforms"
)

// The kinds of failure, which errors.Is finds in an error.
const (
	// ErrUsage says that the configuration is wrong.
	ErrUsage = failure.Usage
	// ErrInput says that the input cannot be used.
	ErrInput = failure.Input
	// ErrStorage says that the output or the temporary folder cannot be used.
	ErrStorage = failure.Storage
)

// Run runs the job and returns its summary. Unless it returns an error, the results are complete and published. A
// cancelled context ends the job and leaves the output folder as it was. Run then returns the context's error.
func Run(ctx context.Context, config job.Config) (Summary, error) {
	r, err := list(ctx, config)
	if err != nil {
		return Summary{}, err
	}
	defer r.close()
	if kept, is := r.unchanged(); is {
		return kept, nil
	}
	if err := r.open(ctx); err != nil {
		return Summary{}, err
	}
	var found *metrics.Results
	if job.IsLocal(config.Runner) {
		found, err = r.executeAll(ctx)
	} else {
		found, err = r.runOn(ctx, engineOf(config.Runner))
		ctx = context.WithoutCancel(ctx) // the job is done elsewhere, and an end now would lose it
	}
	if err != nil {
		return Summary{}, err
	}
	return r.finish(ctx, found)
}

// run is a job on its way. What another process needs to finish it can be written as JSON.
type run struct {
	settings
	// ConfigHash identifies what changes the results.
	ConfigHash string `json:"config_hash"`
	// Bytes is about how many bytes of text there are.
	Bytes int64     `json:"bytes"`
	Begun time.Time `json:"begun"`

	inputs  *documents.Inputs
	state   *scheduled // nil without a state
	results *workspace.Workspace
	job     *transforms.Job // nil in a process that only finishes the job
}

// list checks the settings, opens the state and lists the inputs. The caller closes the run. The error is of a kind.
func list(ctx context.Context, config job.Config) (_ *run, err error) {
	begun := time.Now()
	checked, err := checkSettings(ctx, config)
	if err != nil {
		return nil, err
	}
	r := &run{settings: checked, Begun: begun}
	if config.State != "" {
		if r.state, err = openState(&r.Config); err != nil { // which has the seed, if one was drawn
			return nil, err
		}
	}
	if err := r.listInputs(ctx); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// open makes the job of the settings and the inputs, and gives it its folders. The error is of a kind.
func (r *run) open(ctx context.Context) error {
	r.job = r.newJob()
	if err := r.openFolders(); err != nil {
		return err
	}
	if err := checkRoom(ctx, &r.Config, r.job, r.inputs); err != nil {
		return err
	}
	if err := r.results.Keep(); err != nil {
		return failure.New(failure.Storage, err)
	}
	return nil
}

// prepare lists the inputs of a run and opens it. The caller closes the run. The error is of a kind.
func prepare(ctx context.Context, config job.Config) (*run, error) {
	r, err := list(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := r.open(ctx); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// listInputs lists the files of the corpus, and takes what the state has of them. The error is of a kind.
func (r *run) listInputs(ctx context.Context) error {
	inputs, size, err := listing.Apart(ctx, r.Config, r.known())
	if err != nil {
		return err
	}
	inputs.StopWords, inputs.Ranking, inputs.Sites = r.stopWords, r.ranking, r.sites
	if r.state != nil && !r.Config.Rebuild {
		for _, original := range r.state.Last.Originals {
			inputs.Originals = append(inputs.Originals, original.Site)
		}
	}
	r.inputs, r.Bytes = &inputs, size
	r.ConfigHash = r.Config.ResultHash(r.lists())
	if r.state == nil {
		return nil
	}
	return r.assign(listing.SplitBytes(size))
}

// lists returns what stands in the files that the configuration names.
func (r *run) lists() job.Lists {
	return job.Lists{StopWords: r.stopWords, Ranking: r.ranking, Ignored: documents.IgnoredHash(r.inputs.Ignored)}
}

// newJob returns the parameters of the stages, still without folders.
func (r *run) newJob() *transforms.Job {
	e := transforms.Extent{Scheme: r.Scheme, Bytes: r.Bytes, Splits: len(r.inputs.Splits), Lists: r.lists()}
	if r.state != nil {
		e.Units, e.Verdicts, e.KnowsCommon, e.Narrows = r.state.Units(), r.settled(), r.knowsCommon(), r.narrows()
		e.FreshBytes = r.inputs.FreshBytes()
	}
	return transforms.NewJob(&r.Config, e)
}

// openFolders makes the folders of the run, or takes up the folders of a dead one, and writes the inputs of the job into them. The
// error is of a kind.
func (r *run) openFolders() error {
	recipe, err := r.recipe()
	if err != nil {
		return err
	}
	if r.results, err = openWorkspace(&r.Config, recipe); err != nil {
		return failure.New(failure.Storage, err)
	}
	r.sayResumed()
	r.job.In(r.results.Temp, r.results.Partial)
	err = documents.WriteInputs(string(r.job.Inputs), *r.inputs)
	if err == nil && r.knowsCommon() {
		err = common.Give(r.results.Temp, r.state.Last.Common)
	}
	if err != nil {
		return failure.Explain(&r.Config, failure.Storage, err)
	}
	return nil
}

// close gives the folders of the run back, or keeps them to be resumed.
func (r *run) close() {
	if r.results != nil {
		r.sayKept()
		r.results.Close()
	}
	if r.state != nil {
		r.state.Close() // a lease that is not given back ends with the process
	}
}

// process is held by the job that a runner works on. The memory limit, and the memory that tasks pass on, belong to the
// whole process.
var process = make(chan struct{}, 1)

func graphOf(j *transforms.Job) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	transforms.LayOut(s, j)
	return p
}

// execute runs the graph of a job in this process, which aims to stay below the size in the configuration.
func execute(ctx context.Context, j *transforms.Job, config *job.Config) (*metrics.Results, error) {
	select {
	case process <- struct{}{}:
		defer func() { <-process }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer work.LimitMemory(config.ProcessMemory())()
	// The runner may have given up the pipeline while tasks still write.
	defer work.Drain(j.Runs.Folder)
	if config.Monitor != nil {
		progress, end := work.Watch(j.Runs.Folder)
		defer end()
		defer config.Monitor(progress.Stages)()
	}
	result, err := beam.Run(ctx, localRunner, graphOf(j))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, failure.OfTask(config, err)
	}
	found := result.Metrics()
	return &found, nil
}

// finish checks the results of a pipeline that has ended, and publishes them. The end of the context ends it until the results are
// published.
func (r *run) finish(ctx context.Context, found *metrics.Results) (Summary, error) {
	result, err := write.ReadResult(r.results.Temp)
	if err != nil {
		return Summary{}, err
	}
	if err := accept(r.Config, result, r.Bytes); err != nil {
		return Summary{}, errors.Join(failure.New(failure.Input, err), r.results.Settle())
	}
	audited, err := recall.Read(r.results.Temp)
	if err != nil {
		return Summary{}, err
	}
	all := r.inputs.Sources
	if r.Config.SourceField != "" {
		all = result.Named
	}
	summary := summarize(r.Config, all, result, found)
	summary.Counts.PassedOver = r.inputs.Passed
	summary.ConfigHash = r.ConfigHash
	summary.Plan = planOf(r.Config, r.Scheme, result.AllPairs)
	summary.Audit = audited
	summary.Seconds, summary.TempBytes = round(time.Since(r.Begun).Seconds()), work.TempBytes(r.results.Temp)
	if err := r.results.Settle(); err != nil {
		return Summary{}, failure.New(failure.Storage, err)
	}
	leftOut, err := r.writeLeftOut()
	if err != nil {
		return Summary{}, failure.Explain(&r.Config, failure.Storage, err)
	}
	result.Files = append(result.Files, leftOut...)
	if r.state == nil {
		if err := r.results.Publish(result.Files, summary); err != nil {
			return Summary{}, failure.Explain(&r.Config, failure.Storage, err)
		}
		return summary, nil
	}
	if err := r.publishScheduled(ctx, &result, &summary); err != nil {
		return Summary{}, err
	}
	return summary, nil
}

// accept refuses a result that the user would not want.
func accept(config job.Config, result write.Result, size int64) error {
	counts := result.Counts
	if config.MaxRejects >= 0 && counts.Rejected > config.MaxRejects {
		return setting.Errorf("%s, {max_rejects} allows %d: %s", failure.Unreadable(counts.Rejected), config.MaxRejects, firstReject(result))
	}
	if len(config.Reference) > 0 && counts.ReferenceDocuments == 0 {
		if counts.Rejected > 0 {
			return setting.Errorf("no document in the {reference}, %s: %s", failure.Unreadable(counts.Rejected), firstReject(result))
		}
		return setting.Errorf("no document in the {reference}: nothing can be compared with it")
	}
	if counts.Documents == 0 && counts.Rejected > 0 {
		hint := ""
		if config.Format == corpus.AutoFormat && corpus.IsGuessed(result.FirstReject.File) {
			hint = corpus.FormatHint
		}
		return setting.Errorf("no document in %d bytes of input, %s: %s"+hint, size, failure.Unreadable(counts.Rejected), firstReject(result))
	}
	return nil
}

func openWorkspace(config *job.Config, recipe string) (*workspace.Workspace, error) {
	return workspace.Open(workspace.Options{Output: config.Output, Temp: config.TempFolder(), Overwrite: config.Overwrite, Recipe: recipe})
}

// writeLeftOut writes the shingles that did not count beside the results. Base texts may change, and common shingles follow
// from the whole corpus: so nobody could find out later what was compared.
func (r *run) writeLeftOut() (files []output.File, err error) {
	of := write.Files{Partial: work.Path(r.results.Partial)}
	write := func(name string, packed []byte) error {
		file, err := write.WriteShingles(of, name, packed)
		files = append(files, file)
		return err
	}
	if len(r.inputs.Ignored) > 0 {
		if err := write(output.IgnoredShingles, r.inputs.Ignored); err != nil {
			return nil, err
		}
	}
	if r.Config.CommonLaw().IsOff() {
		return files, nil
	}
	found, err := r.common()
	if err == nil {
		err = write(output.CommonShingles, found)
	}
	return files, err
}

// common returns the shingles that did not count because very many documents have them.
func (r *run) common() ([]byte, error) {
	if r.Config.CommonLaw().IsOff() {
		return nil, nil
	}
	return common.Found(r.results.Temp)
}

// recipe returns a hash of all that decides what the tasks of a run do: the program, the parameters of the stages and
// the inputs. It is empty if the run is not to be resumed.
func (r *run) recipe() (string, error) {
	if !r.Config.Resume {
		return "", nil
	}
	hash := sha256.New()
	if err := hashProgram(hash); err != nil {
		return "", err
	}
	for _, part := range []any{r.job, r.inputs} {
		encoded, err := json.Marshal(part)
		if err != nil {
			return "", fmt.Errorf("identify the job: %w", err)
		}
		hash.Write(encoded)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// hashProgram adds this program to a hash: another version may cut or write records in another way.
func hashProgram(hash io.Writer) error {
	path, err := os.Executable()
	if err != nil {
		return fmt.Errorf("identify this program: %w", err)
	}
	program, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("identify this program: %w", err)
	}
	defer program.Close()
	if _, err := io.Copy(hash, program); err != nil {
		return fmt.Errorf("identify this program: %w", err)
	}
	return nil
}

// sayResumed tells the user whether the run goes on where a dead run was.
func (r *run) sayResumed() {
	switch {
	case r.Config.Progress == nil:
	case r.results.Resumed:
		r.Config.Progress("an earlier job has died: going on from what it has done")
	case r.results.Outdated:
		r.Config.Progress("an earlier job has died, but its configuration, its input or the program was another: beginning anew")
	}
}

// sayKept tells the user what is kept of a run that has failed.
func (r *run) sayKept() {
	if r.results.IsKept() && r.Config.Progress != nil {
		r.Config.Progress(fmt.Sprintf("what the job has done is kept in %s: run it again with the same flags to go on; without --resume to begin anew", r.results.Temp))
	}
}
