package pipeline

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/storage/storagetest"
	"mirrorbeam/internal/start/workspace"
	"mirrorbeam/job"
)

// storageFaults are the ways in which an operation of storage can fail.
var storageFaults = []error{syscall.EIO, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.ENOSPC}

// faultyPlace is a storage in memory with a job whose results replace earlier ones, and may be made to fail once.
type faultyPlace struct {
	t       *testing.T
	folder  string
	configs [2]job.Config // with different results
	want    [2]map[string]string

	count   atomic.Int64 // operations of the run so far
	failing int64        // the operation that fails; 0: none
	fault   error
	failed  atomic.Pointer[[2]string] // the operation that failed and its file
}

// newFaultyPlace runs both jobs without a fault.
func newFaultyPlace(t *testing.T, withState bool) *faultyPlace {
	m, folder := storagetest.NewMemory(t)
	p := &faultyPlace{t: t, folder: folder}
	m.Ask = func(operation, name string) error {
		if p.count.Add(1) != p.failing {
			return nil
		}
		p.failed.Store(&[2]string{operation, name})
		return p.fault
	}
	input := copyFiles(t, putCorpus(t, plain, cut(synthetic(71)[:60], 2)...), folder+"/in")
	for i, threshold := range []float64{0.8, 0.5} {
		c := testConfig(t, input)
		c.Emit = []string{output.Clusters, output.Unique}
		c.Output, c.Temp, c.Overwrite, c.Threshold = folder+"/out", folder+"/temp", true, threshold
		if withState {
			c.State = fmt.Sprintf("%s/state%d", folder, i)
		}
		p.configs[i] = c
		if err := p.run(i, 0, nil); err != nil {
			t.Fatal(err)
		}
		p.want[i] = p.results()
	}
	if !p.isAs(1) || p.isAs(0) {
		t.Fatal("the two jobs have the same results")
	}
	return p
}

