package house

import (
	"slices"
	"strings"
	"testing"
)

// law lists the packages from the ground up, each with the packages that it may import. The first folder below
// internal, or a folder at the top, is a room; a row is a room or a folder in it. A row holds for the folders below it
// that have no row of their own, and these import each other as they like. A room among the imports means its rows that
// are listed before.
var law = [][2]string{
	{"asmkernels", ""},
	{"input/confusables", ""},
	{"input/sourcecode", ""},
	{"records/digest", ""},
	{"records/docref", ""},
	{"records/packed", ""},
	{"records/paged", ""},
	{"graphs", "records/docref"},
	{"audit", "records/docref graphs"},
	{"keep/preference", "records/docref"},
	{"keep/variants", "records/paged"},
	{"pairs/candidates", "asmkernels records/digest records/docref graphs"},
	{"records/sketchblock", "asmkernels records/digest records/docref keep/preference"},
	{"sketch", "asmkernels input records/digest"},
	{"util", ""},
	{"util/build", ""},
	{"util/panics", "records/paged"},
	{"lshbands", "asmkernels sketch util"},
	{"schema/schemas", "util"},
	{"storage", "util"},
	{"buckets", "storage"},
	{"input", "util storage"},
	{"records/runfile", "util storage"},
	{
		"records",
		"asmkernels records/digest records/docref records/packed records/paged graphs keep/preference pairs/candidates records/sketchblock sketch util input records/runfile",
	},
	{"records/joining", "records/docref graphs storage records/runfile"},
	{"keep", "records keep/variants"},
	{"schema", "sketch util storage input"},
	{"work", "records graphs pairs/candidates sketch util/panics storage input schema"},
	{
		"fingerprint",
		"asmkernels input records graphs audit keep pairs/candidates sketch util lshbands storage schema work",
	},
	{"graphs/union", "records graphs audit work fingerprint"},
	{"incremental/state", "records graphs util storage input schema work fingerprint"},
	{"clusters", "records graphs util storage input keep schema work fingerprint incremental/state"},
	{
		"inspect/index",
		"records/digest records/docref graphs records/sketchblock sketch util lshbands input records/runfile work fingerprint",
	},
	{
		"pairs",
		"asmkernels records graphs keep/preference pairs/candidates sketch lshbands storage schema work fingerprint",
	},
	{"passages", "records graphs sketch util input schema work fingerprint"},
	{"result/write", "records util storage input keep schema work fingerprint incremental/state clusters"},
	{"mirrors", "input graphs util storage records schema work fingerprint incremental/state result/write"},
	{"job", "audit keep sketch util lshbands storage input schema work fingerprint pairs passages mirrors"},
	{"incremental", "records graphs pairs work fingerprint incremental/state job"},
	{"incremental/pruning", "asmkernels records audit pairs lshbands storage work fingerprint incremental"},
	{"audit/auditing", "asmkernels records graphs audit storage work fingerprint incremental/pruning"},
	{"result/warnings", "sketch input keep schema fingerprint job"},
	{"result/workspace", "util storage schema job"},
	{
		"result/finished",
		"audit records sketch util lshbands storage input schema fingerprint incremental/state pairs job result/warnings result/workspace",
	},
	{"failure", "util storage work job result/workspace"},
	{"input/listing", "records/sketchblock sketch util storage input schema fingerprint job result/workspace failure"},
	{"transforms/packing", "util storage records schema work fingerprint result/write job input/listing"},
	{
		"transforms",
		"util keep/preference lshbands storage records schema work fingerprint graphs/union clusters pairs passages result/write mirrors job incremental audit/auditing transforms/packing",
	},
	{"examples", "sketch lshbands"},
	{
		"inspect",
		"asmkernels records graphs audit keep pairs sketch util lshbands schema storage input work fingerprint incremental/state clusters inspect/index result job failure",
	},
	{
		"pipeline",
		"asmkernels records/docref records/paged keep/variants sketch util lshbands storage input schema work fingerprint incremental pairs result mirrors job audit/auditing failure transforms",
	},
	{
		"cmd",
		"asmkernels audit keep sketch util lshbands schema storage input work incremental/state pairs mirrors job result/warnings result/workspace result/finished failure inspect pipeline",
	},
	{"scripts", "asmkernels sketch lshbands input storage result/finished"},
	{"house", ""},
}

// inTests lists what the tests of a room may import as well: many tests run whole jobs, or inspect their results.
var inTests = map[string]string{
	"records":  "audit",
	"schema":   "inspect result/finished result/workspace",
	"result":   "pipeline",
	"inspect":  "pipeline",
	"pipeline": "inspect",
	"scripts":  "schema job pipeline",
}

// withBeam are the rooms that know Beam. Nothing below them does.
var withBeam = []string{"cmd", "pipeline", "transforms", "examples"}

// withoutBeam is the exception in these rooms.
const withoutBeam = "transforms/packing"

// folderOf returns the folder of a package as the law names it.
func folderOf(pkg string) string { return strings.TrimPrefix(pkg, "internal/") }

// roomOf returns the room of a row or package.
func roomOf(pkg string) string {
	room, _, _ := strings.Cut(folderOf(pkg), "/")
	return room
}

