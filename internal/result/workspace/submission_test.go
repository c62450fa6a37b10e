package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

type remoteJob struct{ ID string }

// eachGround calls a test with a folder on the local disk and with one in a bucket.
func eachGround(t *testing.T, test func(t *testing.T, folder string)) {
	t.Run("disk", func(t *testing.T) { test(t, t.TempDir()) })
	t.Run("bucket", func(t *testing.T) {
		_, folder := storagetest.NewMemory(t)
		test(t, folder)
	})
	t.Run("disk and bucket", func(t *testing.T) {
		_, folder := storagetest.NewMemory(t)
		w, err := Open(Options{Output: filepath.Join(t.TempDir(), "out"), Temp: folder})
		if err != nil {
			t.Fatal(err)
		}
		submit(t, w, "1")
		finish(t, w.Output, w.Partial, w.Temp)
	})
}

func open2(t *testing.T, folder string) *Workspace {
	t.Helper()
	w, err := Open(Options{Output: storage.Join(folder, "out"), Temp: storage.Join(folder, "temp")})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// submit hands a job over and ends the process that did it.
func submit(t *testing.T, w *Workspace, id string) {
	t.Helper()
	for _, id := range []string{"", id} {
		if err := w.RecordSubmission(remoteJob{id}); err != nil {
			t.Fatal(err)
		}
	}
	if err := storage.WriteFile(storage.Join(w.Temp, "run-file"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	partial, temp := w.Partial, w.Temp
	w.Close()
	w.Partial, w.Temp = partial, temp
}

// finish takes up the run and settles it. Nothing is left of its folders.
func finish(t *testing.T, output, partial, temp string) {
	t.Helper()
	var job remoteJob
	w, err := TakeUp(t.Context(), output, &job, nil)
	if err != nil {
		t.Fatal(err)
	}
	if job.ID != "1" || w.Partial != partial || w.Temp != temp {
		t.Errorf("took up %q in %s and %s, want 1 in %s and %s", job.ID, w.Partial, w.Temp, partial, temp)
	}
	held, giveUp := context.WithCancel(t.Context())
	if _, err := TakeUp(held, output, &job, func(*storage.HeldError) { giveUp() }); err == nil ||
		!strings.Contains(err.Error(), "another process waits") {
		t.Errorf("a second process: %v", err)
	}
	if _, err := storage.ReadFile(storage.Join(temp, "run-file")); err != nil {
		t.Error(err)
	}
	if err := w.Settle(); err != nil {
		t.Error(err)
	}
	w.Close()
	for _, folder := range []string{partial, temp} {
		if left := names(t, folder); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
	if _, err := TakeUp(t.Context(), output, &job, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run that has ended: %v", err)
	}
}

// names returns the files in a folder of any storage.
func names(t *testing.T, folder string) (all []string) {
	t.Helper()
	s, err := storage.Of(folder)
	if err != nil {
		t.Fatal(err)
	}
	for info, err := range s.List(folder) {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		all = append(all, info.Name)
	}
	return all
}

// TestSubmission: the folders of a job that a cluster works on outlive the process that started it. Other runs leave
// them alone, and do not write to the same output folder. Another process takes the run up.
func TestSubmission(t *testing.T) {
	eachGround(t, func(t *testing.T, folder string) {
		w := open2(t, folder)
		submit(t, w, "1")
		for _, overwrite := range []bool{false, true} {
			_, err := Open(Options{
				Output:    storage.Join(folder, "out"),
				Temp:      storage.Join(folder, "temp"),
				Overwrite: overwrite,
			})
			if handed, is := errors.AsType[*HandedOverError](err); !is || handed.Output != w.Output {
				t.Errorf("overwrite %t: %v", overwrite, err)
			}
		}
		// A run for another output folder clears away what dead runs have left in its folder of temporary files.
		other, err := Open(Options{Output: storage.Join(folder, "other"), Temp: storage.Join(folder, "temp")})
		if err != nil {
			t.Fatal(err)
		}
		other.Close()
		finish(t, w.Output, w.Partial, w.Temp)
		next := open2(t, folder)
		next.Close()
	})
}

// TestSubmissionFails: a job that could not be handed over leaves nothing.
func TestSubmissionFails(t *testing.T) {
	eachGround(t, func(t *testing.T, folder string) {
		w := open2(t, folder)
		if err := w.RecordSubmission(func() {}); err == nil {
			t.Error("a function was recorded")
		}
		temp := w.Temp
		w.Close()
		if left := names(t, temp); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// TestTakeUpForeign: what another user, or no job, has left is not taken up.
func TestTakeUpForeign(t *testing.T) {
	folder := t.TempDir()
	w := open2(t, folder)
	submit(t, w, "1")
	if err := os.Chmod(w.Partial, 0o777); err != nil {
		t.Fatal(err)
	}
	var job remoteJob
	if _, err := TakeUp(t.Context(), w.Output, &job, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that others may write to: %v", err)
	}
	if err := os.Chmod(w.Partial, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Partial, SubmissionName), []byte(`{"token": "x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := TakeUp(t.Context(), w.Output, &job, nil); err == nil ||
		!strings.Contains(err.Error(), "does not come from a job") {
		t.Errorf("a damaged record: %v", err)
	}
}
