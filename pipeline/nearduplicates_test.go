package pipeline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/quoting"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/job"
	"mirrorbeam/transforms"
)

// handedOverDocuments are the documents of a synthetic corpus in no particular order, each with an id of its own. Rows write some of
// these ids in another way.
func handedOverDocuments() []transforms.Document {
	var all []transforms.Document
	for i, l := range oddities(lawSeed) {
		if l.kind == documentLine && l.id != "" {
			all = append(all, transforms.Document{ID: l.id + []string{"", "\x1b", "\xff", "\ufffdab"}[i%4], Text: l.text})
		}
	}
	slices.SortStableFunc(all, func(a, b transforms.Document) int { return cmp.Compare(a.ID, b.ID) })
	all = slices.CompactFunc(all, func(a, b transforms.Document) bool { return a.ID == b.ID })
	slices.Reverse(all[len(all)/3:])
	return all
}

// jobOn runs a job on documents in the order of their ids, and returns the rows that are to be found.
func jobOn(t *testing.T, documents []transforms.Document, config job.Config) (members []transforms.Member, pairs []transforms.Pair) {
	t.Helper()
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`, "\x1b", `\u001b`)
	sorted := slices.SortedFunc(slices.Values(documents), func(a, b transforms.Document) int { return cmp.Compare(a.ID, b.ID) })
	var b bytes.Buffer
	for _, d := range sorted {
		b.WriteString(`{"id":"` + escape.Replace(d.ID) + `","text":"` + escape.Replace(d.Text) + "\"}\n")
	}
	config.Input, config.Output, config.Temp = []string{put(t, filepath.Join(t.TempDir(), "x.jsonl"), b.Bytes(), plain)}, filepath.Join(t.TempDir(), "out"), ""
	config.Emit = []string{output.Pairs}
	if config.Similarity != methods.Containment {
		config.Emit = []string{output.Clusters, output.Pairs, output.Removed}
	}
	runJob(t, config)
	if config.Similarity != methods.Containment {
		kept := map[string]string{}
		parse(t, readOutput(t, config.Output, output.Removed), func(r *output.Removal) { kept[r.ID] = r.KeptID })
		for _, m := range readRows[output.Member](t, config.Output, output.Clusters) {
			members = append(members, transforms.Member{
				ID: quoting.Original(m.ID), Cluster: quoting.Original(m.Cluster), Kept: m.Kept, Similarity: m.Similarity,
				KeptID: quoting.Original(kept[m.ID]), Size: m.Size,
			})
		}
	}
	return members, parse(t, readOutput(t, config.Output, output.Pairs), func(p *transforms.Pair) {
		p.A, p.B = quoting.Original(p.A), quoting.Original(p.B)
	})
}

// parse reads rows and changes each.
func parse[R any](t *testing.T, lines []byte, change func(*R)) (rows []R) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		var row R
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		change(&row)
		rows = append(rows, row)
	}
	return rows
}

