package state

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/schema/output"
)

// alertsOf makes alerts of words such as "b3": the site b with 3 pages.
func alertsOf(words string) (alerts []Alert) {
	for _, word := range strings.Fields(words) {
		alerts = append(alerts, Alert{ID: uint64(word[0]), Pages: int64(word[1] - '0'), Site: word[:1]})
	}
	return alerts
}

func TestFollowAlerts(t *testing.T) {
	for _, c := range []struct {
		name, known, now string
		want             []string // change, site, size, before, added, removed, previous
		all              string
	}{
		{"nothing", "a1 b2", "b2 a1", nil, "a1 b2"},
		{"the first run", "", "b2 a1", []string{"new a 1 0 1 0 []", "new b 2 0 2 0 []"}, "a1 b2"},
		{"new", "b2", "a1 b2", []string{"new a 1 0 1 0 []"}, "a1 b2"},
		{"more and fewer pages", "a1 b2", "a4 b1", []string{"grown a 4 1 3 0 [a]", "shrunk b 1 2 0 1 [b]"}, "a4 b1"},
		{"gone", "a1 b2 c3", "b2", []string{"gone a 0 1 0 1 [a]", "gone c 0 3 0 3 [c]"}, "a0 b2 c0"},
		{"gone before", "a0 b2", "b2", nil, "a0 b2"},
		{"there again", "a0 b2", "a5 b2", []string{"new a 5 0 5 0 [a]"}, "a5 b2"},
	} {
		changes, all := FollowAlerts(output.Suspects, alertsOf(c.known), alertsOf(c.now), func(Alert) bool {
			return false
		}, Sighting{})
		var got []string
		for _, change := range changes {
			for i, id := range change.Previous {
				change.Previous[i] = strings.ReplaceAll(id, Alert{ID: uint64(change.Name[0])}.Lineage(), change.Name)
			}
			got = append(got,
				fmt.Sprintf("%s %s %d %d %d %d %s", change.Change, change.Name, change.Size, change.Before,
					change.Added, change.Removed, change.Previous))
		}
		if !slices.Equal(got, c.want) || !reflect.DeepEqual(all, alertsOf(c.all)) {
			t.Errorf("%s: %q and %v, want %q and %s", c.name, got, all, c.want, c.all)
		}
	}
}

// TestFollowCampaigns: what a campaign stands for is not told by itself, unless it has been before or is by itself
// again. What could not be looked for is told once, and stays.
func TestFollowCampaigns(t *testing.T) {
	// Words such as "b3x?" are the site b with 3 pages, in campaign x, not seen; "b3!" is urgent.
	alertsOf := func(words string) (alerts []Alert) {
		for _, word := range strings.Fields(words) {
			a := Alert{ID: uint64(word[0]), Pages: int64(word[1] - '0'), Site: word[:1]}
			word, a.Unseen = strings.CutSuffix(word, "?")
			word, a.Urgent = strings.CutSuffix(word, "!")
			if len(word) > 2 {
				a.Campaign = uint64(word[2])
			}
			alerts = append(alerts, a)
		}
		return alerts
	}
	for _, c := range []struct {
		name, known, now, unseen string
		want, all                string
	}{
		{"a new campaign", "", "a1x b1x x2", "", "new x 2", "a1x b1x x2"},
		{"a known one grows", "a1x x1", "a1x b1x x2", "", "new b 1,grown x 2", "a1x b1 x2"},
		{"one that had gone comes again", "a1x x0", "a1x b1x x2", "", "new x 2", "a1x b1x x2"},
		{"a known suspect goes on by itself", "a1", "a1x b1x x2", "", "new x 2", "a1 b1x x2"},
		{"a known suspect that has gone", "a0", "a1x x1", "", "new x 1", "a1x x1"},
		{"a member by itself again", "a1x x1", "a1", "", "new a 1,gone x 0", "a1 x0"},
		{"a campaign ends", "a1x b1x x2", "", "", "gone x 0", "x0"},
		{"one of its sites was not seen", "a1x b1x x2", "", "b", "unseen x 2", "b1x? x2?"},
		{"a suspect was not seen", "a1 b2", "b2", "a", "unseen a 1", "a1? b2"},
		{"still not", "a1?", "", "a", "", "a1?"},
		{"seen again", "a1?", "a1", "", "", "a1"},
		{"seen again with more", "a1?", "a2", "", "grown a 2", "a2"},
		{"seen, and gone", "a1?", "", "", "gone a 0", "a0"},
		{"it becomes urgent", "a1", "a1!", "", "new a 1", "a1!"},
		{"it was urgent", "a1!", "a2!", "", "grown a 2", "a2!"},
		{"a campaign becomes urgent", "a1x x1", "a1x! x1!", "", "new x 1", "a1x! x1!"},
		{"long gone, and not seen", "a0", "", "a", "", "a0"},
	} {
		changes, all := FollowAlerts(output.Suspects, alertsOf(c.known), alertsOf(c.now), func(a Alert) bool {
			return strings.Contains(c.unseen, a.Site)
		}, Sighting{})
		var got []string
		for _, change := range changes {
			got = append(got, fmt.Sprintf("%s %s %d", change.Change, change.Name, change.Size))
		}
		if strings.Join(got, ",") != c.want || !reflect.DeepEqual(all, alertsOf(c.all)) {
			t.Errorf("%s: %q and %v, want %s and %s", c.name, got, all, c.want, c.all)
		}
	}
}

