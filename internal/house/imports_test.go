package house

import (
	"slices"
	"strings"
	"testing"
)

// mayImport lists the packages, from the top of the house down, with the packages of the
// house that each may import. A test of a package may import as well what these may, and
// what is there for tests only: corporatest, storagetest, worktest.
var mayImport = map[string]string{
	"cmd/runjob":                     "internal/audit internal/corpus internal/difference internal/evaluation internal/explain internal/failure internal/lineage internal/methods internal/openfiles internal/output internal/plan internal/preference internal/query internal/report internal/results internal/setting internal/settingsfile internal/sources internal/state internal/storage internal/storage/gcs internal/storage/s3 internal/warnings internal/webtext internal/work internal/workspace job lshbands pipeline pipeline/workerpool sketch",
	"scripts/plancosts":              "internal/plan",
	"internal/plan":                  "asmkernels internal/audit internal/candidates internal/components internal/corpus internal/digest internal/docref internal/documents internal/failure internal/formats internal/gathering internal/groups internal/leaders internal/listing internal/methods internal/output internal/records internal/sample internal/setting internal/sketchblock internal/storage internal/work job lshbands sketch",
	"internal/query":                 "asmkernels internal/corpus internal/docref internal/documents internal/failure internal/formats internal/index internal/indexing internal/listing internal/methods internal/output internal/results internal/runfile internal/setting internal/sketchblock internal/state internal/storage internal/work internal/workspace job lshbands sketch",
	"pipeline/engine":                "",
	"pipeline/dataflow":              "internal/failure internal/storage pipeline/engine",
	"pipeline/jobservice":            "pipeline/engine pipeline/workerpool",
	"pipeline/workerpool":            "",
	"pipeline/dataflow/dataflowtest": "internal/storage/storagetest",
	"pipeline":                       "internal/audit internal/common internal/corpus internal/documents internal/failure internal/groups internal/lineage internal/listing internal/methods internal/mirrors internal/output internal/outputs internal/recall internal/scoring internal/setting internal/sources internal/state internal/storage internal/username internal/verdicts internal/warnings internal/work internal/workspace job lshbands pipeline/dataflow pipeline/engine pipeline/jobservice sketch transforms",
	"internal/state":                 "internal/corpus internal/documents internal/lineage internal/output internal/records internal/regular internal/runfile internal/sealed internal/storage internal/verdicts",
	"internal/lineage":               "internal/output internal/sealed internal/storage",
	"internal/verdicts":              "internal/digest internal/records internal/sealed internal/storage",
	"internal/listing":               "internal/corpus internal/documents internal/failure internal/formats internal/output internal/setting internal/sketchblock internal/storage internal/workspace job sketch",
	"internal/warnings":              "internal/common internal/keep internal/methods internal/output internal/sources internal/work job sketch",
	"internal/failure":               "internal/setting internal/storage internal/work internal/workspace job",
	"internal/difference":            "sketch",
	"internal/explain":               "internal/candidates internal/difference internal/documents internal/keep internal/methods internal/output internal/results internal/setting internal/unionfind internal/work internal/workspace job sketch",
	"internal/report":                "internal/audit internal/difference internal/methods internal/output internal/results internal/setting internal/sources internal/warnings internal/work internal/workspace job lshbands sketch",
	"internal/results":               "internal/corpus internal/documents internal/formats internal/methods internal/output internal/parquetfile internal/regular internal/setting internal/sketchblock internal/storage internal/workspace job sketch",
	"job":                            "internal/audit internal/common internal/corpus internal/documents internal/indexing internal/keep internal/methods internal/mirrors internal/output internal/preference internal/setting internal/site internal/storage internal/webtext internal/work internal/workspace lshbands sketch",
	"transforms":                     "internal/boilerplate internal/clusters internal/common internal/documents internal/gathering internal/groups internal/methods internal/mirrors internal/origins internal/output internal/outputs internal/packing internal/recall internal/records internal/runfile internal/scoring internal/setting internal/storage internal/work job lshbands",
	"internal/packing":               "internal/documents internal/listing internal/output internal/outputs internal/records internal/runfile internal/storage internal/work job",
	"buckets":                        "internal/storage/gcs internal/storage/s3",
	"internal/boilerplate":           "internal/common internal/docref internal/documents internal/output internal/outputs internal/records internal/runfile internal/work sketch",
	"internal/common":                "asmkernels internal/audit internal/docref internal/documents internal/radix internal/records internal/runfile internal/sketchblock internal/storage internal/work sketch",
	"internal/gathering":             "internal/candidates internal/components internal/docref internal/documents internal/groups internal/joining internal/numbering internal/records internal/runfile internal/sketchblock internal/work",
	"internal/methods":               "asmkernels internal/candidates internal/digest internal/docref internal/documents internal/groups internal/radix internal/records internal/runfile internal/sketchblock internal/unionfind internal/work lshbands sketch",
	"internal/indexing":              "internal/corpus internal/index internal/runfile internal/sketchblock internal/work lshbands sketch",
	"internal/outputs":               "internal/clusters internal/common internal/corpus internal/docref internal/documents internal/formats internal/indexing internal/keep internal/lineage internal/origins internal/output internal/parquetfile internal/records internal/runfile internal/sketchblock internal/sources internal/storage internal/verdicts internal/work lshbands sketch",
	"internal/clusters":              "internal/components internal/docref internal/documents internal/joining internal/keep internal/lineage internal/origins internal/output internal/preference internal/records internal/runfile internal/sketchblock internal/sources internal/unionfind internal/verdicts internal/work",
	"internal/mirrors":               "internal/documents internal/lineage internal/lookalike internal/output internal/outputs internal/records internal/runfile internal/site internal/storage internal/unionfind internal/webtext internal/work",
	"internal/origins":               "internal/records internal/runfile internal/sources internal/storage internal/work",
	"internal/groups":                "internal/candidates internal/components internal/docref internal/documents internal/numbering internal/radix internal/records internal/runfile internal/verdicts internal/work",
	"internal/recall":                "asmkernels internal/audit internal/components internal/docref internal/documents internal/records internal/runfile internal/sketchblock internal/storage internal/work",
	"internal/scoring":               "asmkernels internal/candidates internal/common internal/components internal/docref internal/documents internal/leaders internal/numbering internal/preference internal/records internal/runfile internal/sketchblock internal/unionfind internal/work lshbands sketch",
	"internal/documents":             "asmkernels internal/audit internal/candidates internal/corpus internal/digest internal/docref internal/formats internal/inflate internal/output internal/preference internal/records internal/runfile internal/site internal/sketchblock internal/sources internal/storage internal/webtext internal/work lshbands sketch",
	"internal/work/worktest":         "internal/records internal/runfile internal/sketchblock internal/work",
	"internal/work":                  "internal/candidates internal/components internal/joining internal/numbering internal/output internal/records internal/runfile internal/sketchblock internal/sources internal/storage",
	"scripts/bruteforce":             "asmkernels internal/corpus",
	"internal/formats":               "internal/corpus internal/parquetfile internal/storage internal/warc internal/webtext",
	"internal/corpus":                "internal/inflate internal/output internal/regular internal/setting internal/sources internal/storage",
	"internal/evaluation":            "internal/numbering internal/output internal/unionfind",
	"internal/records":               "asmkernels internal/audit internal/candidates internal/components internal/digest internal/docref internal/preference internal/radix internal/runfile internal/sketchblock internal/sources sketch",
	"internal/workspace":             "internal/output internal/regular internal/setting internal/storage",
	"internal/index":                 "internal/digest internal/docref internal/radix internal/sketchblock",
	"internal/output":                "internal/parquetfile internal/storage sketch",
	"internal/runfile":               "internal/storage",
	"internal/sample":                "internal/candidates internal/docref internal/leaders internal/unionfind",
	"internal/storage/gcs":           "internal/storage internal/storage/bucket",
	"internal/storage/s3":            "internal/storage internal/storage/bucket",
	"internal/storage/bucket":        "internal/storage",
	"internal/storage/storagetest":   "internal/storage",
	"internal/audit":                 "internal/docref internal/numbering",
	"internal/candidates":            "asmkernels internal/digest internal/docref internal/numbering",
	"internal/joining":               "internal/components internal/docref internal/radix internal/runfile internal/storage internal/unionfind",
	"internal/components":            "internal/docref internal/numbering internal/unionfind",
	"internal/keep":                  "internal/records",
	"internal/leaders":               "internal/numbering",
	"internal/preference":            "internal/docref",
	"internal/sketchblock":           "internal/digest internal/docref internal/preference",
	"internal/storage":               "internal/regular",
	"lshbands":                       "asmkernels",
	"sketch":                         "asmkernels internal/confusables internal/digest internal/sourcecode",
	"asmkernels":                     "",
	"internal/corporatest":           "",
	"internal/digest":                "",
	"internal/confusables":           "",
	"scripts/confusables":            "",
	"internal/docref":                "",
	"internal/house":                 "",
	"internal/parquetfile":           "",
	"internal/inflate":               "",
	"internal/warc":                  "",
	"internal/webtext":               "",
	"internal/numbering":             "",
	"internal/radix":                 "",
	"internal/regular":               "",
	"internal/sealed":                "",
	"internal/settingsfile":          "internal/regular",
	"internal/setting":               "",
	"internal/site":                  "",
	"internal/lookalike":             "internal/confusables",
	"internal/sourcecode":            "",
	"internal/sources":               "",
	"internal/unionfind":             "",
	"internal/username":              "",
	"scripts/warc/crawl":             "internal/warc",
	"scripts/bench":                  "",
	"scripts/dense":                  "",
	"scripts/engines":                "",
	"scripts/mirrorsites":            "",
	"scripts/multiply":               "",
	"scripts/plant":                  "",
	"scripts/scale":                  "internal/plan",
}