// checkNearDuplicates runs a pipeline over the documents, and checks that it finds what a job on files does.
func checkNearDuplicates(t *testing.T, runner string, config job.Config) {
	t.Helper()
	documents := handedOverDocuments()
	members, pairs := jobOn(t, documents, config)
	hasClusters := config.Similarity != methods.Containment
	if hasClusters && len(members) < 50 || len(pairs) < 50 {
		t.Fatalf("a corpus with too little to compare: %d members, %d pairs", len(members), len(pairs))
	}
	if hasClusters && !slices.ContainsFunc(members, func(m transforms.Member) bool { return m.KeptID != "" && m.KeptID != m.Cluster }) {
		t.Fatal("no document is removed for another one than the first")
	}
	if !hasClusters && !slices.ContainsFunc(pairs, func(p transforms.Pair) bool { return len(p.Spans) > 1 }) {
		t.Fatal("no pair has several passages")
	}
	first := documents[0]
	bad := []transforms.Document{{Text: "a text without an id"}, {ID: first.ID, Text: first.Text + " and another one"}, {ID: first.ID, Text: first.Text}}
	config.Temp = t.TempDir()
	p, s := beam.NewPipelineWithRoot()
	found, err := transforms.NearDuplicates(s, beam.CreateList(s, slices.Concat(documents, bad)), transforms.Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	if hasClusters {
		passert.Equals(s, found.Members, beam.CreateList(s, members))
	} else {
		passert.Empty(s, found.Members)
	}
	passert.Equals(s, found.Pairs, beam.CreateList(s, pairs))
	repeated := transforms.Reject{ID: first.ID, Reason: "another document has the same id"}
	passert.Equals(s, found.Rejects, beam.CreateList(s, []transforms.Reject{{ID: "", Reason: "the id is empty"}, repeated, repeated}))
	if _, err := beam.Run(t.Context(), runner, p); err != nil {
		t.Fatal(err)
	}
	if err := found.Remove(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(config.Temp); err != nil || len(left) > 0 {
		t.Errorf("%d files are left (%v)", len(left), err)
	}
}

// TestNearDuplicates: a pipeline of somebody else finds what a job does, whatever finds the pairs.
func TestNearDuplicates(t *testing.T) {
	for name, change := range map[string]func(*job.Config){
		"usual":       func(*job.Config) {},
		"exact":       func(c *job.Config) { c.Keys = methods.Exact },
		"minhash":     func(c *job.Config) { c.Keys, c.Keep, c.Split = methods.MinHash, "longest", "star" },
		"containment": func(c *job.Config) { c.Similarity = methods.Containment },
		"simhash":     func(c *job.Config) { c.Keys, c.Hamming, c.Threshold = methods.SimHash, 8, job.Default().Threshold },
	} {
		t.Run(name, func(t *testing.T) {
			config := job.Default()
			config.Threshold = 0.6
			change(&config)
			checkNearDuplicates(t, localRunner, config)
		})
	}
}

// TestNearDuplicatesElsewhere does the same with all tasks in another process.
func TestNearDuplicatesElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("starts another process")
	}
	startPrism(t)
	pool := startPool(t)
	config := job.Default()
	config.Threshold = 0.6
	checkNearDuplicates(t, portable, config)
	if pool.count() == 0 {
		t.Error("no worker was started")
	}
}

// TestNoNearDuplicates: a pipeline without documents finds nothing.
func TestNoNearDuplicates(t *testing.T) {
	config := job.Default()
	config.Temp = t.TempDir()
	p, s := beam.NewPipelineWithRoot()
	found, err := transforms.NearDuplicates(s, beam.CreateList(s, []transforms.Document{{Text: "refused"}}), transforms.Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	passert.Empty(s, found.Members)
	passert.Empty(s, found.Pairs)
	passert.Count(s, found.Rejects, "rejects", 1)
	if _, err := beam.Run(t.Context(), localRunner, p); err != nil {
		t.Fatal(err)
	}
}

// TestNearDuplicatesShape looks for what portable runners refuse or do badly.
func TestNearDuplicatesShape(t *testing.T) {
	config := job.Default()
	config.Temp = t.TempDir()
	p, s := beam.NewPipelineWithRoot()
	if _, err := transforms.NearDuplicates(s, beam.CreateList(s, handedOverDocuments()), transforms.Options{Config: config}); err != nil {
		t.Fatal(err)
	}
	edges, _, err := p.Build()
	if err != nil {
		t.Fatal(err)
	}
	// The documents are packed where the pipeline has made them, for they cross no shuffle as elements.
	checkShape(t, slices.DeleteFunc(edges, func(e *graph.MultiEdge) bool {
		return e.Op == graph.ParDo && strings.HasSuffix(e.DoFn.Name(), ".packFn")
	}))
}

// TestNearDuplicatesOptions: settings that are about files are refused by name.
func TestNearDuplicatesOptions(t *testing.T) {
	for want, change := range map[string]func(*job.Config){
		"temp":      func(c *job.Config) { c.Temp = "" },
		"input":     func(c *job.Config) { c.Input = []string{"x"} },
		"threshold": func(c *job.Config) { c.Threshold = 2 },
		"keep":      func(c *job.Config) { c.Keep = "max:score" },
		"emit":      func(c *job.Config) { c.Emit = []string{output.Unique} },
		"within":    func(c *job.Config) { c.Within = "lang" },
	} {
		config := job.Default()
		config.Temp = t.TempDir()
		change(&config)
		_, s := beam.NewPipelineWithRoot()
		_, err := transforms.NearDuplicates(s, beam.CreateList(s, []transforms.Document{{ID: "a"}}), transforms.Options{Config: config})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
