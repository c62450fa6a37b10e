package sketch

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
)

func readStopWords(t testing.TB, list string, normalizer *Normalizer) *StopWords {
	t.Helper()
	s, err := ReadStopWords(strings.NewReader(list), normalizer)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// functionWords is a short list of stop words in a few scripts.
const functionWords = "\ufeffthe\nThe\n# a comment\nof\r\n\n  and  \nДА\n的\ndon't\nİ\n"

func TestStopWords(t *testing.T) {
	s := readStopWords(t, functionWords, nil)
	if s.Len() != 8 {
		t.Errorf("%d stop words, want 8", s.Len())
	}
	for word, want := range map[string]bool{
		"the": true, "THE": true, "OF": true, "and": true, "да": true, "的": true, "don": true, "T": true, "i": true,
		"": false, "them": false, "a": false, "comment": false, "dont": false, strings.Repeat("the", 100): false,
	} {
		if got := s.Contains([]byte(word)); got != want {
			t.Errorf("Contains(%q) = %v", word, got)
		}
	}
	normalized := readStopWords(t, "don't\nStraße", newNormalizer(t, "fold,punctuation"))
	for word, want := range map[string]bool{"dont": true, "strasse": true, "don": false, "straße": false} {
		if got := normalized.Contains([]byte(word)); got != want {
			t.Errorf("normalized: Contains(%q) = %v", word, got)
		}
	}
	word := []byte("Throughout")
	if n := testing.AllocsPerRun(10, func() { s.Contains(word) }); n != 0 {
		t.Errorf("Contains allocates %v times", n)
	}
	for list, want := range map[string]string{
		"a\nb\n---\n":                  "line 3",
		"a\n\xff\n":                    "line 2",
		strings.Repeat("a", 1<<20):     "after line 0",
		"a\n" + strings.Repeat("!", 9): "comment",
	} {
		if _, err := ReadStopWords(strings.NewReader(list), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("list %.20q: error %v, want one with %q", list, err, want)
		}
	}
	broken := errors.New("broken")
	if _, err := ReadStopWords(iotest.ErrReader(broken), nil); !errors.Is(err, broken) {
		t.Errorf("error of a broken reader is %v", err)
	}
}

func FuzzReadStopWords(f *testing.F) {
	f.Add([]byte(functionWords))
	for _, text := range edgeTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		s, err := ReadStopWords(strings.NewReader(string(list)), nil)
		if err != nil {
			return
		}
		for word := range s.words {
			if !s.Contains([]byte(word)) {
				t.Errorf("%q of list %q is not in the set", word, list)
			}
		}
	})
}

// TestWordScanner compares with the tokens of the reference.
func TestWordScanner(t *testing.T) {
	random := rand.New(rand.NewPCG(91, 92))
	texts := [][]byte{nil}
	for _, text := range edgeTexts {
		texts = append(texts, []byte(text))
	}
	for i := range 500 {
		texts = append(texts, randomText(random, random.IntN(300), i%2 == 0))
	}
	for _, kind := range []Tokens{WordTokens, SingleTokens, CharacterTokens} {
		m := Measure{Tokens: kind}
		scanner := newWordScanner(m)
		for _, text := range texts {
			want, invalid := referenceTokens(text, m)
			scanner.reset(text)
			var got []string
			for scanner.next() {
				got = append(got, strings.Map(unicode.ToLower, string(scanner.word())))
			}
			if !slices.Equal(got, want) || scanner.invalid != invalid {
				t.Fatalf("%q: tokens %q, %d bytes invalid; want %q, %d", text, got, scanner.invalid, want, invalid)
			}
		}
	}
}

func TestWordFilter(t *testing.T) {
	s := readStopWords(t, functionWords, nil)
	for _, c := range []struct {
		tokens     Tokens
		text, want string
	}{
		{WordTokens, "", ""},
		{WordTokens, "The end of the world.", "  end     world."},
		{WordTokens, "Да, the", " ,  "},
		{WordTokens, "don't a的b", " '  a的b"},
		{SingleTokens, "a的b 中的文", "a b 中 文"},
	} {
		f := must(NewWordFilter(Measure{Tokens: c.tokens}, func(word []byte) bool { return !s.Contains(word) }))
		if got := string(f.Append([]byte("x:"), []byte(c.text))); got != "x:"+c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, "x:"+c.want)
		}
	}
}