// rowOf returns the number of the row that holds for a package: the one with the longest folder. It is -1 if there is
// none.
func rowOf(pkg string) int {
	best := -1
	for i, row := range law {
		if isBelow(folderOf(pkg), row[0]) && (best < 0 || len(row[0]) > len(law[best][0])) {
			best = i
		}
	}
	return best
}

// isBelow reports whether a folder is another one, or in it.
func isBelow(folder, of string) bool { return folder == of || strings.HasPrefix(folder, of+"/") }

// isAllowed reports whether the row may import the package by the law.
func isAllowed(row int, imported string) bool {
	of := rowOf(imported)
	return of == row || of >= 0 && of < row && slices.ContainsFunc(strings.Fields(law[row][1]), func(name string) bool {
		return name == law[of][0] || name == roomOf(law[of][0])
	})
}

func isCommand(pkg string) bool {
	return slices.Contains([]string{"cmd", "scripts", "examples"}, roomOf(pkg))
}

// imports reports whether a package may import another, or may in its tests. A test may also import what the imports of
// its own package may, other packages of its room, and packages that are there for tests only.
func imports(pkg, imported string, inTest bool) bool {
	if strings.HasPrefix(imported, "github.com/apache/beam/") {
		return slices.Contains(withBeam, roomOf(pkg)) && folderOf(pkg) != withoutBeam
	}
	inner, isOurs := strings.CutPrefix(imported, module+"/")
	row := rowOf(pkg)
	if !isOurs || row >= 0 && isAllowed(row, inner) {
		return true
	}
	if row < 0 || !inTest {
		return false
	}
	return isForTests(inner) || roomOf(inner) == roomOf(pkg) ||
		mayReach(row, inner, strings.Fields(inTests[roomOf(pkg)]))
}

// isForTests reports whether a package only helps tests.
func isForTests(pkg string) bool { return strings.HasSuffix(pkg, "test") }

// mayReach reports whether a chain of imports that the law allows leads from the row, or from other rows, to the
// package.
func mayReach(row int, imported string, others []string) bool {
	reached := map[int]bool{row: true}
	for i := len(law) - 1; i >= 0; i-- {
		isOther := slices.Contains(others, law[i][0])
		for above := range reached {
			if isOther || above > i && isAllowed(above, law[i][0]) {
				reached[i] = true
				break
			}
		}
	}
	return reached[rowOf(imported)]
}

// TestImportsGoDown: a row may import only what the law lists before it, and Beam is known above only.
func TestImportsGoDown(t *testing.T) {
	for i, row := range law {
		if rowOf(row[0]) != i {
			t.Errorf("%s has two rows", row[0])
		}
		for _, name := range strings.Fields(row[1]) {
			isBefore := slices.ContainsFunc(law[:i], func(before [2]string) bool {
				return before[0] == name || roomOf(before[0]) == name
			})
			if !isBefore {
				t.Errorf("%s may import %s, which the law does not list before it", row[0], name)
			}
			if slices.Contains(withBeam, roomOf(name)) && name != withoutBeam &&
				!slices.Contains(withBeam, roomOf(row[0])) {
				t.Errorf("%s may import %s, which knows Beam", row[0], name)
			}
		}
	}
}

// TestImports tries the rule on imports that the tree does not have.
func TestImports(t *testing.T) {
	const beam = "github.com/apache/beam/sdks/v2/go/pkg/beam"
	for _, test := range []struct {
		pkg, imported string
		inTest, want  bool
	}{
		{"cmd/runjob", module + "/pipeline", false, true},
		{"pipeline", module + "/cmd/runjob", false, false},
		{"transforms", module + "/pipeline", false, false},
		{"transforms", beam, false, true},
		{"transforms/packing", beam, false, false},
		{"transforms/packing", module + "/transforms", false, false},
		{"job", module + "/sketch", false, true},
		{"job", module + "/transforms", false, false},
		{"job", beam, true, false},
		{"sketch", module + "/asmkernels", false, true},
		{"sketch", module + "/lshbands", false, false},
		{"sketch", beam, false, false},
		{"internal/records", module + "/internal/records/runfile", false, true},
		{"internal/records/runfile", module + "/internal/records", false, false},
		{"internal/records", module + "/internal/work", false, false},
		{"internal/records", module + "/internal/fingerprint/documents", false, false},
		{"internal/records/docref", module + "/internal/work", true, false},
		{"internal/fingerprint/common", module + "/internal/result/write", false, false},
		{"internal/fingerprint/common", module + "/internal/storage/gcs", false, true},
		{"internal/pairs/groups", module + "/internal/result/write", false, false},
		{"internal/pairs/groups", module + "/internal/result/write", true, false},
		{"internal/pairs/groups", module + "/internal/util/quoting", true, true},
		{"internal/work", beam, true, false},
		{"internal/nowhere", module + "/internal/util/quoting", false, false},
		{"sketch", "github.com/zeebo/xxh3", false, true},
	} {
		if got := imports(test.pkg, test.imported, test.inTest); got != test.want {
			t.Errorf("imports(%q, %q, %v) = %v, want %v", test.pkg, test.imported, test.inTest, got, test.want)
		}
	}
}