// inTests lists what the tests of a package may import besides: pipeline's run whole jobs, plan
// and query what these work on, and webtext's take real pages out of archives.
var inTests = map[string]string{
	"pipeline":          "internal/corpus internal/plan internal/query internal/storage/bucket internal/storage/gcs internal/storage/s3",
	"pipeline/dataflow": "internal/storage/bucket internal/storage/gcs",
	"internal/webtext":  "internal/warc",

	"scripts/mirrorsites": "internal/output job pipeline",
}

// withBeam are the packages that know Beam. Nothing below them does.
var withBeam = []string{"cmd/runjob", "pipeline", "pipeline/dataflow", "pipeline/dataflow/dataflowtest", "pipeline/engine", "pipeline/jobservice", "pipeline/workerpool", "transforms"}

func isCommand(room string) bool {
	return strings.HasPrefix(room, "cmd/") || strings.HasPrefix(room, "scripts/")
}

// imports reports whether a package may import another, or may in its tests.
func imports(room, imported string, inTest bool) bool {
	if strings.HasPrefix(imported, "github.com/apache/beam/") {
		return slices.Contains(withBeam, room)
	}
	inner, ours := strings.CutPrefix(imported, module+"/")
	if !ours || inTest && (inner == room || strings.HasSuffix(inner, "test")) {
		return true
	}
	allowed := strings.Fields(mayImport[room])
	if inTest {
		allowed = append(allowed, strings.Fields(inTests[room])...)
	}
	return slices.Contains(allowed, inner) ||
		inTest && slices.ContainsFunc(allowed, func(next string) bool { return imports(next, imported, true) })
}

