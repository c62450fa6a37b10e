package standing

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work/worktest"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/ground/storage"
)

// at names a document.
func at(file int, position int64) docref.Ref {
	ref, err := docref.New(file, position)
	if err != nil {
		panic(err)
	}
	return ref
}

// drawn draws a list of components over some files of ten documents each, which no two components share.
func drawn(random *rand.Rand) *List {
	l := new(List)
	var left []docref.Ref
	for file := range 1 + random.IntN(5) {
		for position := range int64(10) {
			left = append(left, at(file, position))
		}
	}
	random.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	var all [][]docref.Ref
	for len(left) > 0 {
		n := min(2+random.IntN(4), len(left))
		refs := slices.Sorted(slices.Values(left[:n]))
		all, left = append(all, refs), left[n:]
	}
	slices.SortFunc(all, func(a, b []docref.Ref) int { return int(int64(a[0]) - int64(b[0])) })
	for _, refs := range all {
		documents := make([]Document, len(refs))
		for i, ref := range refs {
			documents[i] = Document{Ref: ref, Near: random.Uint32(), IsRemoved: random.IntN(2) == 0}
		}
		c := Component{Found: Found{Clusters: 1 + random.Uint32N(2), Clustered: uint32(len(refs)), Pairs: random.Uint32N(500), Identical: random.Uint32N(3)}}
		for range random.IntN(3) {
			c.Near.Add(random.Float64())
			c.NearShort.Add(random.Float64())
		}
		for of := range c.Rows {
			if random.IntN(4) > 0 {
				c.Rows[of] = Rows{random.Int64N(1 << uint(1+random.IntN(40))), random.Uint32()}
			}
			if c.Rows[of].Bytes == 0 {
				c.Rows[of].Sum = 0
			}
		}
		if random.IntN(5) == 0 {
			documents = nil
		}
		l.Add(c, documents)
	}
	for left := len(l.Components); left > 0; {
		n := 1 + random.IntN(left)
		l.Shards = append(l.Shards, n)
		left -= n
	}
	return l
}

// same reports whether two lists say the same.
func same(a, b *List) bool {
	if !slices.Equal(a.Shards, b.Shards) || len(a.Components) != len(b.Components) {
		return false
	}
	for i := range a.Components {
		if a.Components[i].Found != b.Components[i].Found || a.Components[i].Rows != b.Components[i].Rows || !slices.Equal(a.Documents(i), b.Documents(i)) {
			return false
		}
	}
	return true
}

// TestList: a list is read as it was written. A byte that is another one is found.
func TestList(t *testing.T) {
	random, path := rand.New(rand.NewPCG(1, 30)), filepath.Join(t.TempDir(), "standing")
	for range 30 {
		want := drawn(random)
		if err := want.Write(path); err != nil {
			t.Fatal(err)
		}
		if got, err := Load(path); err != nil || !same(got, want) {
			t.Fatalf("%+v was read, %v, want %+v", got, err, want)
		}
		b, err := storage.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[random.IntN(len(b))] ^= 1 << random.IntN(8)
		if err := storage.WriteFile(path, b); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil {
			t.Fatal("a damaged list was read")
		} else if _, is := errors.AsType[*storage.DamagedError](err); !is {
			t.Fatal(err)
		}
	}
}

// FuzzUnpack: no bytes do harm, and what is a list is packed as it was.
func FuzzUnpack(f *testing.F) {
	random := rand.New(rand.NewPCG(2, 30))
	for range 5 {
		f.Add(drawn(random).Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := Unpack(b)
		if err != nil {
			return
		}
		again, err := Unpack(l.Append(nil))
		if err != nil || !same(l, again) {
			t.Errorf("%v: %+v was packed, %+v is read", err, l, again)
		}
	})
}

// TestRenumber: files that are there get their new numbers, and components with documents of others lose theirs.
func TestRenumber(t *testing.T) {
	l := new(List)
	l.Add(Component{}, []Document{{Ref: at(0, 1)}, {Ref: at(2, 7)}})
	l.Add(Component{}, []Document{{Ref: at(0, 2)}, {Ref: at(1, 3)}})
	l.Add(Component{}, []Document{{Ref: at(2, 2)}, {Ref: at(9, 3)}})
	l.Renumber([]int{1, -1, 5})
	if got := l.Documents(0); !slices.Equal(got, []Document{{Ref: at(1, 1)}, {Ref: at(5, 7)}}) || len(l.Documents(1)) > 0 || len(l.Documents(2)) > 0 {
		t.Errorf("%v, %v, %v", got, l.Documents(1), l.Documents(2))
	}
}

// TestNear: the least similarity is never more than the true one.
func TestNear(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 30))
	for range 1000 {
		similarity := random.Float64()
		var n Near
		n.Add(similarity)
		n.Add(similarity + .1)
		if n.Count != 2 || float64(n.Least) > similarity || similarity-float64(n.Least) > 1e-6 {
			t.Fatalf("%+v of %v", n, similarity)
		}
	}
}

