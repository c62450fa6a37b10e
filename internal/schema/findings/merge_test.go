package findings

import (
	oldrand "math/rand"
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/quick"
)

// TestMerge: whatever tasks have found, the sum is the same in any order and grouping, and they keep what they had.
func TestMerge(t *testing.T) {
	random, values := rand.New(rand.NewPCG(1, 2)), oldrand.New(oldrand.NewSource(3))
	for range 100 {
		all, before := make([]Findings, 1+random.IntN(6)), make([]Findings, 6)
		for i := range all {
			value, _ := quick.Value(reflect.TypeFor[Findings](), values)
			all[i] = value.Interface().(Findings)
			if all[i].Common != nil {
				all[i].Common = &Common{Above: 30, Shingles: 7}
			}
			if all[i].Panicked.Ref == "" { // no document, no panic
				all[i].Panicked = Panic{}
			}
			Merge(&before[i], all[i])
		}
		var want, left, right Findings
		for _, one := range all {
			Merge(&want, one)
		}
		cut := random.IntN(len(all) + 1)
		for to, i := range random.Perm(len(all)) {
			if to < cut {
				Merge(&left, all[i])
			} else {
				Merge(&right, all[i])
			}
		}
		Merge(&left, right)
		if !reflect.DeepEqual(left, want) {
			t.Fatalf("%+v, want %+v", left, want)
		}
		for i := range all {
			var again Findings
			if Merge(&again, all[i]); !reflect.DeepEqual(again, before[i]) {
				t.Fatalf("%+v was %+v before it was merged", again, before[i])
			}
		}
	}
}

// TestMergeRules: the rules of Merge, and that a type without one is not passed over.
func TestMergeRules(t *testing.T) {
	type Inner struct{ N int64 }
	type found struct {
		Inner
		Is       bool
		At       *Inner
		By       []Inner
		Reasons  map[string]int64
		Examples Skipped
	}
	skipped := func(documents int64, first string) Skipped {
		return Skipped{Groups: 1, Example: &SkippedGroup{Documents: documents, First: first}}
	}
	var sum found
	Merge(&sum, found{Inner: Inner{1}, By: []Inner{{5}}, Reasons: map[string]int64{"a": 1}, Examples: skipped(3, "c")})
	Merge(&sum, found{Is: true, At: &Inner{4}, Reasons: map[string]int64{"a": 2, "b": 3}, Examples: skipped(4, "b")})
	Merge(&sum, found{Inner: Inner{2}, At: &Inner{5}, By: []Inner{{1}, {2}}, Examples: skipped(4, "a")})
	want := found{Inner{3}, true, &Inner{9}, []Inner{{6}, {2}}, map[string]int64{"a": 3, "b": 3}, skipped(4, "a")}
	if want.Examples.Groups = 3; !reflect.DeepEqual(sum, want) {
		t.Errorf("%+v, want %+v", sum, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("a text is merged")
		}
	}()
	Merge(&struct{ Name string }{}, struct{ Name string }{"x"})
}

// TestFinish: the median is of all clusters, however tasks have them, and no larger than half of them need.
func TestFinish(t *testing.T) {
	for _, c := range []struct {
		tasks []Sizes
		want  int64
	}{
		{nil, 0},
		{[]Sizes{{2: 1}}, 2},
		{[]Sizes{{2: 1}, {9: 1}}, 2},
		{[]Sizes{{2: 1, 7: 1}, {9: 1}}, 7},
		{[]Sizes{{2: 3}, {
			2:  2,
			40: 3,
		}, nil}, 2},
		{[]Sizes{{5: 2}, {3: 1}}, 5},
	} {
		var sum Findings
		for _, sizes := range c.tasks {
			Merge(&sum, Findings{Sizes: sizes, Totals: Totals{Counts: Counts{Documents: 7, Kept: 1}}, Sent: 3})
		}
		sum.Finish()
		if n := int64(len(c.tasks)); sum.Counts.MedianCluster != c.want || sum.Counts.Kept != n+n*(7-3) {
			t.Errorf("%v: median %d, want %d; %d kept", c.tasks, sum.Counts.MedianCluster, c.want, sum.Counts.Kept)
		}
	}
}
