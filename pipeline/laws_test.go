package pipeline

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/keep/variants"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// Two laws hold for every configuration. The results are what brute force finds. And they are the same bytes however a
// job is run and however its input is stored.

// lawSeed is the seed of the corpus. It is fixed, so that runs of different tests can be compared.
const lawSeed = 11

// law is a configuration whose results are held to the laws.
type law struct {
	name, scene string // the scene is one of lawScenes
	// change is what the configuration has in addition to the usual settings, in the JSON of summary.json.
	change string
	// check holds the results against brute force; nil: checkScene.
	check func(t *testing.T, s *scene, config job.Config, summary Summary)
	// everyWay runs the job in all ways. The others are run in one other way each.
	everyWay bool
}

// TestLaws holds the results of each configuration against brute force, and against the same job run in other ways.
func TestLaws(t *testing.T) {
	scenes := map[string]*scene{}
	for n, l := range laws {
		if testing.Short() && !l.everyWay && n%5 > 0 {
			continue // the others have other settings, and the same goroutines
		}
		t.Run(l.name, func(t *testing.T) {
			if scenes[l.scene] == nil {
				scenes[l.scene] = lawScenes[l.scene]()
			}
			s := scenes[l.scene]
			config := s.config(t, l.change)
			summary := runJob(t, config)
			check := l.check
			if check == nil {
				check = checkScene
			}
			check(t, s, config, summary)
			want := published(t, config)
			if !l.everyWay {
				got, result := runInner(t, config, someCuts[n%len(someCuts)])
				sameText(t, "cut", got, want)
				checkSame(t, "totals", result.Totals, summary.Totals)
				result.Extras.Variants = summary.Extras.Variants // the driver reads texts for it
				checkSame(t, "extras", result.Extras, summary.Extras)
				return
			}
			text, whole := runInner(t, config, wholeJob)
			sameText(t, "whole", text, want)
			cuts := someCuts
			if testing.Short() {
				cuts = someCuts[len(someCuts)-1:]
			}
			sameInCuts(t, config, want, whole, cuts...)
			checkEveryWay(t, config)
		})
	}
}

// someCuts cut a job inside: into splits within lines, shards of a few keys, and places for less than one component,
// which is then cut into blocks. In two, many tasks join the parts of graphs. In the last ones tasks break off, lose
// their outcomes, or run twice at a time, as they do on a cluster that loses workers.
var someCuts = []innerJob{
	{splitBytes: 20 << 10, shards: 1, placeBytes: 4 << 10, lanes: 3, ranges: 20},
	{splitBytes: 6 << 10, shards: 50, placeBytes: 256, lanes: 7},
	{splitBytes: 10 << 10, shards: 3, placeBytes: 1 << 10, graphBytes: 32 << 10, lanes: 2},
	{splitBytes: 1 << 30, shards: 20, placeBytes: 1 << 14, graphBytes: 4 << 10, lanes: 2},
	{splitBytes: 20 << 10, shards: 3, placeBytes: 4 << 10, graphBytes: 32 << 10, lanes: 3, ranges: 8, unreliable: 1},
	{splitBytes: 3 << 10, shards: 7, placeBytes: 1000, graphBytes: 100 << 10, lanes: 2, unreliable: 2},
}

// checkEveryWay runs a job with other lanes and less memory, with notes for a later run, and on a portable runner.
func checkEveryWay(t *testing.T, config job.Config) {
	t.Helper()
	for name, change := range map[string]func(*job.Config){
		"one lane":        func(c *job.Config) { c.Lanes = 1 },
		"seven lanes":     func(c *job.Config) { c.Lanes = 7 },
		"little memory":   func(c *job.Config) { c.Memory = job.LeastMemory },
		"resumable":       func(c *job.Config) { c.Resume = true },
		"portable runner": func(c *job.Config) { c.Runner = portable },
	} {
		t.Run(name, func(t *testing.T) {
			other := config
			other.Output = filepath.Join(t.TempDir(), "out")
			if change(&other); other.Runner != "" {
				startPrism(t)
			}
			runJob(t, other)
			sameResults(t, name, other.Output, config.Output)
			if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
				t.Errorf("the collector's limit is still %d after the job", limit)
			}
		})
	}
}

