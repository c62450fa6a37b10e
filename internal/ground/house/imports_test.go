package house

import (
	"slices"
	"strings"
	"testing"
)

// law lists the wings of the house from the ground up, each with the wings that it may import. A wing is a folder of
// internal, or one at the top. Within a wing, packages import each other as they like.
var law = [][2]string{
	{"asmkernels", ""},
	{"ground", ""},
	{"buckets", "ground"},
	{"read", "ground"},
	{"lshbands", "asmkernels ground"},
	{"sketch", "asmkernels ground read"},
	{"carry", "asmkernels ground read sketch"},
	{"measure", "asmkernels ground read lshbands sketch carry"},
	{"settle", "ground read lshbands sketch carry measure"},
	{"match", "asmkernels ground lshbands sketch carry measure settle"},
	{"sites", "ground read carry measure settle"},
	{"job", "ground read lshbands sketch carry measure settle match sites"},
	{"start", "ground read sketch carry measure settle job"},
	{"look", "asmkernels ground read lshbands sketch carry measure settle match job start"},
	{"transforms", "ground lshbands carry measure settle match sites job start"},
	{"pipeline", "ground read lshbands sketch carry measure settle match sites job start look transforms"},
	{"cmd", "asmkernels ground read lshbands sketch carry settle match job start look pipeline"},
	{"scripts", "asmkernels read sketch look ground"},
	{"examples", "lshbands sketch job transforms"},
}

// inTests lists what the tests of a wing may import besides: tests of scripts, and of what is told of results, run whole jobs.
var inTests = map[string]string{
	"scripts": "carry job pipeline",
	"look":    "pipeline",
}

// withBeam are the wings that know Beam. Nothing below them does.
var withBeam = []string{"cmd", "pipeline", "transforms", "examples"}

// wingOf returns the wing of a package of the house.
func wingOf(room string) string {
	wing, _, _ := strings.Cut(strings.TrimPrefix(room, "internal/"), "/")
	return wing
}

// allowed returns the wings that a wing may import, and whether the law knows it.
func allowed(wing string) (others []string, isKnown bool) {
	for _, row := range law {
		if row[0] == wing {
			return strings.Fields(row[1]), true
		}
	}
	return nil, false
}

func isCommand(room string) bool {
	return slices.Contains([]string{"cmd", "scripts", "examples"}, wingOf(room))
}

// imports reports whether a package may import another, or may in its tests. A test may import as well what the wings that
// its own wing imports may, and packages that are there for tests only.
func imports(room, imported string, inTest bool) bool {
	wing := wingOf(room)
	if strings.HasPrefix(imported, "github.com/apache/beam/") {
		return slices.Contains(withBeam, wing)
	}
	inner, isOurs := strings.CutPrefix(imported, module+"/")
	if !isOurs || wingOf(inner) == wing || inTest && strings.HasSuffix(inner, "test") {
		return true
	}
	others, _ := allowed(wing)
	if inTest {
		others = append(others, strings.Fields(inTests[wing])...)
	}
	return slices.Contains(others, wingOf(inner)) ||
		inTest && slices.ContainsFunc(others, func(next string) bool { return imports(next, imported, true) })
}

// TestImportsGoDown: a wing imports only wings that the law lists before it, and Beam is known above only.
func TestImportsGoDown(t *testing.T) {
	known := map[string]bool{}
	for _, row := range law {
		for _, next := range strings.Fields(row[1]) {
			if !known[next] {
				t.Errorf("%s may import %s, which the law does not list before it", row[0], next)
			}
			if slices.Contains(withBeam, next) && !slices.Contains(withBeam, row[0]) {
				t.Errorf("%s may import %s, which knows Beam", row[0], next)
			}
		}
		known[row[0]] = true
	}
}

// TestImports tries the rule on imports that the tree does not have.
func TestImports(t *testing.T) {
	const beam = "github.com/apache/beam/sdks/v2/go/pkg/beam"
	for _, test := range []struct {
		room, imported string
		inTest, want   bool
	}{
		{"cmd/runjob", module + "/pipeline", false, true},
		{"pipeline", module + "/cmd/runjob", false, false},
		{"transforms", module + "/pipeline", false, false},
		{"transforms", beam, false, true},
		{"job", module + "/sketch", false, true},
		{"job", module + "/transforms", false, false},
		{"job", beam, true, false},
		{"sketch", module + "/asmkernels", false, true},
		{"sketch", module + "/lshbands", false, false},
		{"sketch", beam, false, false},
		{"internal/carry/records", module + "/internal/carry/work", false, true},
		{"internal/carry/records", module + "/internal/measure/documents", false, false},
		{"internal/measure/common", module + "/internal/settle/write", false, false},
		{"internal/measure/common", module + "/internal/ground/storage/gcs", false, true},
		{"internal/match/groups", module + "/internal/read/corpus", false, false},
		{"internal/match/groups", module + "/internal/read/corpus", true, true},
		{"internal/carry/work", beam, true, false},
		{"sketch", "github.com/zeebo/xxh3", false, true},
	} {
		if got := imports(test.room, test.imported, test.inTest); got != test.want {
			t.Errorf("imports(%q, %q, %v) = %v, want %v", test.room, test.imported, test.inTest, got, test.want)
		}
	}
}