// TestShingleFilter compares with the definition, and with the Hasher for a
// filter that keeps all.
func TestShingleFilter(t *testing.T) {
	random := rand.New(rand.NewPCG(93, 94))
	isOfKind := isOfSomeKind
	for _, m := range measures {
		filter := must(NewShingleFilter(m, isOfKind))
		all := must(NewShingleFilter(m, func([]byte) bool { return true }))
		none := must(NewShingleFilter(m, func([]byte) bool { return false }))
		hasher := must(NewHasher(m))
		for i := range 300 {
			text := randomText(random, random.IntN(20*i+1), i%2 == 0)
			checkShingleFilter(t, filter, text, m, isOfKind)
			whole := hasher.Document(text)
			if got := all.Document(text); got.Digest != whole.Digest || !slices.Equal(got.Set, whole.Set) ||
				got.Tokens != whole.Tokens || got.InvalidBytes != whole.InvalidBytes {
				t.Fatalf("%+v: %q: a filter that keeps all differs from the Hasher", m, text)
			}
			if got := none.Document(text); len(got.Set) != 0 || got.Digest == whole.Digest && len(whole.Set) > 0 {
				t.Fatalf("%+v: %q: a filter that keeps none leaves %d shingles", m, text, len(got.Set))
			}
		}
	}
}

// checkShingleFilter compares with the definition: the shingles of the reference
// with a token of the kind.
func checkShingleFilter(t *testing.T, f *ShingleFilter, text []byte, m Measure, isOfKind func(word []byte) bool) {
	t.Helper()
	m.Shingle = max(m.Shingle, 1)
	tokens, _ := referenceTokens(text, m)
	var ofKind []bool
	for _, token := range tokens {
		ofKind = append(ofKind,
			slices.ContainsFunc(strings.Split(strings.TrimPrefix(token, inReferenceRun), inReferenceRun),
				func(word string) bool { return isOfKind([]byte(word)) }))
	}
	width := min(m.Shingle, len(tokens))
	var want []uint64
	if width > 0 {
		for i := range len(tokens) - width + 1 {
			if slices.Contains(ofKind[i:i+width], true) {
				want = append(want, referenceShingle(f.hasher.hash, tokens[i:i+width]))
			}
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	if got := f.Document(text); !slices.Equal(got.Set, want) || got.Tokens != len(tokens) {
		t.Fatalf("%+v: %q: %d shingles of %d tokens, want %d of %d", m, text, len(got.Set), got.Tokens, len(want),
			len(tokens))
	}
}

// isOfSomeKind is about a third of the words, in any case.
func isOfSomeKind(word []byte) bool {
	sum := 0
	for _, c := range appendLower(nil, word) {
		sum += int(c)
	}
	return sum%3 == 1
}

func FuzzShingleFilter(f *testing.F) {
	for _, text := range edgeTexts {
		f.Add([]byte(text), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, width uint8) {
		m := Measure{
			Shingle: int(width % 8),
			Tokens:  []Tokens{WordTokens, SingleTokens, ScriptTokens, CharacterTokens}[width/8%4],
		}
		isOfKind := isOfSomeKind
		checkShingleFilter(t, must(NewShingleFilter(m, isOfKind)), text, m, isOfKind)
	})
}

func TestFilterAllocations(t *testing.T) {
	text := []byte(strings.Repeat("All human beings are born free and equal; the имя и фамилия 中文. ", 100))
	s := readStopWords(t, functionWords, nil)
	shingles := must(NewShingleFilter(Measure{Shingle: 3, Tokens: SingleTokens}, s.Contains))
	words := must(NewWordFilter(Measure{}, s.Contains))
	shingles.Document(text)
	kept := words.Append(nil, text)
	if n := testing.AllocsPerRun(10, func() { shingles.Document(text) }); n != 0 {
		t.Errorf("ShingleFilter.Document allocates %v times", n)
	}
	if n := testing.AllocsPerRun(10, func() { kept = words.Append(kept[:0], text) }); n != 0 {
		t.Errorf("WordFilter.Append allocates %v times", n)
	}
}

func BenchmarkFilter(b *testing.B) {
	s := readStopWords(b,
		strings.ReplaceAll("the of and a to in is it that for on with as was at by be this from or are an", " ", "\n"),
		nil)
	m := Measure{Shingle: 3}
	texts, size := benchmarkTexts[0].texts(b)
	hasher, shingles := must(NewHasher(m)), must(NewShingleFilter(m, s.Contains))
	words := must(NewWordFilter(m, func(word []byte) bool { return !s.Contains(word) }))
	var kept []byte
	for name, work := range map[string]func(text []byte){
		"hasher-alone":     func(text []byte) { hasher.Document(text) },
		"shingle-filter":   func(text []byte) { shingles.Document(text) },
		"words-and-hasher": func(text []byte) { kept = words.Append(kept[:0], text); hasher.Document(kept) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, text := range texts {
					work(text)
				}
			}
		})
	}
}