// published returns the names and contents of the files of a job's outputs, by name.
func published(t *testing.T, config job.Config) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(config.Output, "*-[0-9]*-of-*"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range paths {
		fmt.Fprintf(&all, "%s\n%s", filepath.Base(path), readFile(t, path))
	}
	return all.String()
}

// sameInCuts compares the results of a whole job with the same job in cuts.
func sameInCuts(t *testing.T, config job.Config, want string, whole write.Result, cuts ...innerJob) {
	t.Helper()
	for _, inner := range cuts {
		t.Run(fmt.Sprintf("%s/%+v", config.Keys, inner), func(t *testing.T) {
			got, result := runInner(t, config, inner)
			sameText(t, "output", got, want)
			sameResult(t, result, whole)
		})
	}
}

// sameResult compares all that two runs of a job have found, but for where the tasks of each have left files.
func sameResult(t *testing.T, got, want write.Result) {
	t.Helper()
	for _, r := range []*write.Result{&got, &want} {
		r.Files, r.Kept, r.Written, r.GroupedKeys, r.Fingerprinted = nil, nil, nil, nil, nil
	}
	checkSame(t, "findings", got, want)
}

// checkScene compares all outputs with brute force.
func checkScene(t *testing.T, s *scene, config job.Config, summary Summary) {
	t.Helper()
	tr := s.truth(config)
	checkAgainstTruth(t, config, summary, tr)
	checkUnique(t, config, s.files)
	unscoped, unranked := int64(0), int64(0)
	for i, d := range tr.documents {
		if config.Within != "" && d.scope == "null" || config.Across != "" && d.side == "null" {
			unscoped++
		}
		if i >= tr.references && math.IsInf(d.turn, 0) {
			unranked++
		}
	}
	if n := summary.Counts; n.Unscoped != unscoped || n.Unranked != unranked {
		t.Errorf("%d documents without a scope and %d without a rank, want %d and %d", n.Unscoped, n.Unranked,
			unscoped, unranked)
	}
	if config.Audit == "100000" {
		checkAudit(t, config, summary, tr)
	}
	if plan := summary.Plan; config.Keys == methods.Exact &&
		(plan.ExpectedRecall != 1 || plan.Keys != methods.Exact) || plan.ExpectedRecall < min(config.Recall, 1) {
		t.Errorf("plan %+v", plan)
	}
}

// checkDrops: of clusters each document goes that is like another one, or only those that are like a document of the
// reference. The row says how much it is like the most similar one.
func checkDrops(t *testing.T, s *scene, config job.Config, summary Summary) {
	t.Helper()
	tr := s.truth(config)
	others := len(tr.documents)
	if config.Drop == keep.Reference {
		others = tr.references
	}
	rows := map[string]output.Removal{}
	for _, row := range readRows[output.Removal](t, config.Output, output.Removed) {
		if rows[row.Ref] = row; (row.LikeID != "") != (config.Drop == keep.Clusters) ||
			(row.KeptID != "") == (row.LikeID != "") {
			t.Errorf("%+v", row)
		}
	}
	removed := 0
	for i := tr.references; i < len(tr.documents); i++ {
		most := 0.
		for j := range others {
			if j != i {
				most = max(most, tr.similarity(i, j))
			}
		}
		row, goes := rows[tr.documents[i].ref]
		if goes != (most >= config.Threshold) || goes && row.Similarity != most {
			t.Errorf("%s goes: %v, %+v; the most similar one has %v", tr.documents[i].ref, goes, row, most)
		}
		if goes {
			removed++
		}
	}
	if n := summary.Counts; removed < 10 || n.Removed != int64(removed) || n.Kept+n.Removed != n.Documents ||
		n.RemovedForReference != tr.likeReference(config.Threshold) {
		t.Errorf("%d removed, counts %+v", removed, n)
	}
	checkUnique(t, config, s.files)
}

