package corpus

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReadList: a list is the same however its lines end and it is stored. What is no list is refused at once.
func TestReadList(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	const list = "one\ntwo\n\nthree"
	for name, content := range map[string]string{
		"plain":   list,
		"returns": strings.ReplaceAll(list, "\n", "\r"),
		"both":    strings.ReplaceAll(list, "\n", "\r\n"),
		"mark":    ByteOrderMark + list,
		"gzip":    string(gzipped(t, []byte(list))),
		"zstd":    string(zstded(t, []byte(list))),
	} {
		if err := os.WriteFile(at(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadList(at(name)); got != list || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	large, err := os.Create(at("large"))
	if err == nil {
		err = errors.Join(large.Truncate(1<<40), large.Close())
	}
	err = errors.Join(err, syscall.Mkfifo(at("pipe"), 0o600), os.WriteFile(at("zip"), zipped(t), 0o600),
		os.WriteFile(at("binary"), []byte("one\x00\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		at("large"):  "name a list",
		at("pipe"):   "is a pipe and no file: write the list to a file, and name that",
		"/dev/zero":  "is a device and no file",
		at("zip"):    "zip archive",
		at("binary"): "zero byte",
		at("none"):   "check the path",
		folder:       "is a folder and no file",
	} {
		if _, err := ReadList(path); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
