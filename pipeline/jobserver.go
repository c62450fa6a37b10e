package pipeline

import (
	"flag"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"mirrorbeam/pipeline/jobservice"
)

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
