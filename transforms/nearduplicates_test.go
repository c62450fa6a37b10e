package transforms

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window/trigger"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"

	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/job"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := storagetest.FoldersInMemory(); err != nil {
		panic(err)
	}
	beam.Init()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // what Beam says comes back as an error, too
	os.Exit(m.Run())
}

// handedOver returns documents in no particular order, each with an id of its own: copies, near-copies, and documents
// that have two passages in common. Rows write some of the ids in another way.
func handedOver() (all []Document) {
	random := rand.New(rand.NewPCG(11, 1))
	text := func(n int) (words []string) {
		for range n {
			words = append(words, fmt.Sprintf("w%d", random.IntN(900)))
		}
		return words
	}
	for range 60 {
		base := text(20 + random.IntN(80))
		for member := range 5 {
			words := slices.Clone(base)
			for range member * len(words) / 25 { // the first two are equal under the measure
				words[random.IntN(len(words))] = text(1)[0]
			}
			if member == 4 {
				words = slices.Concat(base[:len(base)/2], text(150), base[len(base)/2:])
			}
			id := fmt.Sprint(random.IntN(1e9), []string{"", "\x1b", "\xff", "\ufffdab"}[len(all)%4])
			all = append(all, Document{ID: id, Text: strings.Join(words, " ") + strings.Repeat(".", member)})
		}
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// resultsOf runs a job over a file of the documents in the order of their ids, and returns the rows that are to be
// found.
func resultsOf(t *testing.T, handed []Document, config job.Config) (members []Member, pairs []Pair) {
	t.Helper()
	escape := strings.NewReplacer("\x1b", `\u001b`)
	var lines strings.Builder
	for _, d := range slices.SortedFunc(slices.Values(handed), func(a, b Document) int {
		return cmp.Compare(a.ID, b.ID)
	}) {
		lines.WriteString(`{"id":"` + escape.Replace(d.ID) + `","text":"` + d.Text + "\"}\n")
	}
	folder := t.TempDir()
	config.Input = []string{filepath.Join(folder, "in.jsonl")}
	config.Output = "out"
	config.Emit = []string{output.Pairs}
	if config.Similarity != methods.Containment {
		config.Emit = []string{output.Clusters, output.Pairs, output.Removed}
	}
	if err := os.WriteFile(config.Input[0], []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, config, folder)
	kept := map[string]string{}
	parse(t, rows[output.Removed], func(r *output.Removal) { kept[r.ID] = r.KeptID })
	for _, m := range parse(t, rows[output.Clusters], func(*output.Member) {}) {
		members = append(members, Member{
			ID:         quoting.Original(m.ID),
			Cluster:    quoting.Original(m.Cluster),
			Kept:       m.Kept,
			Similarity: m.Similarity,
			KeptID:     quoting.Original(kept[m.ID]),
			Size:       m.Size,
		})
	}
	return members, parse(t, rows[output.Pairs], func(p *Pair) {
		p.A, p.B = quoting.Original(p.A), quoting.Original(p.B)
	})
}

// rowsOf runs a job in a folder, and returns its rows by output.
func rowsOf(t *testing.T, config job.Config, folder string) map[string][]byte {
	t.Helper()
	result, _, err := runIn(t, config, folder, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]byte{}
	for _, file := range result.Files {
		content, err := os.ReadFile(filepath.Join(folder, file.Temporary))
		if err != nil {
			t.Fatal(err)
		}
		rows[file.Output] = append(rows[file.Output], content...)
	}
	return rows
}

// run runs a pipeline in this process.
func run(t *testing.T, p *beam.Pipeline) { runOn(t, job.LocalRunner, p) }

func runOn(t *testing.T, runner string, p *beam.Pipeline) {
	t.Helper()
	if _, err := beam.Run(t.Context(), runner, p); err != nil {
		t.Fatal(err)
	}
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

// TestNearDuplicates: a pipeline of somebody else finds what a job does, whatever finds the pairs, and leaves nothing.
// The pipelines run at once in one process.
func TestNearDuplicates(t *testing.T) {
	for name, change := range map[string]func(*job.Config){
		"usual":       func(*job.Config) {},
		"exact":       func(c *job.Config) { c.Keys = methods.Exact },
		"minhash":     func(c *job.Config) { c.Keys, c.Keep, c.Split = methods.MinHash, "longest", "star" },
		"containment": func(c *job.Config) { c.Similarity = methods.Containment },
		"simhash": func(c *job.Config) {
			c.Keys, c.Hamming, c.Threshold = methods.SimHash, 16, job.Default().Threshold
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := job.Default()
			config.Threshold, config.Temp = 0.6, t.TempDir()
			change(&config)
			handed := handedOver()
			members, pairs := resultsOf(t, handed, config)
			if config.Similarity == methods.Containment {
				if len(members) > 0 || !slices.ContainsFunc(pairs, func(p Pair) bool { return len(p.Spans) > 1 }) {
					t.Fatalf("%d members, and no pair of %d has several passages", len(members), len(pairs))
				}
			} else if !slices.ContainsFunc(members, func(m Member) bool {
				return m.KeptID != "" && m.KeptID != m.Cluster
			}) {
				t.Fatal("no document is removed for another one than the first")
			}
			if len(pairs) < 50 {
				t.Fatalf("a corpus with too little to compare: %d pairs", len(pairs))
			}
			first := handed[0]
			bad := []Document{{Text: "a text without an id"}, {ID: first.ID, Text: first.Text + " and another one"}, {
				ID:   first.ID,
				Text: first.Text,
			}}
			p, s := beam.NewPipelineWithRoot()
			found, err := NearDuplicates(s, beam.CreateList(s, slices.Concat(handed, bad)), Options{Config: config})
			if err != nil {
				t.Fatal(err)
			}
			if len(members) == 0 {
				passert.Empty(s, found.Members)
			} else {
				passert.Equals(s, found.Members, beam.CreateList(s, members))
			}
			passert.Equals(s, found.Pairs, beam.CreateList(s, pairs))
			repeated := Reject{ID: first.ID, Reason: "another document has the same id"}
			passert.Equals(s, found.Rejects,
				beam.CreateList(s, []Reject{{ID: "", Reason: "the id is empty"}, repeated, repeated}))
			run(t, p)
			if err := found.Remove(); err != nil {
				t.Fatal(err)
			}
			if left, err := os.ReadDir(config.Temp); err != nil || len(left) > 0 {
				t.Errorf("%d files are left (%v)", len(left), err)
			}
		})
	}
}

// TestNearDuplicatesOnPrism: Beam's default runner finds the same.
func TestNearDuplicatesOnPrism(t *testing.T) {
	config := job.Default()
	config.Threshold, config.Temp = 0.6, t.TempDir()
	handed := handedOver()
	members, pairs := resultsOf(t, handed, config)
	p, s := beam.NewPipelineWithRoot()
	found, err := NearDuplicates(s, beam.CreateList(s, handed), Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	passert.Equals(s, found.Members, beam.CreateList(s, members))
	passert.Equals(s, found.Pairs, beam.CreateList(s, pairs))
	runOn(t, "prism", p)
	if err := found.Remove(); err != nil {
		t.Fatal(err)
	}
}

// TestNearDuplicatesWindows: documents in windows are refused, and no folder is left.
func TestNearDuplicatesWindows(t *testing.T) {
	for name, into := range map[string]func(s beam.Scope, documents beam.PCollection) beam.PCollection{
		"fixed": func(s beam.Scope, documents beam.PCollection) beam.PCollection {
			return beam.WindowInto(s, window.NewFixedWindows(time.Hour), documents)
		},
		"trigger": func(s beam.Scope, documents beam.PCollection) beam.PCollection {
			return beam.WindowInto(s, window.NewGlobalWindows(), documents, beam.Trigger(trigger.Always()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := job.Default()
			config.Temp = t.TempDir()
			_, s := beam.NewPipelineWithRoot()
			documents := into(s, beam.CreateList(s, []Document{{ID: "a", Text: "b"}}))
			_, err := NearDuplicates(s, documents, Options{Config: config})
			if err == nil || !strings.Contains(err.Error(), "windows") {
				t.Errorf("%v", err)
			}
			if left, err := os.ReadDir(config.Temp); err != nil || len(left) > 0 {
				t.Errorf("%d files are left (%v)", len(left), err)
			}
		})
	}
}

// TestNoNearDuplicates: a pipeline without documents finds nothing.
func TestNoNearDuplicates(t *testing.T) {
	config := job.Default()
	config.Temp = t.TempDir()
	p, s := beam.NewPipelineWithRoot()
	found, err := NearDuplicates(s, beam.CreateList(s, []Document{{Text: "refused"}}), Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	passert.Empty(s, found.Members)
	passert.Empty(s, found.Pairs)
	passert.Count(s, found.Rejects, "rejects", 1)
	run(t, p)
}

// TestNearDuplicatesShape looks for what portable runners refuse or do badly.
func TestNearDuplicatesShape(t *testing.T) {
	config := job.Default()
	config.Temp = t.TempDir()
	p, s := beam.NewPipelineWithRoot()
	if _, err := NearDuplicates(s, beam.CreateList(s, handedOver()), Options{Config: config}); err != nil {
		t.Fatal(err)
	}
	edges, _, err := p.Build()
	if err != nil {
		t.Fatal(err)
	}
	// The documents are packed where the pipeline has made them, for they cross no shuffle as elements.
	checkShape(t, slices.DeleteFunc(edges, func(e *graph.MultiEdge) bool {
		return e.Op == graph.ParDo && strings.HasSuffix(e.DoFn.Name(), ".packFn")
	}), 21)
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
		_, err := NearDuplicates(s, beam.CreateList(s, []Document{{ID: "a"}}), Options{Config: config})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