// TestChoose: a component stands if all of its documents are known and none is touched, if it is not large, and if it is none of those
// that are named for being least similar.
func TestChoose(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 30))
	chosen := 0
	for range 200 {
		l := drawn(random)
		for i := range l.Components {
			if random.IntN(3) > 0 { // else most are named
				l.Components[i].Near, l.Components[i].NearShort = Near{}, Near{}
			}
		}
		var known []Known
		gone, touched := map[docref.Ref]bool{}, map[docref.Ref]bool{}
		for i := range l.Components {
			for _, d := range l.Documents(i) {
				gone[d.Ref], touched[d.Ref] = random.IntN(20) == 0, random.IntN(20) == 0
				if !gone[d.Ref] {
					known = append(known, Known{d.Ref, touched[d.Ref]})
				}
			}
		}
		known = append(known, Known{at(7, 1), true}, Known{at(0, 77), true}) // of no component that can stand
		slices.SortFunc(known, func(a, b Known) int { return int(int64(a.Ref) - int64(b.Ref)) })
		const large = 5
		got, _ := l.Choose(slices.Values(known), nil, large)
		chosen += len(got)

		may := func(i int) bool {
			return len(l.Documents(i)) > 0 && len(l.Documents(i)) < large && !slices.ContainsFunc(l.Documents(i), func(d Document) bool { return gone[d.Ref] || touched[d.Ref] })
		}
		all := map[int]bool{}
		for i := range l.Components {
			all[i] = may(i)
		}
		standing := maps.Clone(all)
		for _, of := range []func(*Component) Near{func(c *Component) Near { return c.Near }, func(c *Component) Near { return c.NearShort }} {
			var least []float32
			for i, is := range standing {
				if n := of(&l.Components[i]); is && n.Count > 0 {
					least = append(least, n.Least)
				}
			}
			slices.Sort(least)
			bound := float32(math.Inf(1))
			if len(least) >= 10 {
				bound = least[9]
			}
			for i, is := range all {
				n := of(&l.Components[i])
				all[i] = is && (n.Count == 0 || n.Least > bound)
			}
		}
		var want []uint32
		for i := range l.Components {
			if all[i] {
				want = append(want, uint32(i))
			}
		}
		if !slices.Equal(got, want) || !slices.Equal(Chosen(AppendChosen(nil, got)), want) {
			t.Fatalf("%v stand, want %v", got, want)
		}
	}
	if chosen < 500 {
		t.Errorf("only %d components stand", chosen)
	}
}

// TestStandsEarly: what is said early of components without touched documents is what is said at the end, unless those that the findings name
// are among them.
func TestStandsEarly(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 30))
	stood, tooEarly := 0, 0
	for range 300 {
		l := new(List)
		for i := range 10 + random.IntN(60) {
			c := Component{}
			if random.IntN(3) > 0 {
				c.Near.Add(random.Float64())
			}
			l.Add(c, []Document{{Ref: at(0, int64(2*i))}, {Ref: at(0, int64(2*i+1))}})
		}
		part := 1 + random.IntN(4) // one component of this number is touched
		var known, seen []Known
		var early []uint32
		for i := range l.Components {
			documents, isTouched := l.Documents(i), random.IntN(part) == 0
			two := []Known{{documents[0].Ref, isTouched}, {documents[1].Ref, false}}
			if known = append(known, two...); !isTouched && l.StandsEarly(i, 3) {
				early = append(early, uint32(i))
			} else {
				seen = append(seen, two...)
			}
		}
		want, _ := l.Choose(slices.Values(known), nil, 3)
		got, isTooEarly := l.Choose(slices.Values(seen), early, 3)
		if !slices.Equal(got, want) || isTooEarly != slices.ContainsFunc(early, func(i uint32) bool { return !slices.Contains(want, i) }) {
			t.Fatalf("%v stand, want %v; too early: %t", got, want, isTooEarly)
		}
		if stood += len(early); isTooEarly {
			tooEarly++
		}
		if _, isTooEarly = l.Choose(slices.Values(seen), early, 2); isTooEarly != (len(early) > 0) || l.StandsEarly(0, 2) {
			t.Fatal("large components stand")
		}
	}
	if stood < 2000 || tooEarly == 0 || tooEarly > 100 {
		t.Errorf("%d components stand early, %d times too early", stood, tooEarly)
	}
}

// siteRun writes what components add to sites, and returns the pieces.
func siteRun(t *testing.T, shards map[int][]records.SitePart) []runfile.Piece {
	t.Helper()
	run := worktest.Write(t, worktest.Runs(t), func(run *runfile.Writer) error {
		err := run.Section(records.SharedIDs, 0, make([]byte, 8)) // of another kind
		for shard, parts := range shards {
			for i := range parts {
				err = errors.Join(err, parts[i].Write(run, shard))
			}
		}
		return err
	})
	pieces, err := runfile.Pieces(run)
	if err != nil {
		t.Fatal(err)
	}
	return pieces
}

