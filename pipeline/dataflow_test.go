package pipeline

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/ground/storage/gcs"
	"mirrorbeam/pipeline/dataflow/dataflowtest"
)

// startDataflow starts a stand-in for Dataflow that runs jobs, and leads this test's jobs to it.
func startDataflow(t *testing.T) *dataflowtest.Server {
	t.Helper()
	server := dataflowtest.Start(t)
	server.Run()
	t.Cleanup(storage.Register("gs", gcs.New(hasty())))
	for name, value := range server.Flags() {
		before := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := flag.Set(name, before); err != nil {
				t.Error(err)
			}
		})
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	setFlag(t, jobopts.WorkerBinary, binary)
	return server
}

// TestDataflow runs the job from what Dataflow is sent, in another process: the same bytes, and the same counts of tasks.
func TestDataflow(t *testing.T) {
	input := putCorpus(t, plain, cut(oddities(lawSeed), 4)...)
	local := lawConfig(t, input)
	want := runJob(t, local)

	server := startDataflow(t)
	config := lawConfig(t, input)
	config.Runner = "dataflow"
	got := runJob(t, config)
	sameFiles(t, allFiles(t, config.Output), allFiles(t, local.Output))
	checkMadeByWorker(t, config.Output)
	if n := len(server.Jobs()); n != 1 {
		t.Errorf("%d jobs were sent, want 1", n)
	}
	for i, stage := range want.Stages {
		if far := got.Stages[i]; stage.Records != far.Records || (stage.Tasks > 0) != (far.Tasks > 0) {
			t.Errorf("stage %s: %d tasks of %d records, want some of %d", stage.Name, far.Tasks, far.Records, stage.Records)
		}
	}
}

// TestDataflowFault: a fault of a task comes back as its own, whatever the service says around it. A job that fails for
// another reason is told in the words of the service.
func TestDataflowFault(t *testing.T) {
	server := startDataflow(t)
	server.Play("JOB_STATE_RUNNING", "JOB_STATE_FAILED")
	program := filepath.Join(t.TempDir(), "program")
	put(t, program, []byte("no worker starts this"), plain)
	setFlag(t, jobopts.WorkerBinary, program)
	config := lawConfig(t, putCorpus(t, plain, cut(oddities(lawSeed), 2)...))
	config.Runner = "dataflow"
	fault := work.Fault{Kind: work.InputFault, Text: "read input a.jsonl: gone"}
	for _, test := range []struct {
		said string
		kind error
		want string
	}{
		{"The zone has no machines of this type.", ErrStorage, "The zone has no machines of this type."},
		{"A work item has failed 4 times: process bundle: " + fault.Error() + " caused by:\nmore", ErrInput, fault.Text},
	} {
		server.Say("JOB_MESSAGE_ERROR", test.said)
		if _, err := Run(t.Context(), config); !errors.Is(err, test.kind) || err.Error() != test.want {
			t.Errorf("%q becomes %v", test.said, err)
		}
		checkNoLeftovers(t, config)
	}
}
