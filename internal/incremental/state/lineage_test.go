package state

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
)

// groupsOf makes groups of words such as "abc", whose letters are documents. The lineage of a group is its word in
// capitals.
func groupsOf(words ...string) []Group {
	var groups []Group
	for _, word := range words {
		g := Group{Name: word, Lineage: strings.ToUpper(word)}
		for _, letter := range word {
			g.Members = append(g.Members, Member{uint64(letter) % 3, uint64(letter)})
		}
		groups = append(groups, g)
	}
	return groups
}

func TestFollow(t *testing.T) {
	for _, c := range []struct {
		name, last, now string
		want            []string // change, name, size, before, added, removed
		lineages        string   // of the groups of this run; * is a new one
	}{
		{"nothing", "ab cd", "ab cd", nil, "AB CD"},
		{"another order", "ab cd", "dc ba", nil, "CD AB"},
		{"new", "ab", "ab cd", []string{"new cd 2 0 2 0"}, "AB *"},
		{"grown", "ab", "abc", []string{"grown abc 3 2 1 0"}, "AB"},
		{"another document instead of one", "abc", "abd", []string{"grown abd 3 3 1 1"}, "ABC"},
		{"shrunk", "abc", "ab", []string{"shrunk ab 2 3 0 1"}, "ABC"},
		{"gone", "ab cd", "cd", []string{"gone ab 0 2 0 2"}, "CD"},
		{"merged, the larger part leads", "ab cde", "abcde", []string{"merged abcde 5 5 0 0"}, "CDE"},
		{"merged, the first of equal parts leads", "ab cd", "abcd", []string{"merged abcd 4 4 0 0"}, "AB"},
		{
			"split, the larger part leads", "abcde", "ab cde",
			[]string{"split ab 2 0 2 0", "split cde 3 5 0 2"},
			"* ABCDE",
		},
		{"a part goes over", "abcd ef", "abc def", []string{"split abc 3 4 0 1", "grown def 3 2 1 0"}, "ABCD EF"},
		{"the first run", "", "ab", []string{"new ab 2 0 2 0"}, "*"},
		{"the end", "ab", "", []string{"gone ab 0 2 0 2"}, ""},
	} {
		now := groupsOf(strings.Fields(c.now)...)
		changes := Follow(output.Clusters, groupsOf(strings.Fields(c.last)...), now, 7)
		var got, lineages []string
		for _, change := range changes {
			got = append(got,
				fmt.Sprint(change.Change, " ", change.Name, " ", change.Size, change.Before, change.Added,
					change.Removed))
		}
		for _, g := range now {
			if len(g.Lineage) == 16 {
				g.Lineage = "*"
			}
			lineages = append(lineages, g.Lineage)
		}
		if !slices.Equal(got, c.want) || strings.Join(lineages, " ") != c.lineages {
			t.Errorf("%s: %q and lineages %q, want %q and %q", c.name, got, lineages, c.want, c.lineages)
		}
	}
}

// TestFollowCounts: in a random history sizes and counts agree, lineages are unique, and a group that does not change
// keeps its lineage without a row.
func TestFollowCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var last []Group
	for number := range 200 {
		now := make([]Group, random.IntN(6))
		for i := range now {
			now[i].Name = fmt.Sprint("g", i)
		}
		for document := range uint64(40) {
			if at := random.IntN(10); at < len(now) {
				now[at].Members = append(now[at].Members, Member{document * 7919, document})
			}
		}
		now = slices.DeleteFunc(now, func(g Group) bool { return len(g.Members) == 0 })
		if number%3 == 1 { // nothing changes but the order and the names
			now = nil
			for _, g := range slices.Backward(last) {
				now = append(now, Group{Name: g.Name + "x", Members: g.Members})
			}
		}
		changes := Follow(output.Clusters, last, now, number)
		if number%3 == 1 && len(changes) > 0 {
			t.Errorf("run %d: %v though nothing has changed", number, changes)
		}
		for _, c := range changes {
			if c.Size != c.Before+c.Added-c.Removed {
				t.Errorf("run %d: the numbers of %+v do not agree", number, c)
			}
		}
		given := map[string]bool{}
		for _, g := range now {
			if given[g.Lineage] || g.Lineage == "" {
				t.Errorf("run %d: lineage %q twice", number, g.Lineage)
			}
			given[g.Lineage] = true
		}
		last = now
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "groups")
	want := groupsOf("abc", "d", "\xff\x00")
	if err := WriteGroups(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadGroups(path)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, %v", got, err)
	}
	noByteCanChange(t, path, func(b []byte) error { _, err := decodeGroups(b); return err })
}

// noByteCanChange changes each byte of a file in turn: decode must refuse it.
func noByteCanChange(t *testing.T, path string, decode func([]byte) error) {
	t.Helper()
	whole, err := storage.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 1
		if decode(damaged) == nil {
			t.Errorf("byte %d of %d can change", i, len(whole))
		}
	}
}

// TestUnpackGroups: groups that share memory stay as they were read, whatever comes after them.
func TestUnpackGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 7))
	var want []Group
	var packed []byte
	for i := range 3000 {
		g := Group{Name: strings.Repeat(fmt.Sprint(i), random.IntN(20)), Members: make([]Member, random.IntN(6))}
		if i == 1000 {
			g.Name, g.Members = strings.Repeat("long", textsTogether), make([]Member, membersTogether+1)
		}
		for k := range g.Members {
			g.Members[k] = Member{random.Uint64(), uint64(i)}
		}
		want, packed = append(want, g), AppendGroup(packed, &g)
	}
	got, err := UnpackGroups(packed)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d groups, %v, want %d", len(got), err, len(want))
	}
	for i := range want {
		if want[i].Name != got[i].Name || !slices.Equal(want[i].Members, got[i].Members) ||
			cap(got[i].Members) > len(got[i].Members) {
			t.Fatalf("group %d: %d members of %q, want %d of %q", i, len(got[i].Members), got[i].Name,
				len(want[i].Members), want[i].Name)
		}
	}
}

func FuzzUnpackGroups(f *testing.F) {
	f.Add(AppendGroup(AppendGroup(nil, &Group{Name: "a", Members: []Member{{1, 2}}}), &Group{Lineage: "x", Name: "bc"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		groups, err := UnpackGroups(b)
		if err != nil {
			return
		}
		var again []byte
		for _, g := range groups {
			again = AppendGroup(again, &g)
		}
		if !bytes.Equal(again, b) {
			t.Errorf("%v are not %q", groups, b)
		}
	})
}
