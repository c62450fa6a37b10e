package sketch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// matchTexts matches two texts without options.
func matchTexts(t testing.TB, a, b string) (shared int, spans []Span, x, y *IndexedSequence) {
	t.Helper()
	return matchTextsBy(t, Options{Measure: Measure{Shingle: 3, Tokens: SingleTokens}}, a, b)
}

func matchTextsBy(t testing.TB, o Options, a, b string) (shared int, spans []Span, x, y *IndexedSequence) {
	t.Helper()
	s, err := NewSequencer(o, false)
	if err != nil {
		t.Fatal(err)
	}
	index := func(text string) *IndexedSequence {
		_, q := s.Sequence([]byte(text))
		return NewIndexedSequence(Sequence{
			slices.Clone(q.Shingles), slices.Clone(q.Tokens), slices.Clone(q.Starts),
			slices.Clone(q.Ends),
		})
	}
	x, y = index(a), index(b)
	m := NewMatcher(o.Measure.Shingle)
	shared = m.Compare(x, y)
	return shared, m.Spans(), x, y
}

// randomWords returns n of the words with numbers below of.
func randomWords(random *rand.Rand, n, of int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("w%d", random.IntN(of))
	}
	return words
}

// plant puts an excerpt into a text of words and returns both and where it is.
func plant(host, excerpt []string, at int) (text string, start, end uint32) {
	before := strings.Join(host[:at], " ") + " "
	middle := strings.Join(excerpt, " ")
	text = before + middle + " " + strings.Join(host[at:], " ")
	return text, uint32(len(before)), uint32(len(before) + len(middle))
}

func TestMatchFindsPlanted(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	for _, every := range []int{0, 10, 20} {
		for range 100 {
			excerpt := randomWords(random, 30+random.IntN(100), 1e6)
			edited := slices.Clone(excerpt)
			for i := every; every > 0 && i < len(edited)-1; i += every {
				edited[i] = "changed"
			}
			a, startA, endA := plant(randomWords(random, 500, 1e6), excerpt, random.IntN(400)+10)
			b, startB, endB := plant(randomWords(random, 2000, 1e6), edited, random.IntN(1900)+10)
			_, spans, _, _ := matchTexts(t, a, b)
			want := Span{startA, endA, startB, endB, uint32(len(excerpt))}
			// A last word behind a changed one is in no stretch of its own.
			if len(spans) != 1 || spans[0].StartA != want.StartA || spans[0].StartB != want.StartB ||
				want.EndA-spans[0].EndA > 24 || want.EndB-spans[0].EndB > 24 || want.Words-spans[0].Words > 3 {
				t.Fatalf("every %d: spans are %v, want %v", every, spans, want)
			}
		}
	}
}

// Two excerpts are both found although their order differs, and so are two copies of one excerpt.
func TestMatchMoved(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 24))
	word := func(n int) string { return strings.Join(randomWords(random, n, 1e6), " ") }
	one, two := word(40), word(30)
	a, b := one+" x y z "+word(50)+" "+two, two+" "+word(30)+" "+one+" "+word(60)+" "+one
	_, spans, _, _ := matchTexts(t, a, b)
	var found []string
	for _, s := range spans {
		if a[s.StartA:s.EndA] != b[s.StartB:s.EndB] {
			t.Errorf("a span joins %q and %q", a[s.StartA:s.EndA], b[s.StartB:s.EndB])
		}
		found = append(found, a[s.StartA:s.EndA])
	}
	if want := []string{one, one, two}; !slices.Equal(found, want) {
		t.Errorf("spans are %q, want %q", found, want)
	}
}

// The words between stretches decide whether these are one span.
func TestMatchGaps(t *testing.T) {
	random := rand.New(rand.NewPCG(25, 26))
	word := func(n int) string { return strings.Join(randomWords(random, n, 1e6), " ") }
	for _, c := range []struct{ first, gapA, gapB, second, spans int }{
		{20, 0, 0, 20, 1},
		{20, 1, 1, 20, 1},
		{20, 0, 5, 20, 1},
		{20, MostGap, 0, 20, 1},
		{20, MostGap, MostGap, 20, 1},
		{20, MostGap + 1, 0, 20, 2},
		{20, 0, MostGap + 1, 20, 2},
		{20, 8, 8, 8, 2},
		{20, 7, 7, 8, 1},
	} {
		one, two := word(c.first), word(c.second)
		a := word(20) + " " + one + " " + word(c.gapA) + " " + two
		b := one + " " + word(c.gapB) + " " + two + " " + word(20)
		_, spans, _, _ := matchTexts(t, a, b)
		words := 0
		for _, s := range spans {
			words += int(s.Words)
		}
		want := c.first + c.second
		if c.spans == 1 {
			want += min(c.gapA, c.gapB)
		}
		if len(spans) != c.spans || words != want {
			t.Errorf("%+v: spans are %v", c, spans)
		}
	}
}

