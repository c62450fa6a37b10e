package candidates

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
)

// randomGroup makes the records of one key. Many have the same key before, some
// of them equal, the first references of a reference.
func randomGroup(random *rand.Rand, documents, major int, exact bool) []Record {
	var records []Record
	for ref := range documents {
		r := Record{
			Ref:      docref.Ref(ref + 1),
			Digest:   digest.Digest{uint64(random.IntN(documents*3/4+1)) * 0x9e3779b97f4a7c15},
			Position: 3,
		}
		same := rand.New(rand.NewPCG(r.Digest[0], 1)) // equal documents have all in common
		r.Size = uint32(40 + same.IntN(20))
		switch before := same.IntN(100); {
		case before < 3:
			r.First = true
		case before < major:
			r.SetPrevious(1 << 40)
		default:
			r.SetPrevious(uint64(same.IntN(30)) << 17)
		}
		if r.Key = PrefixKeyOf(1 << 44); !exact {
			r.Key = KeyOf(1<<44, 3)
			r.Previous[1], r.Previous[2] = uint32(same.IntN(3)), uint32(1000+same.IntN(100))
			if r.First { // which is so under a first key only
				r.Position, r.Previous = 0, [MaxPrevious]uint32{uint32(ref), uint32(ref), uint32(ref)}
			}
		}
		records = append(records, r)
	}
	return records
}

// classesOf returns the first of equal records, and what each class is known by.
func classesOf(records []Record, firstInput docref.Ref) []Record {
	var classes []Record
	at := map[digest.Digest]int{}
	for _, r := range records {
		i, known := at[r.Digest]
		if !known {
			at[r.Digest] = len(classes)
			r.Second = r.Ref
			classes = append(classes, r)
		} else if c := &classes[i]; c.Second < firstInput && r.Ref >= firstInput {
			c.Second = r.Ref
		}
	}
	return classes
}

// TestOversizedGroupsAreWhole: a group of more pairs than the bound is passed on with one record of
// each class, and the number of its pairs that have not met before. Those within the
// reference do not count.
func TestOversizedGroupsAreWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	for _, exact := range []bool{false, true} {
		for _, documents := range []int{200, 500} {
			for _, references := range []int{0, documents / 2, documents} {
				g := Grouper{Threshold: 0.8, Exact: exact, FirstInput: docref.Ref(references + 1)}
				records := randomGroup(random, documents, 50, exact)
				classes := classesOf(records, g.FirstInput)
				want := int64(0)
				for i := range classes {
					for j := range i {
						a, b := &classes[i], &classes[j]
						_, _, compared := Ends(a.Class(), b.Class(), g.FirstInput)
						if compared && (a.First || b.First || g.previousID(a, 0) != g.previousID(b, 0)) {
							want++
						}
					}
				}
				got := group(slices.Clone(records), g, bounds{max(want-1, 0), 0})
				if want == 0 {
					if len(got.oversizedGroups) > 0 {
						t.Errorf("%d documents of a reference are an oversized group", documents)
					}
					continue
				}
				if len(got.oversizedGroups) != 1 || got.oversizedGroups[0].pairs != want || len(got.pairs) > 0 {
					t.Fatalf("%d of %d documents are a reference: oversized groups %d, %d pairs, want one of %d",
						references, documents, len(got.oversizedGroups), len(got.pairs), want)
				}
				oversizedGroup := got.oversizedGroups[0].group
				slices.SortFunc(oversizedGroup, func(a, b Record) int { return int(a.Ref) - int(b.Ref) })
				if !slices.Equal(oversizedGroup, classes) {
					t.Error("the records of the oversized group are not one for each class")
				}
				if got := group(slices.Clone(records), g, bounds{want, 0}); len(got.oversizedGroups) > 0 {
					t.Errorf("a group of %d pairs is an oversized group above a bound of as many", want)
				}
			}
		}
	}
}

// TestMajorKeyIsPassedOver: pairs that have met under the key that most documents of a large group had before are not
// looked at again, whatever the position of the keys is. Keys of passages are all at position 0.
func TestMajorKeyIsPassedOver(t *testing.T) {
	const documents, others = 300, 2
	for _, position := range []uint32{0, 1, 40} {
		g := Grouper{FirstInput: 1}
		group := make([]Record, documents)
		for i := range group {
			ref := docref.Ref(i + 1)
			group[i] = Record{Ref: ref, Second: ref, Size: 1, Position: position, Digest: digest.Digest{uint64(i)}}
			group[i].Previous[0] = 1 << 31
			if i >= documents-others {
				group[i].Previous[0] = uint32(i)
			}
		}
		major, pairs := g.unmet(group)
		looked := int64(0)
		g.compareAcross(group, major, func(_, _ *Record) bool {
			looked++
			return false
		})
		if want := int64(documents-others)*others + 1; pairs != want || looked != want {
			t.Errorf("position %d: %d pairs have not met and %d are looked at, want %d", position, pairs, looked, want)
		}
	}
}

