package dataflow

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/bucket"
	"mirrorbeam.dev/internal/storage/gcs"
	"mirrorbeam.dev/pipeline/dataflow/dataflowtest"
)

// TestMain starts Beam, which never returns if this binary runs as a worker.
func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// seen counts the elements of a test's pipeline.
var seen = beam.NewCounter("look", "elements")

// look passes a text on.
func look(ctx context.Context, _ []byte) string {
	seen.Inc(ctx, 3)
	return "a text"
}

func init() {
	register.Function2x1(look)
}

// smallPipeline is a pipeline of two steps.
func smallPipeline() *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo(s, look, beam.Impulse(s))
	return p
}

// setFlags sets flags of Beam for the rest of the test.
func setFlags(t *testing.T, values map[string]string) {
	t.Helper()
	for name, value := range values {
		known := flag.Lookup(name)
		if known == nil {
			t.Fatalf("Beam has no flag %s", name)
		}
		before := known.Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := flag.Set(name, before); err != nil {
				t.Error(err)
			}
		})
	}
}

// start starts a stand-in for the service, and opens it in haste.
func start(t *testing.T) (*dataflowtest.Server, *service) {
	t.Helper()
	// Beam keeps the first value that a job of this process had for a flag, unless it is empty.
	for name := range beam.PipelineOptions.Export().Options {
		beam.PipelineOptions.Set(name, "")
	}
	server := dataflowtest.Start(t)
	t.Cleanup(storage.Register("gs", gcs.New(bucket.Usual())))
	setFlags(t, server.Flags())
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("no worker starts this"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set(jobopts.WorkerBinary, program))
	service, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	service.pause = func(int) time.Duration { return time.Millisecond }
	return server, service
}

// stageSelf makes jobs stage this program, which can be a worker. It returns its path.
func stageSelf(t *testing.T) (path string) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set(jobopts.WorkerBinary, path))
	return path
}

// submit submits a small job that the service must take.
func submit(t *testing.T, service *service, name string) (id string) {
	t.Helper()
	id, err := service.submit(t.Context(), smallPipeline(), name)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
