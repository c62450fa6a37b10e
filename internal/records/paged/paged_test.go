package paged

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// pair is an element whose number is the place that it had before a list was sorted.
type pair struct {
	key, number uint32
	more        uint64
}

// TestList: a list on the disk has the elements of a slice, whatever is read and set in which order.
func TestList(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, held := range []int{0, 1, 20 * pageLen, 100 * pageLen} { // elements
		store := &Store{Folder: t.TempDir(), Bytes: int64(held) * 16}
		n := 50*pageLen + random.IntN(pageLen)
		list, want := New[uint32, pair](store, n), make([]pair, n)
		if _, whole := list.Whole(); whole != (held == 0 || held >= n) || list.Len() != n {
			t.Fatalf("%d held of %d: whole %v", held, n, whole)
		}
		for _, beside := range []*Store{store.Beside(), store} {
			if _, whole := New[uint32, pair](beside, n).Whole(); held > 0 && whole {
				t.Fatalf("%d held of %d: a second list is held, too", held, n)
			}
		}
		for range 20 {
			from := random.IntN(n)
			for i := from; i < min(from+random.IntN(3*pageLen), n); i++ {
				if random.IntN(3) > 0 {
					want[i] = pair{random.Uint32(), uint32(i), random.Uint64()}
					list.Set(uint32(i), want[i])
				}
			}
			for range 500 {
				if i := random.Uint32N(uint32(n)); list.At(i) != want[i] {
					t.Fatalf("%d held: element %d is %v, want %v", held, i, list.At(i), want[i])
				}
			}
		}
		for i := range want {
			if list.At(uint32(i)) != want[i] {
				t.Fatalf("%d held: element %d is %v, want %v", held, i, list.At(uint32(i)), want[i])
			}
		}
		if named, err := os.ReadDir(store.Folder); err != nil || len(named) > 0 {
			t.Errorf("%d files have names (%v)", len(named), err)
		}
		store.Close()
	}
}

// TestSort: a list is sorted, and equal elements stay in their order.
func TestSort(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
	for _, held := range []int{0, 5000, pageLen * 30} {
		for _, n := range []int{0, 1, 5000, 5001, 60_000} {
			store := &Store{Folder: t.TempDir(), Bytes: int64(held) * 16}
			list, want := New[int, pair](store, n), make([]pair, n)
			for i := range want {
				want[i] = pair{key: random.Uint32N(1000), number: uint32(i)}
				list.Set(i, want[i])
			}
			slices.SortStableFunc(want, byKey)
			sorted, err := Sort(list, func(run []pair) error { slices.SortStableFunc(run, byKey); return nil }, byKey)
			if err != nil || sorted.Len() != n {
				t.Fatalf("%d of %d elements, error %v", sorted.Len(), n, err)
			}
			for i := range want {
				if sorted.At(i) != want[i] {
					t.Fatalf("%d held of %d: element %d is %v, want %v", held, n, i, sorted.At(i), want[i])
				}
			}
			store.Close()
		}
	}
	stop := errors.New("stop")
	for _, held := range []int{0, 5} {
		if _, err := Sort(New[int, pair](&Store{Folder: t.TempDir(), Bytes: int64(held)}, 10), func([]pair) error {
			return stop
		}, byKey); !errors.Is(err, stop) {
			t.Errorf("%d held: error %v", held, err)
		}
	}
}

// TestFault: a list whose file cannot be made or read says so, and tells the error of the system.
func TestFault(t *testing.T) {
	fill := func(store *Store) (list *List[int, uint64], fault error) {
		defer func() { fault, _ = recover().(*Fault) }()
		list = New[int, uint64](store, 100*pageLen)
		for i := range list.Len() {
			list.Set(i, uint64(i))
		}
		return list, nil
	}
	if _, fault := fill(&Store{Folder: t.TempDir() + "/none", Bytes: 1}); !errors.Is(fault, os.ErrNotExist) {
		t.Errorf("fault %v", fault)
	}
	store := &Store{Folder: t.TempDir(), Bytes: 1}
	list, _ := fill(store)
	store.Close()
	defer func() {
		if fault, is := recover().(*Fault); !is || !errors.Is(fault, os.ErrClosed) {
			t.Errorf("fault %v of a file that is closed", fault)
		}
	}()
	list.At(0)
}
