package mirrors

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/site"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// world is the pages of some sites, and what is known of their documents.
type world struct {
	pages  []placed
	edges  [][]records.Edge[records.Number] // by output shard
	lowest records.Number                   // added to all numbers
}

// placed is a page at its place: an output shard, or none if shard is negative.
type placed struct {
	records.ShardPage
	name  string // of the site
	shard int
	date  int64
}

// newWorld draws documents in clusters and outside of them. Sites have the names of letters.
func newWorld(random *rand.Rand, sites, clustered int) *world {
	w := &world{}
	hash := func(name string) uint64 { return uint64(name[4])*0x9e3779b97f4a7c15 + uint64(len(name)) }
	for i := range 3 * clustered {
		p := placed{name: fmt.Sprintf("site%c.org", 'a'+random.IntN(sites)), shard: -1, date: records.NoDate}
		p.Site, p.Path, p.Login = hash(p.name), uint64(random.IntN(20)), random.IntN(9) == 0
		p.Address = fmt.Appendf(nil, "http://%s/%d?%d", p.name, p.Path, i)
		if p.Size = uint32(1 + random.IntN(500)); random.IntN(2) == 0 {
			p.date = int64(random.IntN(1e9))
		}
		if i%3 == 0 {
			p.shard, p.Number = i/3%2, records.Number(i/6)
		}
		w.pages = append(w.pages, p)
	}
	w.edges = make([][]records.Edge[records.Number], 2)
	for shard := range w.edges {
		n := clustered / 2
		firsts := []records.Number{}
		class := make([]records.Number, n)
		for i := range records.Number(n) {
			class[i] = i
			if len(firsts) > 0 && random.IntN(3) == 0 {
				class[i] = firsts[random.IntN(len(firsts))]
				w.edges[shard] = append(w.edges[shard], records.Edge[records.Number]{
					A:     class[i],
					B:     i,
					Score: records.NewScore(9, 9, false),
				})
			} else {
				firsts = append(firsts, i)
			}
		}
		seen := map[[2]records.Number]bool{}
		for range n {
			a, b := firsts[random.IntN(len(firsts))], firsts[random.IntN(len(firsts))]
			if a, b = min(a, b), max(a, b); a == b || seen[[2]records.Number{a, b}] {
				continue
			}
			seen[[2]records.Number{a, b}] = true
			score := records.NewScore(5+random.IntN(4), 9, false)
			if random.IntN(8) == 0 {
				score.Total |= records.HotGroupMark
			}
			w.edges[shard] = append(w.edges[shard], records.Edge[records.Number]{A: a, B: b, Score: score})
		}
		// Identical documents have one size, and one trace.
		for i := range w.pages {
			if p := &w.pages[i]; p.shard == shard {
				p.Size = 1 + uint32(class[p.Number])*7%400
				trace := records.TraceOf([]uint64{uint64(class[p.Number]) << 9})
				p.Trace = trace[:]
			}
		}
	}
	return w
}

// write writes the run files that the stage site and the stage mirror read.
func (w *world) write(t testing.TB, runs work.Runs, ranges int) (clusters, sketches string) {
	clusters = worktest.Write(t, runs, func(run *runfile.Writer) error {
		for _, p := range w.pages {
			if p.shard < 0 {
				continue
			}
			p.Number += w.lowest
			if err := records.Write(run, records.ShardPages, p.shard, &p.ShardPage); err != nil {
				return err
			}
		}
		for shard, edges := range w.edges {
			for _, e := range edges {
				b, err := run.Record(records.ShardEdges, shard, records.EdgeSize)
				if err != nil {
					return err
				}
				e.A, e.B = e.A+w.lowest, e.B+w.lowest
				records.PutEdge(b, e)
			}
		}
		return nil
	})
	return clusters, worktest.Write(t, runs, func(run *runfile.Writer) error {
		for _, p := range w.pages {
			count := records.SiteCount{Site: p.Site, Pages: 1, Text: int64(p.Size), First: p.date, Name: p.name}
			if err := records.Write(run, records.SiteCounts, records.ShardOf(p.Site, ranges), &count); err != nil {
				return err
			}
		}
		return nil
	})
}

// results are the rows of a job.
type results struct {
	mirrors, sites, suspects string
	spread                   int64
	found                    findings.Extras
	next                     *write.ForNext
}

