package workerpool

import (
	"fmt"
	"runtime/debug"

	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/protobuf/proto"
)

// buildParameter is the parameter of an external environment that names the build of the driver.
const buildParameter = "mirrorbeam-build"

// Build names the version of the sources that this program was built from. It is empty if the build has recorded none.
func Build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var revision, modified string
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			revision = setting.Value
		case "vcs.modified":
			modified = setting.Value
		}
	}
	if modified == "true" {
		return "" // nobody knows what was modified
	}
	return revision
}

// checkBuild refuses a job of another build. Two versions of the program may differ in their stages, and in the bytes
// that these exchange. An empty build is an unknown one, and is not refused.
func checkBuild(job, pool string) error {
	if job == "" || pool == "" || job == pool {
		return nil
	}
	return fmt.Errorf("the job comes from build %s of runjob, and this worker pool is build %s: run the same runjob on both sides", job, pool)
}

// Mark adds the build of this program to an external environment of a pipeline. The pools of other builds then refuse
// the job.
func Mark(environment *pipepb.Environment) error {
	var payload pipepb.ExternalPayload
	if err := proto.Unmarshal(environment.GetPayload(), &payload); err != nil {
		return fmt.Errorf("read the environment of the pipeline: %w", err)
	}
	payload.Params = map[string]string{buildParameter: Build()}
	var err error
	if environment.Payload, err = proto.Marshal(&payload); err != nil {
		return fmt.Errorf("write the environment of the pipeline: %w", err)
	}
	return nil
}
