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
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	"mirrorbeam.dev/internal/audit/auditing"
	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/fingerprint/common"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/incremental"
	"mirrorbeam.dev/internal/input/listing"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/build"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/transforms"
)

// The kinds of failure, which errors.Is finds in an error.
const (
	// ErrUsage says that the configuration is wrong.
	ErrUsage = failure.Usage
	// ErrInput says that the input cannot be used.
	ErrInput = failure.Input
	// ErrStorage says that the output or the temporary folder cannot be used.
	ErrStorage = failure.Storage
	// ErrUnavailable says that something outside of this program is out of reach: the same run may succeed later.
	ErrUnavailable = failure.Unavailable
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
	once := func() (*metrics.Results, error) { return execute(ctx, r.job, &r.Config) }
	if !job.IsLocal(config.Runner) {
		once = func() (*metrics.Results, error) { return r.runOn(ctx, engineOf(config.Runner)) }
	}
	found, err := r.executeAll(once)
	if err != nil {
		return Summary{}, err
	}
	if !job.IsLocal(config.Runner) {
		ctx = context.WithoutCancel(ctx) // the job is done elsewhere, and an end now would lose it
	}
	return r.finish(ctx, found)
}

// run is a job on its way. What another process needs to finish it can be written as JSON.
type run struct {
	settings
	// ConfigHash identifies what changes the results.
	ConfigHash string `json:"config_hash"`
	// Bytes is about how many bytes of text there are.
	Bytes int64 `json:"bytes"`
	// Blocks are the blocks of the tables of fingerprints that the number of documents asks for, if it does.
	Blocks []int     `json:"blocks,omitempty"`
	Begun  time.Time `json:"begun"`
	// Spent is what this process, and the one that submitted the job, have asked of buckets in addition to the tasks.
	Spent storage.Spent `json:"spent"`

	before  time.Duration // CPU time of this process before the job
	inputs  *documents.Inputs
	state   *scheduled // nil without a state
	results *workspace.Workspace
	job     *transforms.Job // nil in a process that only finishes the job
}