// do does all steps over a world.
func (w *world) do(t testing.TB, ranges int, judging Judging) (r results) {
	runs := worktest.Runs(t)
	folder := t.TempDir()
	files := Results{
		Files: write.Files{Partial: work.Path(folder), Format: output.JSONL},
		Emit:  []string{output.Mirrors, output.Sites, output.Suspects},
	}
	clusters, sketches := w.write(t, runs, ranges)
	steps := func(d work.Delivery, do func(context.Context, work.Task, *work.TaskContext) error,
		paths ...string,
	) []work.Outcome {
		paths = slices.DeleteFunc(paths, func(path string) bool { return path == "" })
		return worktest.Do(t, runs, worktest.Tasks(t, runs, d, paths...), do)
	}
	summing := Summing{Judging: judging, Rule: site.Host, Ranges: ranges}
	sums := steps(summing.Delivery(), summing.Task, clusters)
	totalling := Totalling{Limits: judging.Limits}
	totals := steps(totalling.Delivery(), totalling.Task, append(work.RunsOf(sums), sketches)...)
	pairing, grouping, rows := Pairing{judging}, Grouping{judging, files, true}, SiteRows{judging, files}
	pairs := steps(pairing.Delivery(), pairing.Task, work.RunsOf(totals)...)
	groups := steps(grouping.Delivery(), grouping.Task, work.RunsOf(pairs)...)
	r.next = readForNext(t, groups)
	written := steps(rows.Delivery(), rows.Task, append(work.RunsOf(totals), work.RunsOf(groups)...)...)
	for _, o := range slices.Concat(sums, groups, written) {
		r.spread += o.Skipped.SpreadPages
		findings.Merge(&r.found, o.Extras)
		for _, file := range o.Files {
			b, err := os.ReadFile(filepath.Join(folder, file.Temporary))
			if err != nil {
				t.Fatal(err)
			}
			*map[string]*string{output.Mirrors: &r.mirrors, output.Sites: &r.sites, output.Suspects: &r.suspects}[file.Output] = string(b)
		}
	}
	return r
}

// plainPair is what two sites have in common, by the definitions.
type plainPair struct {
	pages, same     [2]int64
	text, rarity    [2]float64
	similar, spread float64
}

// plain works out, by the definitions and with no thought of cost, what sites have in common.
func (w *world) plain(limit int) (pairs map[[2]string]*plainPair, weights, rare map[string]float64, distinct map[string]int64) {
	pairs = map[[2]string]*plainPair{}
	weights = map[string]float64{}
	rare = map[string]float64{}
	distinct = map[string]int64{}
	rarity := func(sites int) float64 {
		switch {
		case sites <= 2:
			return 1
		case sites > limit:
			return 0
		}
		return 1 / math.Log2(float64(sites))
	}
	for _, p := range w.pages {
		if p.shard < 0 {
			weights[p.name] += float64(p.Size)
			rare[p.name]++
			distinct[p.name]++
		}
	}
	for shard, edges := range w.edges {
		var pages []placed
		for _, p := range w.pages {
			if p.shard == shard {
				pages = append(pages, p)
			}
		}
		n := records.Number(len(pages))
		first := make([]records.Number, n)
		for i := range n {
			first[i] = i
		}
		for _, e := range edges {
			if e.Identical() {
				first[e.B] = e.A
			}
		}
		near := make([]map[records.Number]float64, n) // classes by class
		for i := range n {
			near[i] = map[records.Number]float64{i: 1}
		}
		for _, e := range edges {
			if !e.Identical() {
				near[e.A][e.B], near[e.B][e.A] = e.Similarity(), e.Similarity()
			}
		}
		sites := make([]int, n)
		for c := range n {
			names := map[string]bool{}
			for _, p := range pages {
				if _, is := near[c][first[p.Number]]; is {
					names[p.name] = true
				}
			}
			sites[c] = len(names)
		}
		plain := slices.Clone(sites)
		for _, e := range edges {
			if e.HotGroup() {
				sites[e.A], sites[e.B] = max(sites[e.A], plain[e.B]), max(sites[e.B], plain[e.A])
			}
		}
		for c := range n {
			own := map[string][]placed{}
			for _, p := range pages {
				if first[p.Number] == c {
					own[p.name] = append(own[p.name], p)
				}
			}
			for name, of := range own {
				weight := float64(of[0].Size) * rarity(sites[c])
				weights[name] += weight
				rare[name] += rarity(sites[c])
				distinct[name]++
				copies := map[string][]placed{}
				best := map[string]float64{}
				for _, q := range pages {
					similarity, is := near[c][first[q.Number]]
					if !is || q.name == name || sites[c] > limit || sites[first[q.Number]] > limit {
						continue
					}
					copies[q.name] = append(copies[q.name], q)
					best[q.name] = max(best[q.name], similarity)
				}
				for other, them := range copies {
					key, side := [2]string{min(name, other), max(name, other)}, 0
					if name > other {
						side = 1
					}
					if pairs[key] == nil {
						pairs[key] = &plainPair{}
					}
					pair := pairs[key]
					pair.pages[side]++
					pair.text[side] += weight
					pair.rarity[side] += rarity(sites[c])
					pair.similar += best[other]
					pair.spread += float64(sites[c])
					if slices.ContainsFunc(of, func(p placed) bool {
						return slices.ContainsFunc(them, func(q placed) bool { return p.Path == q.Path })
					}) {
						pair.same[side]++
					}
				}
			}
		}
	}
	return pairs, weights, rare, distinct
}

