package storage_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// TestRegister: a scheme has one storage, until it is given up.
func TestRegister(t *testing.T) {
	undo := storage.Register("once", storage.Local{})
	func() {
		defer func() {
			if said := fmt.Sprint(recover()); !strings.Contains(said, "once://") {
				t.Errorf("a second storage: %s", said)
			}
		}()
		storage.Register("once", storage.Local{})
	}()
	undo()
	storage.Register("once", storage.Local{})()
	if _, err := storage.Of("once://a"); err == nil {
		t.Error("it is still there")
	}
}

// TestNames: names of folders and of what is in them, on the local disk and elsewhere.
func TestNames(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]string{
		"a/../b//c":      {"b/c", filepath.Join(here, "b/c")},
		"/x/./y":         {"/x/y", "/x/y"},
		"gs://b//c/../d": {"gs://b//c/../d", "gs://b//c/../d"},
	} {
		absolute, err := storage.Absolute(name)
		if clean := storage.Clean(name); clean != want[0] || absolute != want[1] || err != nil {
			t.Errorf("%s: %q and %q (%v), want %q", name, clean, absolute, err, want)
		}
	}
	for _, c := range []struct {
		folder, name string
		want         bool
	}{
		{"/a/b", "/a/b/c", true},
		{"/a/b", "/a/b", true},
		{"/a/b/", "/a/b", true},
		{"/a/b", "/a/bc", false},
		{"/a/b", "/a", false},
		{"/", "/a", true},
		{"gs://b/c", "gs://b/c/d", true},
		{"gs://b/c", "gs://b/cd", false},
		{"gs://b", "/b", false},
		{".", "a", true},
	} {
		if got := storage.Contains(c.folder, c.name); got != c.want {
			t.Errorf("%s contains %s: %v", c.folder, c.name, got)
		}
	}
}

// TestNoStorage: what asks for a storage that nobody knows says so. What cannot fail does nothing.
func TestNoStorage(t *testing.T) {
	const name = "nowhere://a/b"
	_, err := storage.Stat(name)
	_, err2 := storage.Open(name)
	_, err3 := storage.Create(name)
	_, err4 := storage.ReadFile(name)
	_, err5 := storage.ReadBeginning(name, 1)
	_, err6 := storage.Map(name)
	for i, err := range []error{
		err, err2, err3, err4, err5, err6, storage.Remove(name), storage.RemoveFolder(name),
		storage.WriteFile(name, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), "nowhere://") {
			t.Errorf("function %d: %v", i, err)
		}
	}
	storage.Release(name, []storage.Stretch{{Length: 1}})
	if used := storage.Used(name); used != 0 {
		t.Errorf("%d bytes are used there", used)
	}
}

// TestFolders: beginnings of files are read, whole folders are removed, and missing ones are no error.
func TestFolders(t *testing.T) {
	_, memory := storagetest.NewMemory(t)
	for _, root := range []string{t.TempDir(), memory} {
		folder := storage.Join(root, "f")
		if storage.Scheme(folder) == "" {
			if err := os.Mkdir(folder, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"a", "b"} {
			if err := storage.WriteFile(storage.Join(folder, name), []byte("content")); err != nil {
				t.Fatal(err)
			}
		}
		for n, want := range map[int]string{0: "", 3: "con", 7: "content", 99: "content"} {
			if b, err := storage.ReadBeginning(storage.Join(folder, "a"), n); string(b) != want || err != nil {
				t.Errorf("%s: the first %d bytes are %q (%v)", root, n, b, err)
			}
		}
		for range 2 {
			if err := storage.RemoveFolder(folder); err != nil {
				t.Error(err)
			}
		}
		if _, err := storage.ReadBeginning(storage.Join(folder, "a"), 1); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a file of a removed folder: %v", root, err)
		}
	}
}

// TestLocks: a lock has one holder. It is the lock of the path as it is now, and a link is none.
func TestLocks(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	held, err := storage.Lock(at("lock"), os.O_RDWR|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Lock(at("lock"), os.O_RDWR); !errors.Is(err, syscall.EWOULDBLOCK) ||
		!strings.Contains(err.Error(), at("lock")) {
		t.Errorf("a lock that is held: %v", err)
	}
	if err := os.Rename(at("lock"), at("moved")); err != nil {
		t.Fatal(err)
	}
	other, err := storage.Lock(at("lock"), os.O_RDWR|os.O_CREATE)
	if err != nil {
		t.Fatalf("another file has the name: %v", err)
	}
	if err := errors.Join(held.Close(), other.Close(), os.Symlink("moved", at("link"))); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Lock(at("link"), os.O_RDWR); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link: %v", err)
	}
}

// TestIrregular: whatever is no file is named as what it is, whoever opens it.
func TestIrregular(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	listener, err := net.Listen("unix", at("s"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := errors.Join(os.Mkdir(at("d"), 0o777), syscall.Mkfifo(at("p"), 0o666),
		os.WriteFile(at("f"), []byte("x"), 0o666), os.Symlink("f", at("l"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{at("d"): "a folder", at("p"): "a pipe", "/dev/null": "a device"} {
		_, err := storage.ReadRegular(path)
		if irregular, is := errors.AsType[*storage.IrregularError](err); !is || irregular.Path != path ||
			!strings.Contains(err.Error(), want+" and no file") {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	for path, want := range map[string]string{at("s"): "a socket", at("l"): "a link"} {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := storage.CheckRegular(path, info); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if b, err := storage.ReadRegular(at("l")); string(b) != "x" || err != nil {
		t.Errorf("a link to a file: %q, %v", b, err)
	}
	if _, err := storage.OpenUnlinked(at("l")); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link that must not be followed: %v", err)
	}
}

// TestTexts: errors say what is wrong, and who holds a lease. The time of a file is known from its generation.
func TestTexts(t *testing.T) {
	damaged := &storage.DamagedError{Op: "read groups of", Path: "a", Err: io.ErrUnexpectedEOF}
	if damaged.Error() != "read groups of a: unexpected EOF" || !errors.Is(damaged, io.ErrUnexpectedEOF) {
		t.Error(damaged)
	}
	for want, err := range map[string]error{
		"a is held by somebody else": &storage.HeldError{Name: "a"},
		"a is held by b":             &storage.HeldError{Name: "a", Holder: "b"},
	} {
		if err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	name := filepath.Join(t.TempDir(), "a")
	if err := storage.WriteFile(name, nil); err != nil {
		t.Fatal(err)
	}
	info, err := storage.Stat(name)
	if written, known := storage.LocalTime(info.Generation); err != nil || !known || time.Since(written) > time.Hour {
		t.Errorf("%+v (%v): written at %v", info, err, written)
	}
	if _, known := storage.LocalTime("etag"); known {
		t.Error("another generation has a time")
	}
}
