package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	// noAnchor is what GitHub leaves out of a heading when it makes an anchor.
	noAnchor = regexp.MustCompile(`[^\pL\pN_\- ]`)
)

// TestLinks: a link of a page leads to a file of the tree, and to a heading of it.
func TestLinks(t *testing.T) { eachFile(t, ".md", 10, checkLinks) }

func checkLinks(t *testing.T, page string) error {
	content, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	for _, found := range link.FindAllStringSubmatch(string(content), -1) {
		file, anchor, hasAnchor := strings.Cut(found[1], "#")
		if strings.Contains(file, "://") {
			continue
		}
		target := page
		if file != "" {
			target = filepath.Join(filepath.Dir(page), file)
		}
		if _, err := os.Stat(target); err != nil {
			t.Errorf("%s: a link leads to %s, which is not there", page, found[1])
			continue
		}
		if !hasAnchor {
			continue
		}
		headings, err := anchors(target)
		if err != nil {
			return err
		}
		if !headings[anchor] {
			t.Errorf("%s: a link leads to %s, which has no such heading", page, found[1])
		}
	}
	return nil
}

// indexes are the pages that lead to other pages: the index of the documents, and the index of the decisions, to which
// it leads.
var indexes = []string{
	filepath.Join(root, "docs", "README.md"),
	filepath.Join(root, "docs", "internals", "decisions", "README.md"),
}

// TestIndex: the index of the documents leads to each of them, if need be by way of an index that it leads to.
func TestIndex(t *testing.T) {
	linked := map[string]bool{indexes[0]: true}
	for _, index := range indexes {
		if !linked[index] {
			t.Errorf("docs/README.md does not lead to %s", index)
		}
		content, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(string(content), -1) {
			file, _, _ := strings.Cut(found[1], "#")
			linked[filepath.Join(filepath.Dir(index), file)] = true
		}
	}
	eachFile(t, ".md", 10, func(t *testing.T, page string) error {
		if strings.HasPrefix(page, filepath.Join(root, "docs")) && !linked[filepath.Clean(page)] {
			t.Errorf("docs/README.md does not lead to %s", page)
		}
		return nil
	})
}

// anchors returns the names by which links call the headings of a page.
func anchors(page string) (map[string]bool, error) {
	content, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, found := range heading.FindAllStringSubmatch(string(content), -1) {
		name := noAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(found[1])), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names, nil
}

// TestNamedTests: a test that a page names is in the tree.
func TestNamedTests(t *testing.T) {
	named, declared := regexp.MustCompile("`(Test[A-Z]\\w*)`"), regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	tests := map[string]bool{}
	eachFile(t, "_test.go", 100, func(_ *testing.T, name string) error {
		content, err := os.ReadFile(name)
		for _, found := range declared.FindAllSubmatch(content, -1) {
			tests[string(found[1])] = true
		}
		return err
	})
	eachFile(t, ".md", 10, func(t *testing.T, name string) error {
		content, err := os.ReadFile(name)
		for _, found := range named.FindAllSubmatch(content, -1) {
			if !tests[string(found[1])] {
				t.Errorf("%s names %s, which is no test", name, found[1])
			}
		}
		return err
	})
}
