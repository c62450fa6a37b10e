package state

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/schema/output"
)

// changesOf makes changes of words such as "suspects:new:a".
func changesOf(words string) (changes []output.Change) {
	for _, word := range strings.Fields(words) {
		parts := strings.Split(word, ":")
		changes = append(changes, output.Change{
			Of:      parts[0],
			Change:  parts[1],
			Lineage: parts[2],
			Name:    parts[2],
			Size:    1,
		})
	}
	return changes
}

// words returns changes as words, each with its generation and since when it is open. Rows without a lineage have their
// size.
func words(changes []output.Change) string {
	var all []string
	for _, c := range changes {
		lineage := c.Lineage
		if lineage == "" {
			lineage = fmt.Sprintf("(%d)", c.Size)
		}
		all = append(all, fmt.Sprintf("%s:%s:%s@%d-%d", c.Of, c.Change, lineage, c.Since, c.Generation))
	}
	return strings.Join(all, " ")
}

// all keeps all changes.
func all(_, _ string) bool { return true }

// TestNotifications: what nobody has acknowledged is told in each run, once for each kind of change of a group.
func TestNotifications(t *testing.T) {
	noClusters := func(of, _ string) bool { return of != output.Clusters }
	var o Notifications
	for i, c := range []struct {
		now          string
		acknowledged int // after the run
		told, left   string
	}{
		{"suspects:new:a clusters:new:x", 0, "suspects:new:a@1-1 clusters:new:x@1-1", "suspects:new:a@1-1"},
		{"", 0, "suspects:new:a@1-1", "suspects:new:a@1-1"},
		{
			"suspects:gone:a suspects:new:b", 0, "suspects:gone:a@3-3 suspects:new:b@3-3 suspects:new:a@1-1",
			"suspects:new:a@1-1 suspects:gone:a@3-3 suspects:new:b@3-3",
		},
		// It comes again: one row, of the newest such change, and open since the first.
		{"suspects:new:a", 3, "suspects:new:a@1-4 suspects:gone:a@3-3 suspects:new:b@3-3", "suspects:new:a@4-4"},
		{"mirrors:grown:m", 5, "mirrors:grown:m@5-5 suspects:new:a@4-4", ""},
		{"", 5, "", ""},
	} {
		var told []output.Change
		told, o = o.Tell(changesOf(c.now), i+1, noClusters)
		o = o.Acknowledge(c.acknowledged)
		if got := words(told); got != c.told {
			t.Errorf("run %d tells %s, want %s", i+1, got, c.told)
		}
		if got := words(o); got != c.left {
			t.Errorf("run %d leaves %s, want %s", i+1, got, c.left)
		}
	}
}

// TestNotificationsAreBounded: what has no room is told once, and counted until it is acknowledged.
func TestNotificationsAreBounded(t *testing.T) {
	told, o := Notifications(nil).tell(
		changesOf("clusters:new:a clusters:new:b clusters:new:c clusters:gone:d suspects:new:s"), 1, 2, all)
	if got, want := words(told),
		"clusters:new:a@1-1 clusters:new:b@1-1 clusters:new:c@1-1 clusters:gone:d@1-1 suspects:new:s@1-1"; got != want {
		t.Errorf("told %s, want %s", got, want)
	}
	told, o = o.tell(changesOf("clusters:new:e clusters:new:a"), 2, 2, all)
	if got, want := words(told),
		"clusters:new:e@2-2 clusters:new:a@1-2 clusters:new:b@1-1 clusters:new:(1)@1-1 clusters:gone:(1)@1-1 suspects:new:s@1-1"; got != want {
		t.Errorf("told %s, want %s", got, want)
	}
	if got, want := words(o),
		"clusters:new:a@1-2 clusters:new:b@1-1 clusters:new:(2)@1-2 clusters:gone:(1)@1-1 suspects:new:s@1-1"; got !=
		want {
		t.Errorf("left %s, want %s", got, want)
	}
	if got, want := o.Counts(),
		map[string]map[string]int64{"clusters": {"new": 4, "gone": 1}, "suspects": {"new": 1}}; !reflect.DeepEqual(got,
		want) {
		t.Errorf("counts %v, want %v", got, want)
	}
	for i := range 100 {
		_, o = o.tell(changesOf(fmt.Sprintf("mirrors:new:%d mirrors:gone:%[1]d clusters:new:%[1]d", i)), int64(i)+3, 2,
			all)
	}
	if len(o) > 2*3+6 {
		t.Errorf("after 100 runs %d rows are open", len(o))
	}
	if left := o.Acknowledge(102); len(left) > 0 {
		t.Errorf("acknowledged, %s is left", words(left))
	}
}

func TestFileOfNotifications(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notifications")
	_, want := Notifications(nil).Tell(changesOf("suspects:new:a mirrors:grown:b"), 7, all)
	want[0].Name, want[0].Previous = "a \"name\"\n", []string{"a", "b"}
	if err := WriteNotifications(path, want); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadNotifications(path); err != nil || !slices.EqualFunc(got, want, func(a, b output.Change) bool {
		return reflect.DeepEqual(a, b)
	}) {
		t.Errorf("read %v, %v", got, err)
	}
	noByteCanChange(t, path, func(b []byte) error { _, err := decodeNotifications(b); return err })
}
