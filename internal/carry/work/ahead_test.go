package work

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
)

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