// copied returns what CopySites writes: the number of each component, and what it adds.
func copied(t *testing.T, n *Next, last, made []runfile.Piece) (all []string) {
	t.Helper()
	var reader runfile.Reader
	defer reader.Close()
	run := worktest.Write(t, worktest.Runs(t), func(run *runfile.Writer) error {
		return errors.Join(run.Section(records.SharedIDs, 0), n.CopySites(last, made, &reader, run))
	})
	for packed := worktest.Read(t, records.SiteParts, run)[0]; len(packed) > 0; {
		var part records.SitePart
		part, packed = records.NextSitePart(packed)
		all = append(all, fmt.Sprint(part.Component, string(part.Packed)))
	}
	return all
}

// TestMerge: components that were made and others that stood follow one another as the shards have noted them, and so does what belongs to their
// clusters.
func TestMerge(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 30))
	for range 200 {
		var err error
		last, want := drawn(random), new(List)
		var lasts, made, wanted, others []int // one for each cluster, numbered
		starts := []int{}
		for i := range last.Components {
			starts = append(starts, len(lasts))
			for range last.Components[i].Clusters {
				lasts = append(lasts, len(lasts))
			}
		}
		starts = append(starts, len(lasts))
		others = slices.Clone(lasts)
		var noted [][]byte
		next := 0          // component of the last run
		var sites []string // what components add to sites
		ofMade, ofLast := map[int][]records.SitePart{}, map[int][]records.SitePart{}
		for i := range last.Components {
			ofLast[0] = append(ofLast[0], records.SitePart{Component: i, Packed: fmt.Append(nil, "last", i)})
		}
		for number := range 1 + random.IntN(4) {
			var shard []byte
			before := len(want.Components)
			for range random.IntN(6) {
				if random.IntN(2) == 0 {
					c, documents := Component{Found: Found{Clusters: random.Uint32N(3)}}, []Document{{Ref: at(1, random.Int64N(100))}}
					for range c.Clusters {
						made = append(made, 1000+len(made))
						wanted = append(wanted, made[len(made)-1])
					}
					part := records.SitePart{Component: len(ofMade[number]), Packed: fmt.Append(nil, number, "made", len(shard))}
					ofMade[number] = append(ofMade[number], part)
					sites = append(sites, fmt.Sprint(len(want.Components), string(part.Packed)))
					want.Add(c, documents)
					shard = AppendMade(shard, &c, documents)
					continue
				}
				from := next + random.IntN(len(last.Components)-next+1)
				next = from + random.IntN(len(last.Components)-from+1)
				shard = AppendStood(shard, Stretch{From: uint32(from), To: uint32(next)})
				for i := from; i < next; i++ {
					sites = append(sites, fmt.Sprint(len(want.Components), "last", i))
					want.Add(last.Components[i], last.Documents(i))
				}
				wanted = append(wanted, lasts[starts[from]:starts[next]]...)
				others = slices.DeleteFunc(others, func(n int) bool { return n >= starts[from] && n < starts[next] })
			}
			noted, want.Shards = append(noted, shard), append(want.Shards, len(want.Components)-before)
		}
		if random.IntN(2) == 0 { // as it is read from a file
			if last, err = Unpack(last.Append(nil)); err != nil {
				t.Fatal(err)
			}
		}
		n, err := Merge(last, noted)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Unpack(n.Append(nil)); err != nil || !same(got, want) {
			t.Fatalf("%v: %+v, want %+v", err, got, want)
		}
		var all, rest []int
		err = n.Interleave(len(lasts), len(made), func(isLast bool, from, to int) {
			of := made
			if isLast {
				of = lasts
			}
			all = append(all, of[from:to]...)
		})
		ranges, err2 := n.Others(len(lasts))
		for _, of := range ranges {
			rest = append(rest, lasts[of[0]:of[1]]...)
		}
		if err := errors.Join(err, err2); err != nil || !slices.Equal(all, wanted) || !slices.Equal(rest, others) {
			t.Fatalf("%v: %v and %v, want %v and %v", err, all, rest, wanted, others)
		}
		if len(made) > 0 && n.Interleave(len(lasts), len(made)-1, func(bool, int, int) {}) == nil {
			t.Fatal("a cluster that is missing is not missed")
		}
		if copied := copied(t, n, siteRun(t, ofLast), siteRun(t, ofMade)); !slices.Equal(copied, sites) {
			t.Fatalf("%q are copied, want %q", copied, sites)
		}
	}
	bad := [][]byte{{7}, AppendStood(nil, Stretch{From: 3, To: 99}), AppendStood(nil, Stretch{From: 3, To: 2}), {madeMark, 200}}
	for _, noted := range bad {
		if _, err := Merge(drawn(random), [][]byte{noted}); !errors.Is(err, ErrDamaged) {
			t.Errorf("%x: %v", noted, err)
		}
	}
}

// TestStretch: a stretch is read as it was packed.
func TestStretch(t *testing.T) {
	want, b := Stretch{Before: 7, From: 1 << 30, To: math.MaxUint32}, bytes.Repeat([]byte{9}, StretchSize)
	if want.Put(b); !reflect.DeepEqual(GetStretch(b), want) {
		t.Errorf("%+v", GetStretch(b))
	}
}
