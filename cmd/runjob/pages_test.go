package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPages: the commands that a page shows behind a dollar sign do what the page says. Each page has a folder of its
// own for them, with a link to examples, whose files are older than the runs.
func TestPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md") {
		steps, err := stepsOf(page)
		if err != nil {
			t.Fatal(err)
		}
		if len(steps) == 0 {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.Symlink(examples, filepath.Join(dir, "examples")); err != nil {
				t.Fatal(err)
			}
			for _, step := range steps {
				if err := step.check(dir); err != nil {
					t.Fatalf("%s: %v", page, err)
				}
			}
		})
	}
}

// TestReadme: the page that a newcomer meets first is short, and has recipes that are tried.
func TestReadme(t *testing.T) {
	steps, err := stepsOf("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const recipes, most = 4, 100
	if len(steps) < recipes {
		t.Errorf("README.md shows %d commands, want %d at least", len(steps), recipes)
	}
	if lines := strings.Count(read(t, "../../README.md"), "\n"); lines > most {
		t.Errorf("README.md has %d lines, want %d at most", lines, most)
	}
}

// TestReadmeFigures: the figures of the README are those that a command has written into the comparison.
func TestReadmeFigures(t *testing.T) {
	measured := map[string][]string{}
	for _, cells := range tableRows(read(t, "../../docs/explanation/comparison.md")) {
		if _, isThere := measured[cells[0]]; !isThere && len(cells) == 9 { // the first corpus is the larger one
			measured[cells[0]] = []string{cells[2], cells[3], cells[5]}
		}
	}
	rows := 0
	for _, cells := range tableRows(read(t, "../../README.md")) {
		if len(cells) != 4 || !strings.HasSuffix(cells[1], "%") {
			continue
		}
		rows++
		if want := measured[cells[0]]; !slices.Equal(cells[1:], want) {
			t.Errorf("README.md says %q of %s, the comparison %q", cells[1:], cells[0], want)
		}
	}
	if rows < 4 {
		t.Errorf("README.md has %d rows of figures", rows)
	}
}

// tableRows returns the cells of a page's tables, without what makes them bold.
func tableRows(page string) (rows [][]string) {
	for line := range strings.Lines(page) {
		line, isRow := strings.CutPrefix(strings.TrimSpace(strings.ReplaceAll(line, "**", "")), "|")
		if !isRow {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows
}

// step is a command of a page, and lines of what it prints, in order. An ellipsis in a line stands for anything.
type step struct {
	command string
	lines   []string
}

// stepsOf returns the commands of a page: in indented blocks, behind a dollar sign, up to a line without a backslash at
// its end. The lines of the block up to the next command are what it prints.
func stepsOf(page string) ([]step, error) {
	content, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	var steps []step
	isOpen, goesOn := false, false
	for line := range strings.Lines(string(content)) {
		code, isCode := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		command, isCommand := strings.CutPrefix(code, "$ ")
		switch {
		case !isCode:
			isOpen = isOpen && line == "\n"
		case isCommand:
			steps = append(steps, step{command: command})
			isOpen = true
		case goesOn:
			steps[len(steps)-1].command += "\n" + code
		case isOpen && strings.Trim(code, " …") != "":
			last := &steps[len(steps)-1]
			last.lines = append(last.lines, code)
		}
		goesOn = isOpen && (isCommand || goesOn) && strings.HasSuffix(code, `\`)
	}
	return steps, nil
}

// check runs the command in a folder and looks for its lines.
func (s step) check(dir string) error {
	command := exec.Command("sh", "-c", s.command)
	command.Dir = dir
	output, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", s.command, err, output)
	}
	rest := string(output)
	for _, line := range s.lines {
		wanted := strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
		found := regexp.MustCompile(`(?m)^` + wanted + `\s*$`).FindStringIndex(rest)
		if found == nil {
			return fmt.Errorf("%s\nshould print\n%s\nand it printed\n%s", s.command, line, output)
		}
		rest = rest[found[1]:]
	}
	return nil
}
