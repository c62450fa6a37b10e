package sketch

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// longestRun returns the length in words of the longest run that two texts share.
func longestRun(a, b []string) (longest int) {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for _, word := range a {
		for j := range b {
			row[j+1] = 0
			if b[j] == word {
				row[j+1] = before[j] + 1
				longest = max(longest, row[j+1])
			}
		}
		before, row = row, before
	}
	return longest
}

// repetitive returns at most the given number of words, made to repeat themselves: words drawn from few, or
// phrases, or parts of both texts, or one word with others in between.
func repetitive(random *rand.Rand, most, of int, parts [][]string) []string {
	phrases := [][]string{
		strings.Fields("to be or not to be"), strings.Fields("do be do be do"), strings.Fields("be to do"),
		strings.Fields("or do not"),
	}
	kind := random.IntN(4)
	var words []string
	for length := 1 + random.IntN(most); len(words) < length; {
		switch part := parts[random.IntN(len(parts))]; kind {
		case 0:
			words = append(words, randomWords(random, 1, of)...)
		case 1:
			words = append(words, phrases[random.IntN(len(phrases))]...)
		case 2:
			begin := random.IntN(len(part))
			words = append(append(words, part[begin:begin+random.IntN(len(part)-begin)]...),
				randomWords(random, 1+random.IntN(3), of)...)
		default:
			for range random.IntN(40) {
				words = append(words, "w0")
			}
			words = append(words, randomWords(random, 1, of)...)
		}
	}
	return words
}

// The longest span has at least as many words as the longest common run, however often the texts repeat it.
func TestMatchLongestRun(t *testing.T) {
	random := rand.New(rand.NewPCG(35, 36))
	long := 0
	for round := range 1500 {
		of, shingle := 2+random.IntN(29), 1+random.IntN(5)
		if round%2 == 0 {
			of = 2 + random.IntN(4)
		}
		parts := [][]string{randomWords(random, 20+random.IntN(100), of), randomWords(random, 5+random.IntN(10), of)}
		text := func() []string {
			words := repetitive(random, 300, of, parts)
			at := random.IntN(len(words))
			planted := append(append(append([]string{}, words[:at]...), parts[0][random.IntN(10):]...), words[at:]...)
			return planted[:min(len(planted), 400)]
		}
		a, b := text(), text()
		want := longestRun(a, b)
		if want < max(shingle, LeastSpan) {
			continue
		}
		if want > 50 {
			long++
		}
		o := Options{Measure: Measure{Shingle: shingle}}
		_, spans, x, y := matchTextsBy(t, o, strings.Join(a, " "), strings.Join(b, " "))
		if len(spans) == 0 || int(spans[0].Words) < want {
			t.Fatalf("round %d, shingles of %d of %d words: spans are %v, %d words in a row are in common\n%q\n%q",
				round, shingle, of, spans, want, a, b)
		}
		m := NewMatcher(shingle)
		m.Compare(x, y)
		m.Spans()
		if !slices.ContainsFunc(m.stretches, func(s stretch) bool { return s.length+shingle-1 == want }) {
			t.Fatalf("round %d, shingles of %d of %d words: the %d words in a row in common are in no stretch\n%q\n%q",
				round, shingle, of, want, a, b)
		}
		checkMatch(t, o, strings.Join(a, " "), strings.Join(b, " "))
	}
	if long < 300 {
		t.Errorf("%d pairs have long runs in common", long)
	}
}

// A long run is found whole behind a short one, whatever else has much of it.
func TestMatchBehindShort(t *testing.T) {
	random := rand.New(rand.NewPCG(39, 40))
	short, long := randomWords(random, 8, 1e6), randomWords(random, 200, 1e6)
	text := func(words ...[]string) string { return strings.Join(slices.Concat(words...), " ") }
	part := func() []string { return slices.Concat(randomWords(random, 50, 1e6), long[20:180]) }
	a, b := text(short, []string{"x"}, long, part()), text(short, []string{"y"}, long, part())
	if _, spans, _, _ := matchTexts(t, a, b); spans[0].Words != 209 {
		t.Errorf("spans are %v", spans)
	}
}

// everyPlace returns the set of all places in a sequence.
func everyPlace(s *IndexedSequence) (places bitSet) {
	places.reset(s.Len())
	for at := range s.Len() {
		places.add(at)
	}
	return places
}

// The longest run of each point is the longest possible. No run that becomes a seed is too short or
// superfluous.
func TestCommonRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(37, 38))
	for range 300 {
		of := uint64(1 + random.IntN(4))
		index := func() *IndexedSequence {
			var s Sequence
			token := uint32(0)
			for range 1 + random.IntN(80) {
				// Some shingles are no neighbours, as where a quotation is left out.
				token += 1 + uint32(random.IntN(20)/19)
				s.Shingles, s.Tokens = append(s.Shingles, random.Uint64N(of)), append(s.Tokens, token)
			}
			return NewIndexedSequence(s)
		}
		a, b := index(), index()
		m := &Matcher{shingle: 1, a: a, b: b}
		length := func(i, j int) int {
			if a.Shingles[i] != b.Shingles[j] {
				return 0
			}
			n := 1
			for m.follow(i+n-1, j+n-1) {
				n++
			}
			return n
		}
		var r commonRuns
		r.reset(a, b)
		for shingle := range of {
			of := func(x *IndexedSequence) []place {
				return slices.DeleteFunc(slices.Clone(x.places), func(p place) bool { return p.shingle != shingle })
			}
			r.add(of(a), of(b))
		}
		least := 1 + random.IntN(4)
		found, looked := 0, 0
		r.each(everyPlace(a), everyPlace(b), least, func(i, j int) {
			found++
			looked += length(i, j)
			if length(i, j) < least {
				t.Fatalf("a run of %d is shorter than %d", length(i, j), least)
			}
		})
		longest := 0
		for p, got := range r.longest {
			want := 0
			if at := r.place(p); at < a.Len() {
				for j := range b.Len() {
					want = max(want, length(at, j))
				}
			} else {
				for i := range a.Len() {
					want = max(want, length(i, at-a.Len()))
				}
			}
			if want >= least && int(got.length) != want {
				t.Fatalf("the run at point %d is %d long, want %d", p, got.length, want)
			}
			longest = max(longest, want)
		}
		if (found > 0) != (longest >= least) || looked > (mostRuns+1)*(a.Len()+b.Len()) {
			t.Fatalf("%d runs of %d in all, the longest has %d, least is %d", found, looked, longest, least)
		}
	}
}
