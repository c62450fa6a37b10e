package mirrors

import (
	"reflect"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"mirrorbeam/internal/lineage"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/outputs"
	"mirrorbeam/internal/work"
)

// readForNext reads what tasks have written for the next run.
func readForNext(t testing.TB, outcomes []work.Outcome) *outputs.ForNext {
	t.Helper()
	var runs []work.Path
	for _, run := range work.RunsOf(outcomes) {
		runs = append(runs, work.Path(run))
	}
	next, err := outputs.ReadForNext(runs)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// checkForNext checks that the next run is to know the groups of the rows, but for those of parked sites.
func checkForNext(t *testing.T, of results) {
	t.Helper()
	want, got := map[string]map[lineage.Member]bool{}, map[string]map[lineage.Member]bool{}
	for line := range strings.Lines(of.mirrors) {
		var row output.Mirror
		decodeRow(t, line, &row)
		if row.Kind == string(Parked) {
			continue
		}
		if want[row.Group] == nil {
			want[row.Group] = map[lineage.Member]bool{}
		}
		for _, name := range []string{row.A, row.B} {
			hash := xxh3.HashString128(name)
			want[row.Group][lineage.Member{hash.Hi, hash.Lo}] = true
		}
	}
	for _, group := range of.next.Mirrors {
		members := map[lineage.Member]bool{}
		for _, member := range group.Members {
			members[member] = true
		}
		if len(members) != len(group.Members) || got[group.Name] != nil {
			t.Errorf("the group of %s has a site twice, or stands there twice", group.Name)
		}
		got[group.Name] = members
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("groups %v, want %v", got, want)
	}
}
