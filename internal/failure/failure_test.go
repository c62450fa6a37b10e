package failure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
)

// TestHostileNames: the kind of a fault does not depend on words, which may be part of a file name.
func TestHostileNames(t *testing.T) {
	config := job.Default()
	config.Output = filepath.Join(t.TempDir(), "out")
	for _, name := range []string{
		"no space left on device", "too many open files", "file too large",
		"disk quota exceeded",
	} {
		_, missing := os.Open(filepath.Join(t.TempDir(), name))
		for _, err := range []error{
			Explain(&config, Input, missing),
			OfTask(&config, fmt.Errorf("stage: %w", work.Fault{
				Kind:  work.InputFault,
				Errno: "ENOENT",
				Text:  missing.Error(),
			})),
			OfTask(&config, errors.New("plan\n"+work.NewFault(missing).Error())),
		} {
			if strings.Contains(err.Error(), "make room") || strings.Contains(err.Error(), "ulimit") {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
	full := &fs.PathError{
		Op:   "write",
		Path: filepath.Join(config.Output, ".partial-run-A", "pairs-B"),
		Err:  syscall.ENOSPC,
	}
	if err := Explain(&config, "", full); !errors.Is(err, Storage) ||
		!strings.Contains(err.Error(), "the disk of the output folder") {
		t.Errorf("a full disk: %v", err)
	}
	config.State = filepath.Join(t.TempDir(), "state")
	full = &fs.PathError{Op: "write", Path: filepath.Join(config.State, "segments", "run-A"), Err: syscall.ENOSPC}
	if err := Explain(&config, "", full); !errors.Is(err, Storage) ||
		!strings.Contains(err.Error(), "the disk of the state "+config.State) {
		t.Errorf("a full disk of a state: %v", err)
	}
}

// TestDamagedState: a file of the state that is damaged or missing is a fault of the storage, and the error says what
// helps. A file elsewhere is not.
func TestDamagedState(t *testing.T) {
	config := job.Default()
	config.State = filepath.Join(t.TempDir(), "state")
	for folder, isState := range map[string]bool{config.State: true, t.TempDir(): false} {
		path := filepath.Join(folder, "segments/run-A")
		for _, fault := range []error{
			&storage.DamagedError{Op: "read run", Path: path, Err: errors.New("the bytes at 0 are damaged")},
			&fs.PathError{Op: "open", Path: path, Err: syscall.ENOENT},
		} {
			for _, err := range []error{
				Explain(&config, "", fault),
				OfTask(&config, fmt.Errorf("stage: %w", work.MarkFault(fault))),
			} {
				if got := strings.Contains(err.Error(), "have all files read again with rebuild") &&
					errors.Is(err, Storage); got != isState {
					t.Errorf("%v: its file is of the state: %v", err, isState)
				}
			}
		}
	}
}

// TestKinds: an error keeps its words. It is of its kind, and is the error that it wraps.
func TestKinds(t *testing.T) {
	for _, kind := range []Kind{Usage, Input, Storage} {
		err := fmt.Errorf("run: %w", New(kind, fs.ErrNotExist))
		if err.Error() != "run: "+fs.ErrNotExist.Error() || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: want the words of the error alone", err)
		}
		for _, other := range []Kind{Usage, Input, Storage} {
			if errors.Is(err, other) != (other == kind) {
				t.Errorf("an error of the kind %s is %s, too", kind, other)
			}
		}
	}
	config := job.Default()
	if err := Explain(&config, "", fs.ErrNotExist); err != fs.ErrNotExist {
		t.Errorf("an error of no kind becomes %v", err)
	}
	for kind, want := range map[work.FaultKind]error{
		work.InputFault:       Input,
		work.StorageFault:     Storage,
		work.UnavailableFault: Unavailable,
	} {
		if err := OfTask(&config, work.Fault{Kind: kind, Text: "told"}); !errors.Is(err, want) ||
			err.Error() != "told" {
			t.Errorf("a fault of the kind %s becomes %v", kind, err)
		}
	}
}

// TestUnavailable: what may pass is told from what is final, whatever it befell and however it reaches the driver.
func TestUnavailable(t *testing.T) {
	config := job.Default()
	outage := &fs.PathError{Op: "read", Path: "gs://corpora/a", Err: storage.Unavailable(errors.New("503"))}
	for name, err := range map[string]error{
		"input":          New(Input, outage),
		"output":         Explain(&config, Storage, outage),
		"a lease":        New(Storage, &storage.HeldError{Name: "lock"}),
		"input of tasks": OfTask(&config, fmt.Errorf("runner: %w", work.MarkFault(work.NewInputError(outage)))),
		"text of runner": OfTask(&config, errors.New("runner: "+work.MarkFault(outage).Error())),
	} {
		t.Run(name, func(t *testing.T) {
			if !errors.Is(err, Unavailable) || errors.Is(err, Input) || errors.Is(err, Storage) {
				t.Errorf("%v is of another kind", err)
			}
		})
	}
}

// TestUnreadable counts in plain English.
func TestUnreadable(t *testing.T) {
	for n, want := range map[int64]string{1: "1 record could not be read", 2: "2 records could not be read"} {
		if got := Unreadable(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
