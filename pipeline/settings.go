package pipeline

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/settle/write"
	"mirrorbeam/internal/start/failure"
	"mirrorbeam/job"
	"mirrorbeam/lshbands"
	"mirrorbeam/pipeline/jobservice"
)

// settings is a configuration that has been checked, with what stands in the lists that it names.
type settings struct {
	Config job.Config      `json:"config"`
	Scheme lshbands.Scheme `json:"scheme"`

	stopWords, ranking string
	sites              documents.SiteLists
}

// checkSettings checks a configuration and what it asks of this system, and reads its lists. The error is of a kind.
func checkSettings(ctx context.Context, config job.Config) (s settings, err error) {
	if err := config.Validate(); err != nil {
		return s, failure.New(failure.Usage, err)
	}
	if err := CheckRunner(ctx, config.Runner); err != nil {
		return s, err
	}
	if err := checkOpenFiles(); err != nil {
		return s, failure.New(failure.Storage, err)
	}
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
		return fmt.Errorf("ask for the limit of open files: %w", err)
	}
	opened, err := os.ReadDir("/dev/fd")
	needed := uint64(len(opened) + filesOfProcess + filesOfTask*work.Cores())
	if errors.Is(err, syscall.EMFILE) || limit.Cur < needed {
		return fmt.Errorf("only %d files may be open at a time, and the job needs %d: raise the limit with 'ulimit -n 1024' and run the job again", limit.Cur, needed)
	}
	return nil
}

// firstReject describes the first reject of a result that has one.
func firstReject(result write.Result) string {
	first := result.FirstReject
	return fmt.Sprintf("the first is at %s:%d: %s", first.File, first.Position, first.Error)
}

// flinkREST is a flag beside Beam's, which know the job server only.
var flinkREST = flag.String("flink_rest", "", "Address of Flink's REST interface, HOST:PORT, where a job is cancelled (default: port 8081 on the machine of the job server).")

// jobServer returns the job server that the flags of Beam name.
func jobServer(runner string) *jobservice.Server {
	return &jobservice.Server{Address: *jobopts.Endpoint, Options: jobservice.Options{
		Parallelism:      *jobopts.Parallelism,
		Experiments:      jobopts.GetExperiments(),
		RetainContainers: *jobopts.RetainDockerContainers,
		Flink:            runner == "flink" || runner == "FlinkRunner",
		FlinkREST:        *flinkREST,
	}}
}
