package sources

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestChoose compares with all values at once: parts of them may be cut first, in any order.
func TestChoose(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, MostReference, MostReference + 1, MostInput, MostInput + 1, 1000} {
		values := make([]Value, n)
		for i := range values {
			values[i] = Value{Hash: random.Uint64(), Name: fmt.Sprintf("%03d", i/2), Documents: 1 + random.Int64N(9)}
		}
		var whole, parted [Corpora]*Leading
		for corpus := range Corpora {
			whole[corpus], parted[corpus] = LeadingOf(corpus), LeadingOf(corpus)
			parts := [3]*Leading{LeadingOf(corpus), LeadingOf(corpus), LeadingOf(corpus)}
			for _, i := range random.Perm(n) {
				parts[i%3].Add(values[i])
			}
			for _, v := range values {
				whole[corpus].Add(v)
			}
			for _, part := range parts {
				top, others := part.Cut()
				for _, v := range top {
					parted[corpus].Add(v)
				}
				parted[corpus].AddOthers(others)
			}
		}
		choice := Choose(whole)
		if other := Choose(parted); !reflect.DeepEqual(other, choice) {
			t.Errorf("%d values in parts: %+v, want %+v", n, other, choice)
		}
		if want := min(n, MostInput) + min(n, MostReference); len(choice.Sources) != want {
			t.Errorf("%d values: %d sources, want %d", n, len(choice.Sources), want)
		}
		for corpus := range Corpora {
			documents := make(Tally, len(choice.Sources))
			least := int64(10) // documents of a source
			for _, v := range values {
				number := choice.Number(corpus, v.Hash)
				documents.Add(number, v.Documents)
				if source := choice.Sources[number]; source.Reference != (corpus == Reference) {
					t.Fatalf("a value of corpus %d is of %+v", corpus, source)
				} else if source.Name == v.Name {
					least = min(least, v.Documents)
				} else if source.Name != fmt.Sprintf("(%d others)", n-corpus.most()+1) {
					t.Errorf("%+v is of %+v", v, source)
				}
			}
			for _, v := range values {
				if choice.Sources[choice.Number(corpus, v.Hash)].Name != v.Name && v.Documents > least {
					t.Errorf("%+v is among the others, though a source has %d documents", v, least)
				}
			}
			for number, source := range choice.Sources {
				if source.Reference == (corpus == Reference) &&
					documents[number] != choice.Documents.Of(Number(number)) {
					t.Errorf("%+v has %d documents, want %d", source, choice.Documents.Of(Number(number)),
						documents[number])
				}
			}
			names := slices.DeleteFunc(slices.Clone(choice.Sources), func(s Source) bool {
				return s.Reference != (corpus == Reference) || s.Name[0] == '('
			})
			if !slices.IsSortedFunc(names, func(a, b Source) int { return strings.Compare(a.Name, b.Name) }) {
				t.Errorf("sources %+v are not ordered by name", names)
			}
		}
	}
}