// checkMatch holds a match to the laws of matches.
func checkMatch(t testing.TB, o Options, a, b string) {
	t.Helper()
	shared, spans, x, y := matchTextsBy(t, o, a, b)
	back, swapped, _, _ := matchTextsBy(t, o, b, a)
	in := map[uint64]bool{}
	for _, shingle := range x.Shingles {
		in[shingle] = true
	}
	want := 0
	distinct := slices.Compact(slices.Sorted(slices.Values(y.Shingles)))
	for _, shingle := range distinct {
		if in[shingle] {
			want++
		}
	}
	if shared != want || back != want || y.Distinct() != len(distinct) {
		t.Fatalf("%.100q, %.100q: %d shingles in common, %d swapped, want %d", a, b, shared, back, want)
	}
	if (len(spans) > 0) != (shared > 0) {
		t.Fatalf("%.100q, %.100q: %d shingles in common, spans %v", a, b, shared, spans)
	}
	for i := range swapped {
		swapped[i] = swapped[i].Swap()
	}
	m := NewMatcher(o.Measure.Shingle)
	if shared > 0 && !m.MayBeAlike(x, y, shared, 0) || len(spans) > 0 &&
		!m.MayBeAlike(x, y, math.MaxInt, int(spans[0].Words)) {
		t.Fatalf("%.100q, %.100q: %d shingles and spans %v are said to be impossible", a, b, shared, spans)
	}
	m.Compare(x, y)
	if len(spans) > 0 && !m.MayReach(int(spans[0].Words)) {
		t.Fatalf("%.100q, %.100q: spans are %v, and are said to be impossible", a, b, spans)
	}
	if longest := min(len(x.Tokens), len(y.Tokens)) + o.Measure.Shingle; m.MayReach(longest) {
		t.Fatalf("%.100q, %.100q: a span of %d words is said to be possible", a, b, longest)
	}
	order := func(x, y Span) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) }
	if !slices.Equal(slices.SortedFunc(slices.Values(spans), order), slices.SortedFunc(slices.Values(swapped), order)) {
		t.Fatalf("%.100q, %.100q: spans are %v, swapped %v", a, b, spans, swapped)
	}
	words := func(text string) []string {
		w := newWordScanner(o.Measure)
		var words []string
		for w.reset([]byte(text)); w.next(); {
			words = append(words, strings.ToLower(string(w.word())))
		}
		return words
	}
	for i, s := range spans {
		if s.StartA >= s.EndA || s.StartB >= s.EndB || int(s.EndA) > len(a) || int(s.EndB) > len(b) {
			t.Fatalf("%.100q, %.100q: span %v is not in the texts", a, b, s)
		}
		if i > 0 && (s.Words > spans[i-1].Words || s.Words < LeastSpan) {
			t.Fatalf("%.100q, %.100q: spans %v are not longest first", a, b, spans)
		}
		inA, inB := words(a[s.StartA:s.EndA]), words(b[s.StartB:s.EndB])
		if int(s.Words) != min(len(inA), len(inB)) || !slices.Equal(inA[:o.Measure.Shingle], inB[:o.Measure.Shingle]) ||
			!slices.Equal(inA[len(inA)-o.Measure.Shingle:], inB[len(inB)-o.Measure.Shingle:]) {
			t.Fatalf("a span of %d words joins %q and %q", s.Words, inA, inB)
		}
		times := map[string]int{}
		for _, word := range inA {
			times[word]++
		}
		both := 0
		for _, word := range inB {
			if times[word] > 0 {
				times[word]--
				both++
			}
		}
		if 2*both <= int(s.Words) {
			t.Fatalf("a span of %d words with %d in common joins %q and %q", s.Words, both, inA, inB)
		}
	}
}

func TestMatchLaws(t *testing.T) {
	random := rand.New(rand.NewPCG(27, 28))
	for _, o := range []Options{
		{Measure: Measure{Shingle: 3}},
		{Measure: Measure{Shingle: 1}},
		{Measure: Measure{Shingle: 5}},
	} {
		for range 300 {
			of := []int{2, 5, 30, 1000}[random.IntN(4)]
			part := randomWords(random, 5+random.IntN(60), of)
			text := func() string {
				words := randomWords(random, 5+random.IntN(80), of)
				for range random.IntN(3) {
					words = append(words, part[:5+random.IntN(len(part)-4)]...)
					words = append(words, randomWords(random, random.IntN(40), of)...)
				}
				return strings.Join(words, " ")
			}
			checkMatch(t, o, text(), text())
		}
	}
}

