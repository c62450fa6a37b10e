package transforms

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLibraryExample builds the example module, which imports this one as a stranger would, and runs it.
func TestLibraryExample(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program with all of Beam")
	}
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	build := exec.CommandContext(t.Context(), "go", "build", "-o", at("library"), ".")
	build.Dir = filepath.Join("..", "examples", "library")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	lines := "c\tthe quick brown fox jumps over the lazy dog again and again today\n" +
		"a\tThe quick brown fox jumps over the lazy dog, again and again today!\n" +
		"b\tnothing of the kind is to be read in this line at all\n"
	if err := os.WriteFile(at("lines.tsv"), []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	program := exec.CommandContext(t.Context(), at("library"), "--input", at("lines.tsv"),
		"--output", at("clusters.tsv"), "--temp", at("temp"))
	if said, err := program.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	found, err := os.ReadFile(at("clusters.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := slices.Sorted(strings.Lines(string(found)))
	if want := []string{"a\ta\tkept\n", "a\tc\tremoved\n"}; !slices.Equal(rows, want) {
		t.Errorf("%q, want %q", rows, want)
	}
	if left, err := os.ReadDir(at("temp")); err != nil || len(left) > 0 {
		t.Errorf("%d files are left (%v)", len(left), err)
	}
}
