package candidates

import (
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records/digest"
)

// TestInScope: what two records share, they share in each scope; records of different scopes share nothing.
func TestInScope(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	hashed := func() []Record {
		var keys []uint64
		for range 9 {
			keys = append(keys, random.Uint64())
		}
		return AppendHashed(nil, Record{Ref: 5, Digest: digest.Digest{6}, Size: 7}, keys)
	}
	exact := func() (all []Record) {
		r := Record{Ref: 5, Digest: digest.Digest{6}, Size: 7}
		for k := range 5 {
			shingle := random.Uint64N(1 << 48)
			r.Key, r.Position, r.First = PrefixKeyOf(shingle), uint32(k), k == 0
			all = append(all, r)
			r.SetPrevious(shingle)
		}
		return all
	}
	for _, isExact := range []bool{false, true} {
		plain := hashed()
		if isExact {
			plain = exact()
		}
		g := Grouper{Exact: isExact}
		ids := map[uint64]bool{}
		for range 20 {
			scope := random.Uint64()
			records := slices.Clone(plain)
			for i := range records {
				records[i].InScope(scope, isExact)
			}
			for i, r := range records {
				if r.Known() != plain[i].Known() || r.Ref != 5 || r.Digest[0] != 6 || r.Size != 7 ||
					r.Position != plain[i].Position {
					t.Fatalf("%+v was %+v", r, plain[i])
				}
				if r.Key == plain[i].Key || ids[r.Key] {
					t.Errorf("key %x is that of another scope", r.Key)
				}
				ids[r.Key] = true
				if r.First {
					if r.Previous != plain[i].Previous {
						t.Errorf("a first key has the previous keys %x", r.Previous)
					}
					continue
				}
				// The previous key is the key of the record before, as its own scope has it.
				if g.previousID(&r, 0) != g.KeyID(&records[i-1]) {
					t.Errorf("the key before key %d is %x, not %x", i, g.previousID(&r, 0), g.KeyID(&records[i-1]))
				}
			}
			again := slices.Clone(records)
			for i := range again {
				again[i].InScope(scope, isExact)
			}
			if !slices.Equal(again, plain) {
				t.Error("the same scope twice is not none")
			}
		}
	}
}
