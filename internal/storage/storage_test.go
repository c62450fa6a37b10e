package storage_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

func TestLocal(t *testing.T) {
	storagetest.Conform(t, func(t *testing.T) storagetest.Place {
		folder := t.TempDir()
		if err := os.Mkdir(filepath.Join(folder, "below"), 0o777); err != nil {
			t.Fatal(err)
		}
		return storagetest.Place{Storage: storage.Local{}, Folder: folder, Tick: 20 * time.Millisecond}
	})
}

func TestMemory(t *testing.T) {
	storagetest.Conform(t, func(t *testing.T) storagetest.Place {
		m, folder := storagetest.NewMemory(t)
		return storagetest.Place{Storage: m, Folder: folder}
	})
}

// TestOf: the scheme picks the storage, and a path has none.
func TestOf(t *testing.T) {
	m, folder := storagetest.NewMemory(t)
	if s, err := storage.Of(folder); s != m || err != nil {
		t.Errorf("Of(%s) = %v, %v", folder, s, err)
	}
	for _, path := range []string{"", "a", "/a/b", "./gs://b", "/x://y", "A://b", "a:/b", "://b", "a b://c"} {
		if s, err := storage.Of(path); s != (storage.Local{}) || err != nil {
			t.Errorf("Of(%q) = %v, %v", path, s, err)
		}
	}
	if _, err := storage.Of("gs://bucket/a"); err == nil || !strings.Contains(err.Error(), "gs://") {
		t.Errorf("an unknown scheme: %v", err)
	}
	for _, test := range [][3]string{
		{"/a/", "b", "/a/b"},
		{"", "b", "b"},
		{"gs://b", "c", "gs://b/c"},
		{"gs://b/", "c", "gs://b/c"},
	} {
		if got := storage.Join(test[0], test[1]); got != test[2] {
			t.Errorf("Join(%q, %q) = %q", test[0], test[1], got)
		}
	}
}

// TestReopen: a file that was described is opened as that one, or not at all.
func TestReopen(t *testing.T) {
	_, memory := storagetest.NewMemory(t)
	for _, folder := range []string{t.TempDir(), memory} {
		name := storage.Join(folder, "a")
		if err := storage.WriteFile(name, []byte("old")); err != nil {
			t.Fatal(err)
		}
		info, err := storage.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, known := range []storage.Info{info, {Name: name, Size: 3}} {
			file, err := storage.Reopen(known)
			if err != nil {
				t.Fatal(err)
			}
			if now, err := file.Stat(); err != nil || now != info {
				t.Errorf("%+v, %v", now, err)
			}
			file.Close()
		}
		for _, other := range []storage.Info{{Name: name, Size: 2}, {Name: name, Size: 3, Generation: "another"}} {
			if _, err := storage.Reopen(other); !errors.Is(err, storage.ErrChanged) {
				t.Errorf("%+v: %v", other, err)
			}
		}
		if _, err := storage.Reopen(storage.Info{Name: storage.Join(folder, "absent")}); !errors.Is(err,
			fs.ErrNotExist) {
			t.Error(err)
		}
	}
	if _, err := storage.Reopen(storage.Info{Name: "nowhere://a"}); err == nil {
		t.Error("a file of no storage was opened")
	}
}

// TestHelpers: each function works on both storages, whatever they support.
func TestHelpers(t *testing.T) {
	_, memory := storagetest.NewMemory(t)
	for _, folder := range []string{t.TempDir(), memory} {
		name := storage.Join(folder, "a")
		content := strings.Repeat("x", 100_000)
		if err := storage.WriteFile(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if b, err := storage.ReadFile(name); string(b) != content || err != nil {
			t.Errorf("%s: ReadFile: %d bytes, %v", folder, len(b), err)
		}
		if used := storage.Used(folder); used < int64(len(content)) {
			t.Errorf("%s: Used = %d", folder, used)
		}
		mapping, err := storage.Map(name)
		if err != nil || string(mapping.Bytes) != content {
			t.Errorf("%s: Map: %d bytes, %v", folder, len(mapping.Bytes), err)
		}
		if err := mapping.Close(); err != nil {
			t.Error(err)
		}
		storage.Release(name, []storage.Stretch{{Offset: 0, Length: 8192}})
		if info, err := storage.Stat(name); err != nil || info.Size != int64(len(content)) {
			t.Errorf("%s: after Release: %+v, %v", folder, info, err)
		}
		if err := storage.Remove(name); err != nil {
			t.Error(err)
		}
		if err := storage.WriteFile(name, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := storage.Map(name); err == nil {
			t.Errorf("%s: an empty file was mapped", folder)
		}
	}
}

// TestLocalKeepsApart: a name of something else than a file is refused at once, and a lease is lost if its file
// is gone.
func TestLocalKeepsApart(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Open(pipe); err == nil || !strings.Contains(err.Error(), "pipe") {
		t.Errorf("Open of a pipe: %v", err)
	}
	if _, err := storage.Stat(pipe); err == nil {
		t.Error("a pipe is described as a file")
	}
	for info := range (storage.Local{}).List(folder) {
		t.Errorf("a pipe is listed: %+v", info)
	}
	name := filepath.Join(folder, "lease")
	lease, err := storage.Local{}.Lease(name, "me")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := lease.Check(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a lease without a file: %v", err)
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

// TestWriteFileFails lets each operation fail. No partial file is ever visible.
func TestWriteFileFails(t *testing.T) {
	m, folder := storagetest.NewMemory(t)
	name := storage.Join(folder, "a")
	for _, failing := range []string{"create", "write", "commit"} {
		m.Ask = func(operation, _ string) error {
			if operation == failing {
				return syscall.ENOSPC
			}
			return nil
		}
		if err := storage.WriteFile(name, []byte("content")); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s fails: %v", failing, err)
		}
		for info, err := range m.List(folder) {
			t.Error(fmt.Sprint(failing, " fails, and there is ", info.Name), err)
		}
	}
}