// TestImportsGoDown: no package imports another in a circle, or one that is not listed.
func TestImportsGoDown(t *testing.T) {
	above := map[string]bool{}
	var walk func(room string)
	walk = func(room string) {
		if above[room] {
			t.Fatalf("%s imports itself", room)
		}
		above[room] = true
		for _, next := range strings.Fields(mayImport[room]) {
			if _, known := mayImport[next]; !known {
				t.Errorf("%s may import %s, which is not listed", room, next)
			}
			if slices.Contains(withBeam, next) && !slices.Contains(withBeam, room) && !isCommand(room) {
				t.Errorf("%s may import %s, which knows Beam", room, next)
			}
			walk(next)
		}
		delete(above, room)
	}
	for room := range mayImport {
		walk(room)
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
		{"internal/records", module + "/internal/work", false, false},
		{"internal/work", module + "/internal/records", false, true},
		{"internal/work", module + "/internal/docref", true, true},
		{"internal/work", module + "/internal/work", true, true},
		{"internal/work", beam, true, false},
		{"sketch", "github.com/zeebo/xxh3", false, true},
	} {
		if got := imports(test.room, test.imported, test.inTest); got != test.want {
			t.Errorf("imports(%q, %q, %v) = %v, want %v", test.room, test.imported, test.inTest, got, test.want)
		}
	}
}