// TestLargeGroups: a large group, where nearly all have the same key before, is
// compared as a loop over all pairs compares it.
func TestLargeGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 24))
	for _, exact := range []bool{false, true} {
		for _, major := range []int{97, 90, 50, 3} {
			for _, references := range []int{0, 200} {
				g := Grouper{Threshold: 0.8, Exact: exact, FirstInput: docref.Ref(references + 1)}
				records := randomGroup(random, 500, major, exact)
				want := map[pair]int{}
				classes := classesOf(records, g.FirstInput)
				for i := range classes {
					for j := range i {
						a, b := &classes[j], &classes[i]
						x, y, compared := Ends(a.Class(), b.Class(), g.FirstInput)
						if low, high := min(a.Size, b.Size),
							max(a.Size, b.Size); !compared || float64(low)/float64(high) < 0.8 || !g.wanted(a, b) {
							continue
						}
						p := pair{x, y, a.Size, b.Size}
						if x > y {
							p = pair{y, x, b.Size, a.Size}
						}
						want[p] = 1
					}
				}
				for name, b := range map[string]bounds{"at once": unbounded, "as an oversized group": {0, 1 << 60}} {
					got := group(slices.Clone(records), g, b)
					if len(want) < 300 || len(got.pairs) != len(want) ||
						(len(got.oversizedGroups) > 0) != (b.few == 0) {
						t.Errorf("%s, exact keys %v, %d %%: %d pairs, want %d, %d oversized groups", name, exact,
							major, len(got.pairs), len(want), len(got.oversizedGroups))
					}
					for p, times := range got.pairs {
						if want[p] != times {
							t.Fatalf("%s, exact keys %v: %v came %d times, want %d", name, exact, p, times, want[p])
						}
					}
				}
			}
		}
	}
}

// families makes documents with keys. The first keys are the same for most of them,
// and returns the keys of each and the records.
func families(random *rand.Rand, documents, keys, common int) ([][]uint64, []Record) {
	hash := func(band, value int) uint64 { return rand.New(rand.NewPCG(uint64(band), uint64(value))).Uint64() }
	keysOf := make([][]uint64, documents)
	var records []Record
	for ref := range documents {
		family := random.IntN(documents / 10)
		r := Record{
			Ref:    docref.Ref(ref + 1),
			Digest: digest.Digest{uint64(ref) * 0x9e3779b97f4a7c15},
			Size:   uint32(100 + random.IntN(10)),
		}
		for band := range keys {
			value := family
			switch {
			case band < common && random.IntN(20) > 0:
				value = 1000 + random.IntN(2)
			case band == common:
				value = family / 20 // of some two hundred documents
			case random.IntN(3) == 0:
				value = 2000 + ref // a key of its own
			}
			r.Key, r.Position, r.First = KeyOf(hash(band, value), min(band, MaxPrevious)), uint32(band), band == 0
			records = append(records, r)
			keysOf[ref] = append(keysOf[ref], KeyOf(r.Key, 0))
			copy(r.Previous[1:], r.Previous[:])
			r.Previous[0] = PreviousOf(r.Key)
		}
	}
	return keysOf, records
}

// TestOversizedGroupsAndAgain: what shares a key that is not dense is compared there, whatever
// dense keys it shares before, unless the group is so large that this is left to the hot group
// of the dense key. And nothing comes that shares no key.
func TestOversizedGroupsAndAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	const documents, keys = 900, 7
	for _, b := range []bounds{{500, 20_000}, {500, 5000}, {100, 1 << 60}, unbounded} {
		keysOf, records := families(random, documents, keys, 2)
		got := group(records, Grouper{Threshold: 0.5}, b)
		wantDense := b.limit < 1<<60
		if wantDense != (len(got.dense) > 0) || len(got.dense) == len(got.oversizedGroups) && wantDense {
			t.Fatalf("%v: %d dense groups, %d oversized groups", b, len(got.dense), len(got.oversizedGroups))
		}
		isDense := func(band int, key uint64) bool { return slices.Contains(got.dense, bandID(band, PreviousOf(key))) }
		// How many documents of a group have a dense key before it.
		after := map[uint64]int64{}
		for _, of := range keysOf {
			has := false
			for band, key := range of {
				if has {
					after[key]++
				}
				has = has || isDense(band, key)
			}
		}
		found := map[[2]docref.Ref]int{}
		for p, times := range got.pairs {
			found[[2]docref.Ref{p.a, p.b}] += times
		}
		wanted, left := 0, 0
		for i, x := range keysOf {
			for j, y := range keysOf[:i] {
				shares, sharesDense, needed := false, false, false
				for band := range keys {
					if x[band] != y[band] {
						continue
					}
					shares = true
					if isDense(band, x[band]) {
						sharesDense = true
						continue
					}
					needed = !sharesDense || PairsOf(after[x[band]], 0) <= 4*b.few
					break
				}
				times := found[[2]docref.Ref{docref.Ref(j + 1), docref.Ref(i + 1)}]
				if needed {
					wanted++
				} else if shares {
					left++
				}
				if needed && times == 0 || !shares && times > 0 {
					t.Fatalf("%v: documents %d and %d came %d times; common keys: %v, dense ones: %v", b, j+1, i+1,
						times, shares, sharesDense)
				}
			}
		}
		if wanted < documents || wantDense != (left > 0) || !wantDense && len(got.pairs) != wanted {
			t.Errorf("%v: %d pairs came, %d had to, %d were left to hot groups", b, len(got.pairs), wanted, left)
		}
	}
}

