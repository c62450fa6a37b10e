package mirrors

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// readForNext reads what tasks have written for the next run.
func readForNext(t testing.TB, outcomes []work.Outcome) *write.ForNext {
	t.Helper()
	var runs []work.Path
	for _, run := range work.RunsOf(outcomes) {
		runs = append(runs, work.Path(run))
	}
	next, err := write.ReadForNext(t.Context(), runs)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// checkForNext checks that the next run is to know the groups of the rows, but for groups of parked sites.
func checkForNext(t *testing.T, of results) {
	t.Helper()
	want, got := map[string]map[state.Member]bool{}, map[string]map[state.Member]bool{}
	for line := range strings.Lines(of.mirrors) {
		var row output.Mirror
		decodeRow(t, line, &row)
		if row.Kind == string(Parked) {
			continue
		}
		if want[row.Group] == nil {
			want[row.Group] = map[state.Member]bool{}
		}
		for _, name := range []string{row.A, row.B} {
			hash := xxh3.HashString128(name)
			want[row.Group][state.Member{hash.Hi, hash.Lo}] = true
		}
	}
	for _, group := range of.next.Mirrors {
		members := map[state.Member]bool{}
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

// TestReadingStops: what nobody waits for any more is not read.
func TestReadingStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	run := worktest.Write(t, worktest.Runs(t), func(run *runfile.Writer) error {
		return errors.Join(
			records.Write(run, records.OriginalTraces, 0, new(records.Trace)),
			run.Section(records.CachedPairs, 0, make([]byte, state.CachedPairSize)))
	})
	runs := []work.Path{work.Path(run)}
	if _, err := findPages(ctx, runs, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("find pages: %v", err)
	}
	if _, err := write.ReadForNext(ctx, runs); !errors.Is(err, context.Canceled) {
		t.Errorf("read for the next run: %v", err)
	}
}