func TestMatchCorpora(t *testing.T) {
	o := Options{Measure: Measure{Shingle: 3, Tokens: SingleTokens}}
	for _, name := range []string{"clough/clough.jsonl.zst", "licenses/all.jsonl.zst", "tang/tang.jsonl.zst"} {
		t.Run(strings.Split(name, "/")[0], func(t *testing.T) {
			texts := readCorpus(t, name, 1<<20)
			random := rand.New(rand.NewPCG(29, 30))
			for range 300 {
				checkMatch(t, o, string(texts[random.IntN(len(texts))]), string(texts[random.IntN(len(texts))]))
			}
		})
	}
}

// For texts that repeat themselves, the work grows with their length and not with its square. Compared with
// itself, such a text is one span.
func TestMatchRepetitive(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 32))
	const n = 100000
	repeat := func(words ...string) string { return strings.Repeat(strings.Join(words, " ")+" ", n/len(words)) }
	line, page := randomWords(random, 12, 1e6), randomWords(random, 110, 1e6)
	// The shingles of a page often occur alone before copies of it. So, paired in their order, it meets the
	// shingles of another copy.
	var alone []string
	for i := range len(page) - 2 {
		for range mostCombined + i%100 {
			alone = append(append(alone, page[i:i+3]...), "x")
		}
	}
	fibonacci, shorter := "a ", "b "
	for len(fibonacci) < 2*n {
		fibonacci, shorter = fibonacci+shorter, fibonacci
	}
	nested := func(most int) string {
		var words strings.Builder
		for i := range most {
			words.WriteString(strings.Repeat("a ", i) + "b ")
		}
		return words.String()
	}
	texts := map[string][2]string{
		"one word":  {repeat("a"), repeat("a")},
		"fewer":     {repeat("a"), strings.Repeat("a ", n/3)},
		"two words": {repeat("a", "b"), repeat("b", "a", "a")},
		"lines":     {repeat(line...), repeat(append(line, "x")...)},
		"few words": {strings.Join(randomWords(random, n, 2), " "), strings.Join(randomWords(random, n, 2), " ")},
		"rare ones": {
			repeat(append(strings.Split(repeat("a")[:2000], " "), "r")...),
			repeat(append(strings.Split(repeat("a")[:1000], " "), "r")...),
		},
		"with an edit":  {repeat("a"), repeat("a")[:n] + " b " + repeat("a")[:n]},
		"out of order":  {repeat(page...), strings.Join(alone, " ") + " " + repeat(page...)},
		"fibonacci":     {fibonacci, strings.Replace(fibonacci, "a b a a b", "b a a b a", 100)},
		"longer runs":   {nested(400), nested(300) + nested(350)},
		"copy of copys": {strings.Repeat(strings.Join(line, " ")+" ", 4), repeat(line...)},
	}
	for name, text := range texts {
		s, err := NewSequencer(Options{Measure: Measure{Shingle: 3}}, false)
		if err != nil {
			t.Fatal(err)
		}
		var x [2]*IndexedSequence
		for i := range x {
			_, q := s.Sequence([]byte(text[i]))
			x[i] = NewIndexedSequence(Sequence{
				slices.Clone(q.Shingles), slices.Clone(q.Tokens),
				slices.Clone(q.Starts), slices.Clone(q.Ends),
			})
		}
		m := NewMatcher(3)
		m.Compare(x[0], x[1])
		spans := m.Spans()
		work := len(m.seeds)
		for _, s := range m.stretches {
			work += s.length
		}
		if length := x[0].Len() + x[1].Len(); len(spans) == 0 || work > (2+mostBeside)*mostCombined*length {
			t.Errorf("%s: %d spans, %d places looked at for %d shingles", name, len(spans), work, length)
		}
		if text[0] == text[1] && (len(spans) != 1 || int(spans[0].Words) != x[0].Len()+2) {
			t.Errorf("%s: spans are %v", name, spans)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	random := rand.New(rand.NewPCG(33, 34))
	s, err := NewSequencer(Options{Measure: Measure{Shingle: 3}}, false)
	if err != nil {
		b.Fatal(err)
	}
	index := func() *IndexedSequence {
		_, q := s.Sequence([]byte(strings.Join(randomWords(random, 5000, 300), " ")))
		return NewIndexedSequence(Sequence{
			slices.Clone(q.Shingles), slices.Clone(q.Tokens), slices.Clone(q.Starts),
			slices.Clone(q.Ends),
		})
	}
	x, y := index(), index()
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			NewIndexedSequence(x.Sequence)
		}
	})
	b.Run("match", func(b *testing.B) {
		m := NewMatcher(3)
		for b.Loop() {
			m.Compare(x, y)
			m.Spans()
		}
	})
}
