package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestModuleOutside builds a program of another module, outside of the tree, against this module, as
// docs/how-to/library.md says.
func TestModuleOutside(t *testing.T) {
	tree, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sums, err := os.ReadFile(filepath.Join(tree, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"go.sum": string(sums),
		"go.mod": "module example.org/outside\n\ngo 1.26.0\n\nrequire mirrorbeam.dev v0.0.0\n\nreplace mirrorbeam.dev => " + tree + "\n",
		"main.go": `package main

import (
	"fmt"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/sketch"
)

func main() {
	hasher, err := sketch.NewHasher(sketch.Measure{Shingle: 2})
	fmt.Println(len(hasher.Document([]byte("one two three")).Set), len(asmkernels.Tiers()) > 0, err)
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command("go", "run", ".")
	command.Dir = dir
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	said, err := command.CombinedOutput()
	if err != nil || string(said) != "2 true <nil>\n" {
		t.Errorf("%v: %s", err, said)
	}
}