// TestAlertsOfManyRuns: the alerts of a run are the alerts of the run before with the changes that were told.
func TestAlertsOfManyRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var known []Alert
	pages := map[string]int64{} // by the ids of the alerts, as the changes tell
	for run := range 200 {
		want := map[string]int64{}
		var now []Alert
		for site := range random.IntN(8) {
			a := Alert{ID: random.Uint64N(5), Pages: 1 + random.Int64N(3), Site: fmt.Sprint(site)}
			a.ID = a.ID*10 + uint64(site)
			want[a.Lineage()] = a.Pages
			now = append(now, a)
		}
		var changes []output.Change
		changes, known = FollowAlerts(output.Suspects, known, now, func(Alert) bool { return false }, Sighting{})
		for _, c := range changes {
			if c.Before != pages[c.Lineage] || c.Size != c.Before+c.Added-c.Removed || c.Size == c.Before {
				t.Errorf("run %d: %+v after %d pages", run, c, pages[c.Lineage])
			}
			pages[c.Lineage] = c.Size
			if c.Change == output.Gone {
				delete(pages, c.Lineage)
			}
		}
		if !reflect.DeepEqual(pages, want) || !slices.IsSortedFunc(known, Alert.compare) {
			t.Fatalf("run %d: %v, want %v", run, pages, want)
		}
	}
}

func TestFileOfAlerts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "alerts")
	want := append(alertsOf("a1 b0"),
		Alert{ID: 1 << 63, Pages: 1 << 40, Site: "\xff\x00", First: Sighting{1 << 40, -1}}, Alert{
			ID:       1,
			Campaign: 7,
		}, Alert{ID: 2, Site: "c", Unseen: true}, Alert{
			ID:       3,
			Site:     "d",
			Urgent:   true,
			Campaign: 7,
			Copied:   []Trace{{1}, {31: 2}},
		}, Alert{ID: 4, Copied: []Trace{{7}}})
	if err := WriteAlerts(path, want); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadAlerts(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, %v", got, err)
	}
	if _, err := ReadGroups(path); err == nil {
		t.Error("alerts were read as groups")
	}
	noByteCanChange(t, path, func(b []byte) error { _, err := decodeAlerts(b); return err })
}

// TestSightings: an alert keeps the run that has first had it, also when it goes and comes again.
func TestSightings(t *testing.T) {
	var known []Alert
	for i, now := range []string{"a1", "a1 b2", "b2", "a3 b2", "c1"} {
		_, known = FollowAlerts(output.Suspects, known, alertsOf(now), func(Alert) bool { return false }, Sighting{
			Generation: int64(i) + 1,
			Seconds:    int64(100 * i),
		})
	}
	var got []string
	for _, a := range known {
		got = append(got, fmt.Sprintf("%s%d%v", a.Site, a.Pages, a.First))
	}
	if want := []string{"a0{1 0}", "b0{2 100}", "c1{5 400}"}; !slices.Equal(got, want) {
		t.Errorf("alerts %q, want %q", got, want)
	}
}