// TestReferenceThatTheInputCopies: where the input is a copy of the reference, it has
// the pairs that it would have alone, also where groups are oversized or dense.
func TestReferenceThatTheInputCopies(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const documents = 900
	for _, b := range []bounds{unbounded, {500, 1 << 60}, {500, 5000}} {
		records := randomRecords(random, documents, 5, 3)
		slices.SortFunc(records, byKey)
		// One of each class, so that neither side has copies of its own.
		records = slices.CompactFunc(records, func(a, b Record) bool { return a.Key == b.Key && a.Digest == b.Digest })
		alone := group(slices.Clone(records), Grouper{Threshold: 0.6}, b)
		for _, r := range slices.Clone(records) {
			r.Ref += documents
			records = append(records, r)
		}
		got := group(records, Grouper{Threshold: 0.6, FirstInput: documents}, b)
		if len(got.pairs) != len(alone.pairs) || got.left != alone.left || !slices.Equal(got.dense, alone.dense) ||
			(b.limit < 1<<60) != (len(got.dense) > 0) {
			t.Errorf("%v: %d pairs, %d left in %d groups; without a reference %d, %d in %d", b,
				len(got.pairs), got.left, len(got.dense), len(alone.pairs), alone.left, len(alone.dense))
		}
		for p, times := range alone.pairs {
			p.b += documents
			if got.pairs[p] != times {
				t.Errorf("%v: %v came %d times, without a reference %d", b, p, got.pairs[p], times)
			}
		}
		for i, c := range got.oversizedGroups {
			for _, r := range c.group {
				if r.Second != r.Ref+documents {
					t.Fatalf("oversized group %d: document %d stands for %d", i, r.Ref, r.Second)
				}
			}
		}
	}
}

// TestStar: the first document of an oversized group meets all others once.
func TestStar(t *testing.T) {
	records := randomGroup(rand.New(rand.NewPCG(9, 9)), 300, 50, false)
	classes := classesOf(records, 0)
	met := map[docref.Ref]int{}
	g := Grouper{Candidate: func(a, b *Record) {
		if min(a.Ref, b.Ref) != 1 {
			t.Fatalf("%d and %d met", a.Ref, b.Ref)
		}
		met[max(a.Ref, b.Ref)]++
	}}
	rand.New(rand.NewPCG(9, 9)).Shuffle(len(classes), func(i, j int) {
		classes[i], classes[j] = classes[j], classes[i]
	})
	g.Star(classes)
	if len(met) != len(classes)-1 {
		t.Errorf("%d documents met the first one, want %d", len(met), len(classes)-1)
	}
}

// TestKeyIDs: a key has one id, whether a record is of it or of a later one, and other
// keys have others.
func TestKeyIDs(t *testing.T) {
	random := rand.New(rand.NewPCG(25, 26))
	for _, g := range []Grouper{{}, {Exact: true}} {
		ids := map[uint64]bool{}
		for range 300 {
			var r Record
			var before []uint64
			for k := range 10 {
				hash := random.Uint64()
				r.Position = uint32(k)
				if r.Key = PrefixKeyOf(hash >> 16); !g.Exact {
					r.Key = KeyOf(hash, min(k, MaxPrevious))
				}
				for i := range min(k, MaxPrevious) {
					if g.Exact && i > 0 {
						break
					}
					if got, want := g.previousID(&r, i), before[k-1-i]; got != want {
						t.Fatalf("exact keys %v: %d keys before key %d is %x, want %x", g.Exact, i+1, k, got, want)
					}
				}
				id := g.KeyID(&r)
				if ids[id] || id>>48 != 0 {
					t.Fatalf("exact keys %v: the id %x is another key's, or too long", g.Exact, id)
				}
				ids[id] = true
				before = append(before, id)
				if g.Exact {
					r.SetPrevious(hash >> 16)
					continue
				}
				copy(r.Previous[1:], r.Previous[:])
				r.Previous[0] = PreviousOf(r.Key)
			}
		}
	}
}

// TestStopped: no further group begins, and no further document of a large one, when the context has ended.
func TestStopped(t *testing.T) {
	random := rand.New(rand.NewPCG(25, 26))
	const documents = 300
	for name, find := range map[string]func(*Grouper, []Record){
		"groups":             (*Grouper).Groups,
		"an oversized group": (*Grouper).OversizedGroup,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		pairs := 0
		g := Grouper{
			MaxComparisons: 1 << 40,
			Stopped:        func() bool { return ctx.Err() != nil },
			Candidate: func(_, _ *Record) {
				pairs++
				cancel()
			},
			Identical: func(_, _ *Record) {},
		}
		find(&g, randomGroup(random, documents, 3, false))
		if pairs == 0 || pairs >= documents {
			t.Errorf("%s: %d pairs", name, pairs)
		}
		cancel()
	}
}
