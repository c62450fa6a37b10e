package mirrors

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/carry/work/worktest"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/read/site"
	"mirrorbeam/internal/settle/standing"
)

// standingRun returns a run file with the parts that the stage site has noted, in the order of all components, and one that says that all of these stand.
func standingRun(t testing.TB, runs work.Runs, sums []work.Outcome) (parts, stands string) {
	t.Helper()
	var all []records.SitePart
	var chosen []uint32
	noted := worktest.Read(t, records.SiteParts, work.RunsOf(sums)...)
	for shard := range 2 {
		for packed := noted[shard]; len(packed) > 0; {
			var part records.SitePart
			part, packed = records.NextSitePart(packed)
			part.Component += 1000 * shard
			all, chosen = append(all, part), append(chosen, uint32(part.Component))
		}
	}
	parts = worktest.Write(t, runs, func(run *runfile.Writer) error {
		if err := run.Section(records.SharedIDs, 0, make([]byte, 8)); err != nil { // which are there, too
			return err
		}
		for i := range all {
			if err := all[i].Write(run, 0); err != nil {
				return err
			}
		}
		return nil
	})
	return parts, worktest.Write(t, runs, func(run *runfile.Writer) error {
		return run.Section(records.Standing, 0, standing.AppendChosen(nil, chosen))
	})
}

// components makes the documents of each shard lie in small components, whose documents follow one another.
func (w *world) components(random *rand.Rand) {
	count := make([]int, len(w.edges))
	for _, p := range w.pages {
		if p.shard >= 0 {
			count[p.shard]++
		}
	}
	traces := make([][]int, len(w.edges)) // the class of each document
	for shard, n := range count {
		w.edges[shard] = nil
		for first := 0; first < n; {
			end := min(first+2+random.IntN(9), n)
			for i := first; i < end; i++ {
				traces[shard] = append(traces[shard], i)
				if i == first {
					continue
				}
				to := first + random.IntN(i-first)
				score := records.NewScore(5+random.IntN(4), 9, false)
				if random.IntN(2) == 0 {
					to = traces[shard][to]
					score, traces[shard][i] = records.NewScore(9, 9, false), to
				}
				w.edges[shard] = append(w.edges[shard], records.Edge[records.Number]{A: records.Number(to), B: records.Number(i), Score: score})
			}
			first = end
		}
	}
	for i := range w.pages {
		if p := &w.pages[i]; p.shard >= 0 {
			class := traces[p.shard][p.Number]
			p.Size = 1 + uint32(class)*7%400
			trace := records.TraceOf([]uint64{uint64(class) << 9})
			p.Trace = trace[:]
		}
	}
}

// TestParts: what is noted of components adds up to what a run makes of their documents.
func TestParts(t *testing.T) {
	lists, err := newLists("", "sitea.org\nsitec.org\n", "")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 44))
		w := newWorld(random, 8, 120)
		w.components(random)
		judging := Judging{Limits: Limits{Score: .1, Pages: 1, Sites: 3 + random.IntN(3)}, lists: &lists}
		want := w.do(t, 3, judging)
		w.stands = true
		got := w.do(t, 3, judging)
		if got.mirrors != want.mirrors || got.sites != want.sites || got.suspects != want.suspects || got.spread != want.spread {
			t.Fatalf("seed %d: %d spread pages and the rows\n%s%s%s\nwant %d and\n%s%s%s", seed, got.spread, got.mirrors, got.sites, got.suspects, want.spread, want.mirrors, want.sites, want.suspects)
		}
		if want.mirrors != "" && want.suspects != "" && want.spread > 0 {
			found++
		}
	}
	if found < 5 {
		t.Errorf("only %d worlds have mirrors, suspects and pages that too many sites have", found)
	}
}

// TestNumbersBeginAnywhere: the numbers of an output shard may begin above 0, and its first component is still the first.
func TestNumbersBeginAnywhere(t *testing.T) {
	lists, err := newLists("", "", "")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 45))
	w := newWorld(random, 8, 120)
	w.components(random)
	summing := Summing{Judging: Judging{Limits: Limits{Score: .1, Pages: 1, Sites: 3}, lists: &lists}, Rule: site.Host, Ranges: 3, Notes: true}
	var noted [2]map[int][]byte
	for i := range noted {
		runs := worktest.Runs(t)
		clusters, _ := w.write(t, runs, 3)
		sums := worktest.Do(t, runs, worktest.Tasks(t, runs, summing.Delivery(), clusters), summing.Task)
		noted[i] = worktest.Read(t, records.SiteParts, work.RunsOf(sums)...)
		w.lowest = 7
	}
	if len(noted[0]) != 2 || !reflect.DeepEqual(noted[0], noted[1]) {
		t.Errorf("parts of %d shards, and other ones if numbers begin with 7", len(noted[0]))
	}
}
