package storage_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/storage"
)

// TestOwners: what others have made, or may exchange, is refused.
func TestOwners(t *testing.T) {
	const nobody, others = 65534, "belongs to another user"
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	for name, mode := range map[string]fs.FileMode{
		"own":     0o755,
		"open":    0o777,
		"sticky":  fs.ModeSticky | 0o777,
		"other's": 0o755,
	} {
		if err := errors.Join(os.Mkdir(at(name), 0o700), os.Chmod(at(name), mode)); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(os.Chown(at("other's"), nobody, -1), os.WriteFile(at("file"), nil, 0o600),
		os.Chmod(at("file"), 0o666),
		os.Symlink("own", at("link")), os.Symlink("other's", at("link to other's")),
		os.Symlink("own", at("other's link")), os.Lchown(at("other's link"), nobody, -1),
		os.Symlink("missing", at("dangling")))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, folder, owner string }{
		{"own", "", ""},
		{"open", "all users may write to it", "all users may write to it"},
		{"sticky", "", "all users may write to it"},
		{"other's", others, others},
		{"link", "", ""},
		{"link to other's", others, others},
		{"other's link", "", others},
		{"file", "all users may write to it", ""},
		{"missing", "no such file", ""},
		{"dangling", "no such file", ""},
	} {
		for i, err := range []error{storage.CheckFolder(at(test.name)), storage.CheckOwner(at(test.name))} {
			want := []string{test.folder, test.owner}[i]
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s, check %d: %v, want %q", test.name, i, err, want)
			}
		}
	}
}
