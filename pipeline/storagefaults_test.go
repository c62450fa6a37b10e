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

	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/job"
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

// run runs a job with one operation that fails.
func (p *faultyPlace) run(which int, failing int64, fault error) error {
	p.failing, p.fault = failing, fault
	p.count.Store(0)
	p.failed.Store(nil)
	_, err := Run(p.t.Context(), p.configs[which])
	p.failing = 0
	return err
}

// results returns the files of the output folder without those that were not published, and without what differs from
// run to run: the report and the changes.
func (p *faultyPlace) results() map[string]string {
	files := allFiles(p.t, p.folder+"/out")
	maps.DeleteFunc(files, func(name, _ string) bool {
		return name == "report.html" || strings.HasPrefix(name, "changes-") || strings.HasPrefix(name, ".partial-")
	})
	return files
}

// isAs reports whether the results are of a job, whole and alone.
func (p *faultyPlace) isAs(which int) bool {
	got := p.results()
	for name, content := range p.want[which] {
		if got[name] != content {
			return false
		}
	}
	return len(got) == len(p.want[which])
}

// TestStorageFaults lets each operation of a job fail once. Afterwards the results are the earlier ones or the new
// ones, or they lack their mark and the error says so. The error is of the kind that its exit code tells, and names the
// operation and the file. The same job again gives the same bytes and leaves nothing. Some of the operations are tried;
// with FAULTS=all every one is.
func TestStorageFaults(t *testing.T) {
	failing(t)
	for _, withState := range []bool{false, true} {
		t.Run(fmt.Sprintf("state %t", withState), func(t *testing.T) {
			p := newFaultyPlace(t, withState)
			if err := p.run(0, 0, nil); err != nil {
				t.Fatal(err)
			}
			all := p.count.Load()
			tried := rand.New(rand.NewPCG(1, 1)).Perm(int(all))
			if os.Getenv("FAULTS") == "" {
				tried = tried[:12]
			}
			operations := map[string]int{}
			for i, at := range tried {
				which := (i + 1) % 2 // the results of the other job are there
				p.fails(which, int64(at)+1, storageFaults[i%len(storageFaults)], operations)
			}
			t.Logf("%d of %d operations failed: %v", len(tried), all, operations)
		})
	}
}

// fails runs a job with a fault, and once more without.
func (p *faultyPlace) fails(which int, at int64, fault error, operations map[string]int) {
	err := p.run(which, at, fault)
	failed := p.failed.Load()
	if failed == nil {
		return // the run had fewer operations this time
	}
	operation, name := failed[0], failed[1]
	operations[operation]++
	report := func(problem string) {
		p.t.Errorf("%s %s fails with %q: %s (the job: %v)", operation, name, fault, problem, err)
	}
	_, areMarked := p.results()[workspace.SuccessName]
	isUnchanged := err != nil && (p.isAs(1-which) || !areMarked && strings.Contains(err.Error(), "half-way"))
	if !p.isAs(which) && !isUnchanged {
		report("the results are neither the earlier ones nor the new ones, and are not said to be unfinished")
	}
	if err != nil {
		if p.isAs(which) && areMarked && !strings.Contains(err.Error(), "the results are published") {
			report("the error does not say that the results are published")
		}
		if !errors.Is(err, ErrStorage) && !errors.Is(err, ErrInput) {
			report("the error is of no kind")
		}
		if !strings.Contains(err.Error(), operation) || !strings.Contains(err.Error(), name) {
			report("the error does not name the operation and the file")
		}
	}
	if err := p.run(which, 0, nil); err != nil {
		report(fmt.Sprintf("the next job: %v", err))
	}
	if !p.isAs(which) {
		report("the next job has other results")
	}
	for name := range allFiles(p.t, p.folder) {
		if strings.HasPrefix(name, "temp/") || strings.HasPrefix(name, "out/.partial-") {
			report("the next job leaves " + name)
		}
	}
}
