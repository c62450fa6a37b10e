package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostModes is how often program code outside of the package of the methods may name a mode: a method, a similarity, a
// way to score, or a verification. It shall only fall. Whoever needs to know a mode asks the method or its scorer for
// what depends on it.
const mostModes = 24

// modes matches the name of a mode.
var modes = regexp.MustCompile(
	`methods\.(Containment|Resemblance|Jaccard|Hamming|VerifyExact|VerifySketch|VerifyNone|All|MinHash|SimHash|Exact|SameBytes|SameWords|Passages)\b|== "containment"`)

// TestModes counts the names of modes.
func TestModes(t *testing.T) {
	found := 0
	eachFile(t, ".go", 20, func(_ *testing.T, name string) error {
		if strings.HasSuffix(name, "_test.go") ||
			strings.HasSuffix(filepath.ToSlash(filepath.Dir(name)), "internal/pairs/methods") {
			return nil
		}
		content, err := os.ReadFile(name)
		found += len(modes.FindAll(content, -1))
		return err
	})
	if found != mostModes {
		t.Errorf(
			"%d names of modes are outside of the methods, and %d may be: let the method say what depends on it, or lower the number", found, mostModes)
	}
}
