package warnings

import (
	"slices"
	"testing"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/job"
)

// TestGuards: a guard is met above its share, not at it, and its warnings come first.
func TestGuards(t *testing.T) {
	found := findings.Findings{Texts: findings.Texts{Records: 900, Empty: 800}}
	found.Counts = findings.Counts{Documents: 900, ReferenceDocuments: 100}
	table := []sources.Row{{Source: "a", Documents: 400, Removed: 200}, {Source: "b", Documents: 500, Removed: 251}}
	found.Largest.Add(findings.LargeCluster{Name: "c", Documents: 101, A: "c", B: "d"})
	for _, test := range []struct {
		guard []string
		met   []string
		kinds []Kind
		first string
	}{
		{nil, nil, []Kind{LargeCluster, TextField}, "cluster c has 101 of 1000 documents, such as c and d"},
		{[]string{"removes:50.2", "cluster:10.1"}, nil, []Kind{TextField}, ""},
		{
			[]string{"removes:50"},
			[]string{"removes:50"},
			[]Kind{Removal, LargeCluster, TextField},
			"more than 50 % is removed: b loses 251 of its 500 documents",
		},
		{
			[]string{"cluster:10", "removes:49"},
			[]string{"removes:49", "cluster:10"},
			[]Kind{Removal, Removal, LargeCluster, TextField},
			"more than 49 % is removed: b loses 251 of its 500 documents",
		},
	} {
		config := job.Default()
		config.Guard = test.guard
		if met := GuardsMet(&config, &found, table); !slices.Equal(met, test.met) {
			t.Errorf("%v: met %v, want %v", test.guard, met, test.met)
		}
		var kinds []Kind
		warnings := Of(&config, &found, table)
		for _, w := range warnings {
			kinds = append(kinds, w.Kind)
		}
		if !slices.Equal(kinds, test.kinds) || test.first != "" && warnings[0].Text != test.first {
			t.Errorf("%v: %+v", test.guard, warnings)
		}
	}
}