// TestWorlds draws worlds and compares the rows of mirrors with what the definitions say. The number of ranges changes
// nothing.
func TestWorlds(t *testing.T) {
	random := rand.New(rand.NewPCG(18, 2))
	const leastScore = 0.01
	total := 0
	for range 60 {
		w := newWorld(random, 3+random.IntN(9), 2*(10+random.IntN(30)))
		judging := Judging{Limits: Limits{Score: leastScore, Pages: 1, Sites: 3 + random.IntN(8)}, lists: noLists(t)}
		got := w.do(t, 1, judging)
		if again := w.do(t, 7, judging); !reflect.DeepEqual(got, again) {
			t.Fatalf("with more ranges:\n%+v\nwant\n%+v", again, got)
		}
		pairs, weights, rare, distinct := w.plain(judging.Limits.Sites)
		rows := 0
		for line := range strings.Lines(got.mirrors) {
			rows++
			var row output.Mirror
			decodeRow(t, line, &row)
			pair := pairs[[2]string{row.A, row.B}]
			if pair == nil {
				t.Fatalf("%s and %s have nothing in common", row.A, row.B)
			}
			all := float64(pair.pages[0] + pair.pages[1])
			for _, c := range []struct {
				name      string
				got, want float64
			}{
				{"common_a", float64(row.CommonA), float64(pair.pages[0])},
				{"common_b", float64(row.CommonB), float64(pair.pages[1])},
				{"containment_a", row.ContainmentA, float64(pair.pages[0]) / float64(distinct[row.A])},
				{"containment_b", row.ContainmentB, float64(pair.pages[1]) / float64(distinct[row.B])},
				{"weighted_a", row.WeightedA, pair.text[0] / max(weights[row.A], 1e-9)},
				{"weighted_b", row.WeightedB, pair.text[1] / max(weights[row.B], 1e-9)},
				{"score", row.Score, max(
					min(row.ContainmentA, row.WeightedA, pair.rarity[0]/max(rare[row.A], 1e-9)),
					min(row.ContainmentB, row.WeightedB, pair.rarity[1]/max(rare[row.B], 1e-9)))},
				{"similarity", row.Similarity, pair.similar / all},
				{"sites", row.Sites, pair.spread / all},
				{"same_path", row.SamePath, float64(pair.same[0]+pair.same[1]) / all},
			} {
				if math.Abs(c.got-c.want) > 0.002 {
					t.Errorf("%s and %s: %s is %g, want %g", row.A, row.B, c.name, c.got, c.want)
				}
			}
		}
		for key, pair := range pairs {
			score := max(
				min(float64(pair.pages[0])/float64(distinct[key[0]]), pair.rarity[0]/max(rare[key[0]], 1e-9),
					pair.text[0]/max(weights[key[0]], 1e-9)),
				min(float64(pair.pages[1])/float64(distinct[key[1]]), pair.rarity[1]/max(rare[key[1]], 1e-9),
					pair.text[1]/max(weights[key[1]], 1e-9)))
			if listed := strings.Contains(got.mirrors,
				fmt.Sprintf(`"a":%q,"b":%q`, key[0], key[1])); listed != (score >= leastScore) &&
				math.Abs(score-leastScore) > 0.002 {
				t.Errorf("%v: score %g, listed %v", key, score, listed)
			}
		}
		checkForNext(t, got)
		if int64(rows) != got.found.Mirrors.Pairs {
			t.Errorf("%d rows, %d pairs", rows, got.found.Mirrors.Pairs)
		}
		total += rows
	}
	if total < 200 {
		t.Errorf("only %d mirrors", total)
	}
}

// decodeRow reads a row of JSON into the row that wrote it, whose fields have the names of columns.
func decodeRow(t *testing.T, line string, row any) {
	t.Helper()
	var values map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &values); err != nil {
		t.Fatal(err)
	}
	of := reflect.ValueOf(row).Elem()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Type().Field(i).Tag.Get("parquet"), ",")
		if value, has := values[name]; has && of.Field(i).Kind() != reflect.Slice {
			if err := json.Unmarshal(value, of.Field(i).Addr().Interface()); err != nil {
				t.Fatal(err)
			}
		}
		delete(values, name)
	}
	if len(values) > 0 {
		t.Errorf("fields %v are no columns", values)
	}
}

// TestRarities: rarity falls from full to nothing.
func TestRarities(t *testing.T) {
	for _, most := range []int{3, 4, 100, mostSites} {
		all := rarities(most)
		if len(all) != most+1 || all[2] != fullRarity || all[3] >= fullRarity || all[most] == 0 ||
			!slices.IsSortedFunc(all, func(a, b int64) int {
				return cmp.Compare(b, a)
			}) {
			t.Errorf("rarities up to %d: %v", most, all[:4])
		}
	}
}
