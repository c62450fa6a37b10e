package pipeline

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
)

// TestCheckRunner: a runner is refused before any work if flags are missing, or if its job server does not answer. An
// interruption is reported as one.
func TestCheckRunner(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		ctx              context.Context
		runner, endpoint string
		want             error
	}{
		{t.Context(), "", "", nil},
		{t.Context(), "portable", "", ErrUsage},
		{t.Context(), "portable", "localhost", ErrUsage},
		{t.Context(), "portable", "127.0.0.1:1", ErrStorage},
		{t.Context(), "flink", listener.Addr().String(), nil},
		{ended, "flink", "127.0.0.1:1", context.Canceled},
		{t.Context(), "dataflow", "", ErrUsage},
		{t.Context(), "unknown", "", ErrUsage},
	} {
		setFlag(t, jobopts.Endpoint, c.endpoint)
		if err := CheckRunner(c.ctx, c.runner); !errors.Is(err, c.want) {
			t.Errorf("--runner %s --endpoint %s: %v, want %v", c.runner, c.endpoint, err, c.want)
		}
	}
}
