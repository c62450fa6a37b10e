package explain_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/inspect/difference"
	"mirrorbeam.dev/internal/inspect/explain"
	"mirrorbeam.dev/internal/keep/variants"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline"
)

// TestMain makes whole jobs of tests fast and silent.
func TestMain(m *testing.M) { storagetest.Main(m) }

// library is a corpus of families of documents, and what a job has found in it.
type library struct {
	texts  map[string]string // by id
	ids    []string
	folder *finished.Folder
	// cluster is the cluster of each document in one, and rows are the rows of pairs, by the ids of both.
	cluster map[string]string
	members []output.Member
	rows    map[[2]string]output.Pair
}

// newLibrary runs a job.
func newLibrary(t *testing.T, change func(*job.Config)) *library {
	t.Helper()
	l := &library{texts: map[string]string{}, cluster: map[string]string{}, rows: map[[2]string]output.Pair{}}
	random := rand.New(rand.NewPCG(5, 11))
	var content strings.Builder
	for family := range 12 {
		words := make([]string, 12+random.IntN(60))
		for i := range words {
			words[i] = fmt.Sprintf("w%d", random.IntN(500))
		}
		for member := range 4 {
			id := fmt.Sprintf("%d-%d", family, member)
			l.texts[id], l.ids = strings.Join(words, " "), append(l.ids, id)
			line, err := json.Marshal(map[string]string{
				"id":   id,
				"text": l.texts[id],
				"lang": fmt.Sprint("l", member%2),
			})
			if err != nil {
				t.Fatal(err)
			}
			content.Write(append(line, '\n'))
			if member == 1 {
				continue // the next one is equal
			}
			for range random.IntN(4) { // chains: each member is a change of the last one
				words[random.IntN(len(words))] = fmt.Sprintf("n%d", random.IntN(500))
			}
			words = append(words, fmt.Sprintf("m%d", random.IntN(500)))
		}
	}
	config := job.Default()
	config.Input, config.Output = []string{filepath.Join(t.TempDir(), "in.jsonl")}, filepath.Join(t.TempDir(), "out")
	config.Threshold, config.Emit = 0.7, []string{"clusters", "pairs", "removed"}
	change(&config)
	if err := os.WriteFile(config.Input[0], []byte(content.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.Run(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	var err error
	if l.folder, err = finished.Open(config.Output); err != nil {
		t.Fatal(err)
	}
	if l.folder.Has(output.Clusters) {
		for m, err := range finished.Rows[output.Member](t.Context(), l.folder, output.Clusters) {
			if err != nil {
				t.Fatal(err)
			}
			l.cluster[m.ID], l.members = m.Cluster, append(l.members, m)
		}
	}
	for p, err := range finished.Rows[output.Pair](t.Context(), l.folder, output.Pairs) {
		if err != nil {
			t.Fatal(err)
		}
		l.rows[[2]string{string(p.A), string(p.B)}] = p
	}
	return l
}

// row returns the row of pairs that joins two documents.
func (l *library) row(a, b string) (output.Pair, bool) {
	if p, is := l.rows[[2]string{a, b}]; is {
		return p, true
	}
	p, is := l.rows[[2]string{b, a}]
	return p, is
}

// shingles returns the sets of three words in a row.
func shingles(text string) map[string]bool {
	words, set := strings.Fields(text), map[string]bool{}
	for i := range len(words) - 2 {
		set[strings.Join(words[i:i+3], " ")] = true
	}
	return set
}

// jaccard compares two texts by brute force.
func jaccard(a, b string) (similarity, inB, inA float64) {
	one, other, common := shingles(a), shingles(b), 0
	for s := range one {
		if other[s] {
			common++
		}
	}
	n := float64(common)
	return n / float64(len(one)+len(other)-common), n / float64(len(one)), n / float64(len(other))
}

// explain explains two documents.
func (l *library) explain(t *testing.T, a, b string, noInput bool) *explain.Explanation {
	t.Helper()
	x, err := explain.Explain(t.Context(), l.folder, a, b, noInput, difference.Brief())
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Reasons) == 0 || slices.Contains(x.Reasons, "") {
		t.Errorf("%s and %s: reasons %q", a, b, x.Reasons)
	}
	return x
}

// TestExplanations: whatever has brought documents together, an explanation says what the rows say, and measures the
// texts as brute force does.
func TestExplanations(t *testing.T) {
	for name, change := range map[string]func(*job.Config){
		"exact":   func(c *job.Config) { c.Keys = methods.Exact },
		"all":     func(c *job.Config) { c.Keys = methods.All },
		"stars":   func(c *job.Config) { c.Keys, c.Split = methods.Exact, "star" },
		"bands":   func(c *job.Config) { c.Keys, c.Bands, c.Rows = methods.MinHash, 2, 4 },
		"sketch":  func(c *job.Config) { c.Keys, c.Verify = methods.MinHash, methods.VerifySketch },
		"simhash": func(c *job.Config) { c.Keys, c.Hamming, c.Threshold = methods.SimHash, 8, job.Default().Threshold },
		"words":   func(c *job.Config) { c.Keys, c.Threshold = methods.SameWords, job.Default().Threshold },
		"variants": func(c *job.Config) {
			c.Keys, c.Variants = methods.Exact, variants.Keep
		},
		"within": func(c *job.Config) { c.Within = "lang" },
		"across": func(c *job.Config) { c.Across = "lang" },
		"passages": func(c *job.Config) {
			c.Similarity, c.Keys, c.Emit, c.Excerpt = methods.Containment, methods.Auto, []string{"auto"}, 10
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLibrary(t, change)
			random := rand.New(rand.NewPCG(1, 3))
			together, apart := 0, 0
			for range 60 {
				a := l.ids[random.IntN(len(l.ids))]
				b := fmt.Sprintf("%s-%d", strings.Split(a, "-")[0], random.IntN(4)) // of the same family
				if random.IntN(4) == 0 {
					b = l.ids[random.IntN(len(l.ids))]
				}
				if a == b {
					continue
				}
				x := l.explain(t, a, b, false)
				l.checkRows(t, x)
				if want, inB, inA := jaccard(l.texts[a], l.texts[b]); x.Similarity == nil ||
					math.Abs(x.Similarity.Jaccard-want) > 1e-12 ||
					x.Similarity.ContainmentA != inB || x.Similarity.ContainmentB != inA {
					t.Errorf("%s and %s: %+v, want %g", a, b, x.Similarity, want)
				}
				y := l.explain(t, b, a, false)
				if y.Similarity.Jaccard != x.Similarity.Jaccard ||
					y.Similarity.ContainmentA != x.Similarity.ContainmentB || (y.Row == nil) != (x.Row == nil) {
					t.Errorf("%s and %s: %+v, the other way round %+v", a, b, x.Similarity, y.Similarity)
				}
				z := l.explain(t, a, b, true)
				if z.Similarity != nil || z.Keys != nil || len(z.Difference) > 0 ||
					!slices.Contains(z.Notes, "The input was not read.") {
					t.Errorf("%s and %s without the input: %+v", a, b, z)
				}
				if l.checkRows(t, z); x.Row != nil || x.Together != nil && *x.Together {
					together++
				} else {
					apart++
				}
			}
			if together < 3 || apart < 5 {
				t.Errorf("%d pairs are together, %d are not: that tells little", together, apart)
			}
		})
	}
}

// checkRows compares an explanation with the rows of clusters and pairs.
func (l *library) checkRows(t *testing.T, x *explain.Explanation) {
	t.Helper()
	a, b := x.A.Given, x.B.Given
	is := l.cluster[a] != "" && l.cluster[a] == l.cluster[b]
	if l.folder.Has(output.Clusters) && (x.Together == nil || *x.Together != is) || x.A.Cluster != l.cluster[a] ||
		x.B.Cluster != l.cluster[b] {
		t.Errorf("%s and %s: together %v, the clusters are %q and %q", a, b, x.Together, l.cluster[a], l.cluster[b])
	}
	p, joined := l.row(a, b)
	if joined != (x.Row != nil) || joined && (x.Row.Exact != p.Exact || x.Row.Identical != p.Identical ||
		x.Row.Variant != p.Variant) {
		t.Errorf("%s and %s: row %+v, want %+v", a, b, x.Row, p)
	}
	if x.Path == nil {
		return
	}
	at := a
	for _, step := range x.Path.Steps {
		if _, is := l.row(step.A, step.B); !is || step.A != at {
			t.Errorf("%s and %s: %+v is no row, or does not begin at %s", a, b, step, at)
		}
		at = step.B
	}
	if at != b {
		t.Errorf("%s and %s: the path ends at %s", a, b, at)
	}
}

// TestPages: the pages of a list, one after the other, are the list, in each order.
func TestPages(t *testing.T) {
	l := newLibrary(t, func(c *job.Config) { c.Keys = methods.Exact })
	sizes, kept := map[string]int{}, map[string]int{}
	for _, m := range l.members {
		if sizes[m.Cluster]++; m.Kept {
			kept[m.Cluster]++
		}
	}
	less := map[explain.Order]func(a, b *finished.Cluster) bool{
		explain.AutoOrder: func(a, b *finished.Cluster) bool {
			return a.Size > b.Size || a.Size == b.Size && a.Name < b.Name
		},
		explain.BySize: func(a, b *finished.Cluster) bool {
			return a.Size > b.Size || a.Size == b.Size && a.Name < b.Name
		},
		explain.BySimilarity: func(a, b *finished.Cluster) bool {
			return a.Least < b.Least || a.Least == b.Least && a.Name < b.Name
		},
		explain.ByID: func(a, b *finished.Cluster) bool { return a.Name < b.Name },
	}
	for order, isBefore := range less {
		var all []finished.Cluster
		for offset := 0; ; offset += 3 {
			page, err := explain.ListClusters(t.Context(), l.folder, explain.Page{
				Order:  order,
				Offset: offset,
				Limit:  3,
			})
			if err != nil || page.Of != int64(len(sizes)) || page.Offset != offset {
				t.Fatalf("%s from %d: %+v (%v)", order, offset, page, err)
			}
			if len(page.Clusters) == 0 {
				break
			}
			all = append(all, page.Clusters...)
		}
		if len(all) != len(sizes) || len(all) < 5 {
			t.Errorf("%s: %d clusters, want %d", order, len(all), len(sizes))
		}
		for i := range all {
			if c := &all[i]; c.Size != sizes[c.Name] || c.Kept != kept[c.Name] || i > 0 && !isBefore(&all[i-1], c) {
				t.Errorf("%s: cluster %d is %+v of %d documents, %d of them kept", order, i, c, sizes[c.Name],
					kept[c.Name])
			}
		}
	}
}

// TestMembersOfACluster: a cluster is found by its name and by each of its documents. The documents come in each order,
// with the beginnings of their texts.
func TestMembersOfACluster(t *testing.T) {
	l := newLibrary(t, func(c *job.Config) { c.Keys = methods.Exact })
	one := l.members[0]
	for _, name := range []string{one.Cluster, one.ID, one.Ref} {
		for order, value := range map[explain.Order]func(m *explain.Listed) float64{
			explain.AutoOrder:    nil,
			explain.BySize:       func(m *explain.Listed) float64 { return -float64(*m.Bytes) },
			explain.BySimilarity: func(m *explain.Listed) float64 { return m.Similarity },
			explain.ByID:         func(m *explain.Listed) float64 { return float64(slices.Index(l.ids, m.ID)) },
		} {
			list, err := explain.ListMembers(t.Context(), l.folder, name, explain.Page{Order: order, Limit: 100}, nil)
			if err != nil || list.Name != one.Cluster || int64(len(list.Documents)) != one.Size ||
				int64(list.Size) != one.Size {
				t.Fatalf("%s by %s: %+v (%v)", name, order, list, err)
			}
			for i := range list.Documents {
				m := &list.Documents[i]
				text := l.texts[m.ID]
				if m.Bytes == nil || *m.Bytes != int64(len(text)) || m.Text != text[:min(len(text), 240)] ||
					l.cluster[m.ID] != one.Cluster {
					t.Errorf("%s by %s: %+v, the text has %d bytes", name, order, m, len(text))
				}
				if value != nil && i > 0 && value(&list.Documents[i-1]) > value(m) {
					t.Errorf("%s by %s: %+v comes after %+v", name, order, m, list.Documents[i-1])
				}
			}
		}
	}
	no := false
	if _, err := explain.ListMembers(t.Context(), l.folder, one.ID, explain.Page{Order: explain.BySize, Limit: 9},
		&no); err == nil {
		t.Error("texts that are not read are in the order of their sizes")
	}
	if list, err := explain.ListMembers(t.Context(), l.folder, one.ID, explain.Page{Limit: 1}, &no); err != nil ||
		len(list.Documents) != 1 || list.Documents[0].Bytes != nil {
		t.Errorf("without texts: %+v (%v)", list, err)
	}
	if _, err := explain.ListMembers(t.Context(), l.folder, "nobody", explain.Page{Limit: 1}, nil); err == nil ||
		!strings.Contains(err.Error(), "nobody") {
		t.Errorf("nobody: %v", err)
	}
}
