package pipeline

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/incremental"
	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/transforms"
)

// settings is a configuration that has been checked, with what is in the lists that it names.
type settings struct {
	Config job.Config      `json:"config"`
	Scheme lshbands.Scheme `json:"scheme"`

	stopWords, ranking string
	sites              documents.SiteLists
}

// Checked is what a check of a job has found.
type Checked struct {
	// Bytes is about how many bytes of text the inputs have. It is 0 if one of them is the standard input.
	Bytes int64
	// Plan says what the run would take from its state, and Files how the inputs differ from the last run. Both are
	// zero without a state.
	Plan  incremental.Plan
	Files state.Difference
	// Endings are the endings of the copies of input files, such as jsonl.gz.
	Endings []string
}

// Check checks the settings of a job and its output folder, lists its inputs, and compares them with its state. It
// writes nothing, takes no lease and asks no engine. The standard input is not read, and of many objects in a bucket
// only the first are opened. The error is of a kind.
func Check(ctx context.Context, config job.Config) (c Checked, err error) {
	s, err := readSettings(config)
	if err != nil || slices.Contains(slices.Concat(config.Input, config.Reference), corpus.Stdin) {
		return c, err
	}
	r := &run{settings: s}
	r.Config.DryRun = true
	if config.State != "" {
		if r.state, err = readState(&r.Config); err == nil {
			err = r.checkAge()
		}
	}
	if err == nil {
		err = r.listInputs(ctx)
	}
	if err != nil {
		return c, err
	}
	if err := workspace.Check(r.Config.Output, r.Config.Overwrite); err != nil {
		return c, failure.New(failure.Storage, err)
	}
	c.Bytes = r.Bytes
	for i := range r.inputs.Files[r.inputs.References():] {
		c.Endings = append(c.Endings, r.inputs.Files[r.inputs.References()+i].Ending())
	}
	if r.state != nil {
		c.Plan, c.Files = r.plan(), r.state.difference
	}
	return c, nil
}

// readSettings checks a configuration and reads its lists. The error is of a kind.
func readSettings(config job.Config) (s settings, err error) {
	if err := errors.Join(config.Validate(), config.CheckFolder()); err != nil {
		return s, failure.New(failure.Usage, err)
	}
	storage.SetWaiting(storage.Waiting{Patience: time.Duration(config.StorageTimeout)})
	config.Emit = config.Outputs()
	s.Config = config
	s.Scheme, err = config.Scheme()
	if err == nil {
		s.stopWords, err = config.ReadStopWords()
	}
	if err == nil {
		s.sites, err = config.ReadSiteLists()
	}
	if err == nil {
		s.ranking, err = config.ReadRanking()
	}
	if err != nil {
		return s, failure.New(failure.Usage, err)
	}
	return s, nil
}

const (
	// filesOfProcess is the number of other files that the process opens, and some to spare.
	filesOfProcess = 8
	// filesOfTask is the number of files that a task has open at a time.
	filesOfTask = 4
)

// checkOpenFiles refuses to start if the job would run out of files in the middle of its work.
func checkOpenFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return failure.Errorf(failure.Storage, "ask for the limit of open files: %w", err)
	}
	opened, err := os.ReadDir("/dev/fd")
	needed := uint64(len(opened) + filesOfProcess + filesOfTask*work.Cores())
	if errors.Is(err, syscall.EMFILE) || limit.Cur < needed {
		return failure.Errorf(failure.Storage,
			"only %d files may be open at once, and the job needs %d: raise the limit with 'ulimit -n 1024' and "+
				"run the job again", limit.Cur, needed)
	}
	return nil
}

func firstReject(result write.Result) string {
	first := result.FirstReject
	return fmt.Sprintf("the first is at %s:%d: %s", first.File, first.Position, first.Error)
}

// flinkREST is a flag in addition to Beam's, which know the job server only.
var flinkREST = flag.String("flink_rest", "",
	"Address of Flink's REST interface, HOST:PORT, where a job is cancelled (default: "+
		"port 8081 on the machine of the job server).")

// endpointTimeout is another one: Beam's own flags have none.
var endpointTimeout = flag.Duration("endpoint-timeout", 0,
	"How long to wait at the start for a job server that does not answer yet, as in 2m.")

const (
	// mostTempShare is more than a job needs of temporary files for each byte of text.
	mostTempShare = 16
	// usualTempShare is what a job needs of temporary files for each byte of its sketch blocks: half as much again for
	// keys, pairs and gathered sets.
	usualTempShare = 1.5
	// keptTempShare is the same for a job whose sketch blocks lie in its state.
	keptTempShare = 0.5
)

// checkRoom refuses a job whose temporary files clearly do not fit on their disk, and says where it is a close call. It
// reads a part of the input if there is not room in plenty.
func checkRoom(ctx context.Context, config *job.Config, j *transforms.Job, inputs *documents.Inputs) error {
	free, known := storage.Free(string(j.Runs.Folder))
	if text := inputs.TextBytes(); !known || free/mostTempShare >= text {
		return nil
	}
	share, err := j.Fingerprinting.BlockShare(ctx, inputs)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return nil // the job comes upon it, and says more
	}
	if share *= usualTempShare; config.State != "" {
		share *= keptTempShare / usualTempShare
	}
	return room{free, share * float64(inputs.TextBytes()), share * float64(inputs.LeastTextBytes())}.check(config)
}

// leastRecord is about the length in bytes of the shortest record with a fingerprint.
const leastRecord = 16

// chooseBlocks returns the blocks of the tables of fingerprints, if the configuration leaves them to the job and the
// corpus has more documents than [lshbands.PlanTables] plans for.
func chooseBlocks(config *job.Config, inputs *documents.Inputs) []int {
	method, _ := methods.Of(config.Method())
	if !method.Settings.Distance || len(config.Blocks) > 0 ||
		float64(inputs.TextBytes()) < leastRecord*lshbands.UsualDocuments {
		return nil
	}
	n := config.Sketching(config.Sizing(0).WindowBytes).CountDocuments(inputs)
	if n <= lshbands.UsualDocuments {
		return nil
	}
	tables, err := lshbands.PlanTablesFor(config.Bits, config.Hamming, n)
	if err != nil {
		return nil // readSettings has made tables of these bits
	}
	return tables.Blocks()
}

// room is what a disk has for temporary files and what a job is estimated to need, in bytes: of text that is compressed
// as usual, and of text that is hardly smaller where it is compressed.
type room struct {
	free          int64
	wanted, least float64
}

// check is an error if there is not even half of the least room. It warns if there is less than is wanted.
func (r room) check(config *job.Config) error {
	has := fmt.Sprintf("the disk of the temporary folder %s has %.1f MB free", config.TempFolder(), float64(r.free)/1e6)
	switch free := float64(r.free); {
	case free < r.least/2:
		return failure.New(failure.Storage,
			setting.Errorf(
				"%s, and the job needs about %.1f MB: make room on it, or name a folder on another disk with {temp}",
				has, r.wanted/1e6))
	case free < r.wanted && config.Progress != nil:
		config.Progress(fmt.Sprintf("%s, and the job may need about %.1f MB", has, r.wanted/1e6))
	}
	return nil
}
