package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	// Calls of DoFns without reflection.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec/optimized"

	// The runners, but for Prism: its job server listens on all interfaces, asks nobody
	// who they are, and starts any program that a job names.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"

	_ "mirrorbeam/internal/username" // for Beam, see there
)

// localRunner runs a job in this process. It opens no port, and hands the tasks of a
// stage to one bundle, which works on them side by side.
const localRunner = "direct"

// runnerNames are the runners that Beam may be asked for, by both names of each. All
// but the local one and Dataflow are reached through a job server, whose address is
// --endpoint.
var runnerNames = []string{
	localRunner, "DirectRunner", "dataflow", "DataflowRunner", "flink", "FlinkRunner", "spark", "SparkRunner", "portable", "PortableRunner", "universal",
}

// runnerName returns the runner that --runner names.
func runnerName() string {
	if *runners.Runner == "" {
		return localRunner
	}
	return *runners.Runner
}

// isLocal reports whether the runner is the one of this process.
func isLocal() bool { return runnerName() == localRunner || runnerName() == "DirectRunner" }

// checkRunner refuses a runner that cannot run a job: Beam would end the program, or
// fail when all is prepared.
func checkRunner() error {
	name := runnerName()
	switch {
	case !slices.Contains(runnerNames, name):
		return fmt.Errorf("--runner %s: must be one of %s", name, strings.Join(runnerNames, ", "))
	case !isLocal() && name != "dataflow" && name != "DataflowRunner" && *jobopts.Endpoint == "":
		return fmt.Errorf("--runner %s: give the address of its job server with --endpoint HOST:PORT", name)
	}
	return nil
}
