// Package corporatest finds the corpora of known truth for tests. They lie next to the repository and are no part of
// it.
package corporatest

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// required names the environment variable that forbids to skip a test for want of the corpora.
const required = "CORPORA_REQUIRED"

// Path returns the path of a file or folder of the corpora. A test is skipped if it is missing, or fails where the
// environment says that it must be there. The name of such a test has "Corpora" in it, by which .ci/run finds it.
func Path(t testing.TB, name string) string {
	t.Helper()
	test, _, _ := strings.Cut(t.Name(), "/")
	if strings.HasPrefix(test, "Test") && !strings.Contains(test, "Corpora") {
		t.Fatalf("%s reads %s: say Corpora in its name, by which .ci/run corpora finds it", test, name)
	}
	path := filepath.Join(Folder(t), filepath.FromSlash(name))
	_, err := os.Stat(path)
	switch {
	case err == nil:
		return path
	case os.IsNotExist(err) && os.Getenv(required) == "":
		t.Skipf("the corpora have no %s here", name)
	default:
		t.Fatal(err)
	}
	return ""
}

// Folder returns the folder of the corpora, which may be missing: ../shared/corpora, seen from the root of the
// repository.
func Folder(t testing.TB) string {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return filepath.Join(filepath.Dir(root), "shared", "corpora")
		}
		if root == filepath.Dir(root) {
			t.Fatal("no go.mod in a folder above: is this the source tree?")
		}
		root = filepath.Dir(root)
	}
}

// Has reports whether the corpora are here and have a file or folder.
func Has(t testing.TB, name string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(Folder(t), filepath.FromSlash(name)))
	return err == nil
}

// Open returns a compressed file of the corpora, decoded. It is closed when the test ends.
func Open(t testing.TB, name string) io.Reader {
	t.Helper()
	file, err := os.Open(Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	decoder, err := zstd.NewReader(file, zstd.WithDecoderMaxWindow(1<<31))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(decoder.Close)
	return decoder
}

// Read returns the decoded content of a compressed file of the corpora.
func Read(t testing.TB, name string) []byte {
	t.Helper()
	content, err := io.ReadAll(Open(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