// checkVariants checks that pairs of variants are listed as others are, and that clusters and removals are as if these
// pairs were not there.
func checkVariants(t *testing.T, _ *scene, config job.Config, summary Summary) {
	t.Helper()
	all := config
	all.Variants, all.Output = variants.Warn, filepath.Join(t.TempDir(), "out")
	runJob(t, all)
	var listed []output.Pair
	isVariant, others := map[[2]string]bool{}, map[string][]string{}
	for _, row := range readRows[output.Pair](t, config.Output, output.Pairs) {
		isVariant[[2]string{row.A, row.B}], isVariant[[2]string{row.B, row.A}] = row.Variant, row.Variant
		if !row.Variant {
			others[row.A], others[row.B] = append(others[row.A], row.B), append(others[row.B], row.A)
		} else if row.Identical {
			t.Errorf("%+v", row)
		}
		row.Variant = false
		listed = append(listed, row)
	}
	want := readRows[output.Pair](t, all.Output, output.Pairs)
	if len(listed) != len(want) || config.Across == "" && !reflect.DeepEqual(listed, want) {
		t.Errorf("%d pairs are listed, want %d", len(listed), len(want))
	}
	clusters, kept := map[string]string{}, map[string]bool{}
	for _, row := range readRows[output.Member](t, config.Output, output.Clusters) {
		for _, name := range []string{row.ID, row.Ref} { // pairs have one of them
			clusters[name], kept[name] = row.Cluster, row.Kept
		}
		if len(others[row.ID])+len(others[row.Ref]) == 0 {
			t.Errorf("%+v is in a cluster without a pair", row)
		}
	}
	for a, partners := range others {
		stays := kept[a] || config.Split == keep.Star && clusters[a] == ""
		for _, b := range partners {
			if config.Split == keep.Component && (clusters[a] == "" || clusters[a] != clusters[b]) {
				t.Errorf("%s and %s are in %q and %q", a, b, clusters[a], clusters[b])
			}
			if stays && kept[b] && config.Across == "" && len(config.Reference) == 0 {
				t.Errorf("%s and %s stay", a, b)
			}
		}
	}
	for _, row := range readRows[output.Removal](t, config.Output, output.Removed) {
		for _, name := range []string{row.ID, row.Ref} {
			if isVariant[[2]string{name, row.KeptID}] || isVariant[[2]string{name, row.LikeID}] {
				t.Errorf("a variant is removed: %+v", row)
			}
		}
	}
	if n := summary.Counts; n.Variants == 0 || config.Variants == variants.Keep && n.Variants == n.Pairs-n.Identical {
		t.Errorf("counts %+v", n)
	}
}

// checkEqual also checks that all that is true follows from the rows.
func checkEqual(t *testing.T, s *scene, config job.Config, summary Summary) {
	t.Helper()
	checkScene(t, s, config, summary)
	tr := s.truth(config)
	checkFollows(t, tr, readRows[pairRow](t, config.Output, output.Pairs), func(i, j int) bool {
		return tr.similarity(i, j) >= config.Threshold
	})
}

// checkBySize: the pairs are documents of equally many shingles.
func checkBySize(t *testing.T, s *scene, config job.Config, summary Summary) {
	t.Helper()
	tr := s.truth(config)
	want := tr.rowsOf(tr.classes().edges(func(i, j int) bool {
		return len(tr.documents[i].set) == len(tr.documents[j].set) && tr.similarity(i, j) >= config.Threshold
	}))
	sameRows(t, "pairs", readRows[pairRow](t, config.Output, output.Pairs), want)
	if all := tr.pairRows(config.Threshold); len(want) < 20 || len(want) >= len(all) {
		t.Errorf("%d pairs have equal sizes, of %d: that tells little", len(want), len(all))
	}
	if p := summary.Plan; p.Keys != bySize || p.ExpectedRecall != 0 || summary.Audit == nil {
		t.Errorf("plan %+v, audit %+v", p, summary.Audit)
	}
}