// list checks the settings, opens the state and lists the inputs. The caller closes the run. The error is of a kind.
func list(ctx context.Context, config job.Config) (_ *run, err error) {
	begun := time.Now()
	before, _ := processUse()
	storage.TakeSpent() // is of what this process did before
	checked, err := readSettings(config)
	if err == nil {
		err = CheckRunner(ctx, config.Runner)
	}
	if err == nil {
		err = checkOpenFiles()
	}
	if err != nil {
		return nil, err
	}
	r := &run{settings: checked, Begun: begun, before: before}
	if config.State != "" {
		if r.state, err = openState(ctx, &r.Config); err != nil { // which has the seed, if one was drawn
			return nil, err
		}
		err = r.checkAge()
	}
	if err == nil {
		err = r.listInputs(ctx)
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// open makes the job of the settings and the inputs, and gives it its folders. The error is of a kind.
func (r *run) open(ctx context.Context) error {
	r.job = r.newJob()
	if err := r.openFolders(ctx); err != nil {
		return err
	}
	if err := checkRoom(ctx, &r.Config, r.job, r.inputs); err != nil {
		return err
	}
	if err := r.results.Keep(); err != nil {
		return failure.New(failure.Storage, err)
	}
	r.Spent.Add(storage.TakeSpent())
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
	inputs, size, err := listing.Apart(ctx, &r.Config, r.earlier())
	if err != nil {
		return err
	}
	inputs.StopWords, inputs.Ranking, inputs.Sites = r.stopWords, r.ranking, r.sites
	if r.state != nil && !r.Config.Rebuild {
		inputs.Known = r.state.documentsOf(&inputs)
		for _, original := range r.state.Last.Originals {
			inputs.Originals = append(inputs.Originals, original.Site)
		}
	}
	r.inputs, r.Bytes, r.Blocks = &inputs, size, chooseBlocks(&r.Config, &inputs)
	r.ConfigHash = r.Config.ResultHash(job.Lists{
		StopWords: r.stopWords,
		Ranking:   r.ranking,
		Ignored:   documents.IgnoredHash(r.inputs.Ignored),
	})
	if r.state == nil {
		return nil
	}
	return r.assign(listing.SplitBytes(size))
}

func (r *run) newJob() *transforms.Job {
	e := transforms.Extent{
		Scheme:   r.Scheme,
		Bytes:    r.Bytes,
		Blocks:   r.Blocks,
		Splits:   len(r.inputs.Splits),
		HaveURLs: r.inputs.Archives() > 0,
	}
	if r.state != nil {
		plan := r.plan()
		e.Segments, e.KnowsCommon = r.state.Segments(), r.takesCommon()
		if plan.Reuse != "" {
			e.CachedPairs = r.state.Path(plan.Reuse)
		}
		if e.Prunes = plan.Prune != ""; e.Prunes {
			e.Paired = r.state.Path(plan.Prune)
		}
		e.FreshBytes, e.DistinctIDs = r.inputs.FreshBytes(), r.state.Last.SharedIDs == 0
		if r.state.Last.KnowsIDs {
			e.SharedIDs = r.state.Path(r.state.Last.Kept)
		}
		if last := &r.state.Last; last.Suspects != "" {
			e.Watch.Suspects = work.Path(r.state.Path(last.Suspects))
		}
		if last := &r.state.Last; last.Kept != "" && !r.Config.Rebuild {
			e.Watch.Copies = work.Path(r.state.Path(last.Kept))
		}
	}
	return transforms.NewJob(&r.Config, e)
}

// openFolders makes the folders of the run, or takes up the folders of a dead one, and writes the inputs of the job.
func (r *run) openFolders(ctx context.Context) error {
	recipe, err := r.recipe()
	if err != nil {
		return err
	}
	err = awaitLease(ctx, &r.Config, func() (err error) {
		r.results, err = workspace.Open(workspace.Options{
			Output:    r.Config.Output,
			Temp:      r.Config.TempFolder(),
			Overwrite: r.Config.Overwrite,
			Recipe:    recipe,
		})
		return err
	})
	if err != nil {
		return failure.New(failure.Storage, err)
	}
	r.sayResumed()
	r.job.In(r.results.Temp, r.results.Partial)
	err = documents.WriteInputs(string(r.job.Inputs), *r.inputs)
	if err == nil && r.takesCommon() {
		err = common.Give(r.results.Temp, r.state.Last.Common)
	}
	if err != nil {
		return failure.Explain(&r.Config, failure.Storage, err)
	}
	return nil
}

// takesCommon reports whether the run takes the list of common shingles from its state.
func (r *run) takesCommon() bool {
	return r.state != nil && incremental.TakesCommon(&r.Config, &r.state.Last)
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

// process is held by the job at work: the memory limit and the memory of tasks belong to the whole process.
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

// finish checks and publishes the results. The end of the context ends it until they are published.
func (r *run) finish(ctx context.Context, found *metrics.Results) (Summary, error) {
	result, err := write.ReadResult(r.results.Temp)
	if err != nil {
		return Summary{}, failure.Explain(&r.Config, failure.Storage, err)
	}
	if err := r.accept(&result); err != nil {
		return Summary{}, errors.Join(err, r.results.Settle())
	}
	audited, err := auditing.Read(r.results.Temp)
	if err != nil {
		return Summary{}, failure.Explain(&r.Config, failure.Storage, err)
	}
	all := r.inputs.Sources
	if r.Config.SourceField != "" {
		all = result.Named
	}
	result.Variants = r.judge(ctx, result.Sample)
	summary := summarize(r.Config, all, result, found, r.before)
	noteFiles(&summary, r.inputs, result.Damaged)
	summary.ConfigHash, summary.Begun = r.ConfigHash, r.Begun.UTC().Format(time.RFC3339)
	summary.Plan = planOf(r.Config, r.Scheme, r.Blocks, documentsOf(result) <= r.Config.AllPairsUpTo())
	summary.Audit = audited
	summary.Seconds, summary.TempBytes = round(time.Since(r.Begun).Seconds()), work.TempBytes(r.results.Temp)
	if err := r.results.Settle(); err != nil {
		return Summary{}, failure.New(failure.Storage, err)
	}
	leftOut, err := r.writeLeftOut()
	if err != nil {
		return Summary{}, failure.Explain(&r.Config, failure.Storage, err)
	}
	sides, err := write.Sides(write.Files{Partial: work.Path(r.results.Partial)}, r.inputs, r.Config.Layout,
		r.Config.Outputs())
	if err != nil {
		return Summary{}, failure.Explain(&r.Config, failure.Storage, err)
	}
	result.Files = slices.Concat(result.Files, leftOut, sides)
	for _, stage := range meter(found) {
		r.Spent.Add(stage.spent)
	}
	r.tellSpent(&summary)
	if r.state == nil {
		if err := r.results.Publish(result.Files, summary); err != nil {
			return Summary{}, failure.Explain(&r.Config, failure.Storage, err)
		}
	} else if err := r.publishScheduled(ctx, &result, &summary); err != nil {
		return Summary{}, err
	}
	r.tellSpent(&summary)
	return summary, nil
}

func (r *run) tellSpent(summary *Summary) {
	r.Spent.Add(storage.TakeSpent())
	summary.Requests = finished.RequestsOf(r.Spent)
}

// writeLeftOut writes the shingles that did not count next to the results. Base texts may change, and common shingles
// follow from the whole corpus: so nobody could find out later what was compared.
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
	program, err := build.Content() // another version may cut or write records in another way
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, part := range []any{program, r.job, r.inputs} {
		encoded, err := json.Marshal(part)
		if err != nil {
			return "", fmt.Errorf("identify the job: %w", err)
		}
		hash.Write(encoded)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func (r *run) sayResumed() {
	switch {
	case r.Config.Progress == nil:
	case r.results.Resumed:
		r.Config.Progress("an earlier job has died: continuing from its progress")
	case r.results.Outdated:
		r.Config.Progress(
			"an earlier job has died, but its configuration, its input or the program has changed: " +
				"starting from scratch")
	}
}

func (r *run) sayKept() {
	if r.results.IsKept() && r.Config.Progress != nil {
		r.Config.Progress(
			fmt.Sprintf(
				"the job's progress is stored in %s: run it again with the same flags to continue,  "+
					"or without --resume to start from scratch", r.results.Temp))
	}
}
