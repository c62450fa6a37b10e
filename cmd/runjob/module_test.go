package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestModuleOutside builds programs of another module, outside of the tree, against this module, as
// docs/how-to/library.md says, and runs them.
func TestModuleOutside(t *testing.T) {
	tree, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		t.Helper()
		content, err := os.ReadFile(filepath.Join(tree, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	write("go.sum", read("go.sum"))
	write("go.mod", "module example.org/outside\n\ngo 1.26.0\n\n"+
		"require mirrorbeam.dev v0.0.0\n\nreplace mirrorbeam.dev => "+tree+"\n")
	write("a.txt", "one two three four five six\n")
	write("b.txt", "one two three four five seven\nONE TWO, three four five six!\n")
	for _, program := range []struct {
		name        string
		arguments   []string
		input, want string
	}{
		{"jaccard", []string{"a.txt", "a.txt"}, "", "4 and 4 shingles: 1.0000, estimated 1.0000\n"},
		{
			"search",
			[]string{"b.txt"},
			"one two three four five six\n",
			"1 is similar to line 2: 1.000\n1 is similar to line 1: 0.667\n",
		},
		{
			"stories",
			[]string{"-window", "48h"},
			"2026-01-01T00:00:00Z\tfire\ta fire broke out in the old mill\n" +
				"2026-01-02T00:00:00Z\tvote\tthe town votes on its budget today\n" +
				"2026-01-02T12:00:00Z\tmill\ta fire broke out in the old mill, damage is great\n" +
				"2026-01-04T00:00:00Z\tdamage\tfire broke out in the old mill, damage is great\n" +
				"2026-01-09T00:00:00Z\tanother\ta fire broke out in the old mill\n",
			"fire\tfire\nvote\tvote\nfire\tmill\nfire\tdamage\nanother\tanother\n",
		},
	} {
		t.Run(program.name, func(t *testing.T) {
			source := read(filepath.Join("examples", program.name, "main.go"))
			if n := strings.Count(source, "\n"); n >= 80 {
				t.Errorf("the example has %d lines, and shall have fewer than 80", n)
			}
			write(filepath.Join(program.name, "main.go"), source)
			command := exec.CommandContext(t.Context(), "go", append([]string{"run", "./" + program.name},
				program.arguments...)...)
			command.Dir, command.Stdin = dir, strings.NewReader(program.input)
			command.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOPROXY=off", "GOWORK=off")
			if said, err := command.CombinedOutput(); err != nil || string(said) != program.want {
				t.Errorf("%v: %s; want %s", err, said, program.want)
			}
		})
	}
}