// checkIdentical: the pairs are documents of the same bytes, or of the same words in the same order.
func checkIdentical(t *testing.T, s *scene, config job.Config, summary Summary) {
	t.Helper()
	tr := s.truth(config)
	all := classes{references: tr.references}
	first := map[string]int{}
	for i, d := range tr.documents {
		key := "bytes: " + d.text
		if tokens := naiveTokens(d.text, true); config.Keys == methods.SameWords && len(tokens) > 0 {
			key = "words: " + strings.Join(tokens, " ")
		}
		if _, known := first[key]; !known {
			first[key] = i
		}
		all.first = append(all.first, first[key])
	}
	want := tr.rowsOf(all.edges(func(int, int) bool { return false }))
	sameRows(t, "pairs", readRows[pairRow](t, config.Output, output.Pairs), want)
	if n := int64(len(want)); n < 3 || summary.Counts.Identical != n || summary.Counts.Candidates != 0 ||
		summary.Audit != nil || summary.Plan.ExpectedRecall != 1 {
		t.Errorf("%d rows, counts %+v, plan %+v", n, summary.Counts, summary.Plan)
	}
}

// checkEstimates checks what does not depend on estimates of similarities.
func checkEstimates(t *testing.T, s *scene, config job.Config, summary Summary) {
	t.Helper()
	rows := readRows[pairRow](t, config.Output, output.Pairs)
	checkKeepLaw(t, s.truth(config), s.truth(config).firsts(), rows,
		readRows[clusterRow](t, config.Output, output.Clusters), readRows[removedRow](t, config.Output, output.Removed))
	checkUnique(t, config, s.files)
	estimates := len(slices.DeleteFunc(slices.Clone(rows), func(row pairRow) bool { return row.Exact }))
	if summary.Counts.Pairs != int64(len(rows)) || estimates < 100 || estimates == len(rows) {
		t.Errorf("%d rows, %d of them estimates; counts %+v", len(rows), estimates, summary.Counts)
	}
}

// checkAllPassages compares the rows of pairs with brute force. No document is removed for a passage.
func checkAllPassages(t *testing.T, s *scene, config job.Config, summary Summary) {
	t.Helper()
	rows := checkPassages(t, config, s.truth(config))
	n := summary.Counts
	if len(rows) < 10 || n.Pairs != int64(len(rows)) || n.Clusters != 0 || n.Removed != 0 || n.Kept != n.Documents ||
		summary.Skipped.Pairs != 0 {
		t.Errorf("%d rows, counts %+v, skipped %+v", len(rows), n, summary.Skipped)
	}
	if !reflect.DeepEqual(summary.Plan, finished.Plan{Keys: methods.Passages, Words: foundWords(config)}) ||
		!slices.Equal(summary.Config.Emit, []string{output.Pairs}) {
		t.Errorf("plan %+v, outputs %v", summary.Plan, summary.Config.Emit)
	}
}

// checkSome checks that there is something to compare.
func checkSome(t *testing.T, _ *scene, _ job.Config, summary Summary) {
	t.Helper()
	if summary.Counts.Pairs < 10 {
		t.Errorf("a corpus with too little to compare: %+v", summary.Counts)
	}
}

// checkSites checks that sites have something in common.
func checkSites(t *testing.T, _ *scene, _ job.Config, summary Summary) {
	t.Helper()
	if m := summary.Mirrors; m == nil || m.Pairs < 10 || m.Sites != 12 || m.Suspects < 2 || len(m.TopMirrors) != 5 ||
		summary.Counts.Unsited == 0 {
		t.Errorf("a corpus with too little to compare: %+v", m)
	}
}
