package work

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// TestPartsFromAfar: the indexes of run files behind a network are read once. Each later visit of a graph asks for each
// part once.
func TestPartsFromAfar(t *testing.T) {
	m, folder := storagetest.NewMemory(t)
	var reads atomic.Int64
	m.Ask = func(operation, _ string) error {
		if operation == "read" {
			reads.Add(1)
		}
		return nil
	}
	const parts = 2*ReadsAhead + 3
	random := rand.New(rand.NewPCG(7, 8))
	var runs []string
	for part := range parts {
		runs = append(runs, writeEdges(t, folder, part, randomEdges(random, 3)))
	}
	reads.Store(0)
	graph := GraphOf(runs, records.EdgeNodes, &Planning{Memory: &Memory{}, Runs: Runs{Folder: Path(folder)}}, 1<<20)
	for visit := range 3 {
		number, before := 0, reads.Load()
		err := graph.Parts(func(part int, _ graphs.Part) error {
			if part != number {
				t.Errorf("part %d came instead of %d", part, number)
			}
			number++
			return nil
		})
		if err != nil || number != parts {
			t.Errorf("%d parts: %v", number, err)
		}
		if asked := reads.Load() - before; visit > 0 && asked != parts || asked < parts {
			t.Errorf("visit %d asked %d times for %d parts", visit, asked, parts)
		}
	}
}

// TestWindow: what is read ahead is bounded by number and by bytes, and nothing is on the local disk.
func TestWindow(t *testing.T) {
	for _, c := range []struct {
		isFar          bool
		items          int
		longest, bytes int64
		want           int
	}{
		{false, 1000, 10, 1000, 1},
		{true, 0, 0, 1000, 1},
		{true, 5, 10, 1000, 5},
		{true, 1000, 0, 1000, ReadsAhead},
		{true, 1000, 100, 1000, 10},
		{true, 1000, 2000, 1000, 1},
	} {
		if got := windowOf(c.isFar, c.items, c.longest, c.bytes); got != c.want {
			t.Errorf("%+v: %d items are read ahead", c, got)
		}
	}
}

// TestAhead: items are visited in order, no more are loaded than the window allows, and no load outlives an error.
func TestAhead(t *testing.T) {
	broken := errors.New("broken")
	for _, n := range []int{0, 1, 5, 40} {
		for _, window := range []int{1, 3, 8} {
			for failing := range n + 1 {
				for _, atVisit := range []bool{false, true} {
					t.Run(fmt.Sprintf("%d/%d/%d/%v", n, window, failing, atVisit), func(t *testing.T) {
						var began, running atomic.Int64
						var visited []int
						err := ahead(n, window, func(i int) (int, error) {
							running.Add(1)
							defer running.Add(-1)
							began.Add(1)
							if i == failing && !atVisit {
								return i, broken
							}
							return i, nil
						}, func(i int) error {
							if begun := int(began.Load()); begun > i+window {
								t.Errorf("%d items were begun before the visit of %d", begun, i)
							}
							if i == failing && atVisit {
								return broken
							}
							visited = append(visited, i)
							return nil
						})
						if (err != nil) != (failing < n) || err != nil && !errors.Is(err, broken) {
							t.Errorf("error %v", err)
						}
						if running.Load() != 0 {
							t.Error("a load goes on")
						}
						if len(visited) != failing || !slices.IsSorted(visited) {
							t.Errorf("visited %v", visited)
						}
					})
				}
			}
		}
	}
}
