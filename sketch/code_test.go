package sketch

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// original and renamed are a method and a copy of it in which everything that one may choose is another.
const (
	original = `// Sums up the prices.
int sum(int[] prices) { int total = 0; for (int p : prices) { total += p; } print("sum"); return total; }`
	renamed = `/* Nothing is copied here. */ int add(int[] xs)
{ int r = 10; for (int x : xs) { r += x; } write("all of it"); return r; }`
)

// TestCodeNames: a copy with other names, numbers, strings and comments is the same; one with another operator is not.
func TestCodeNames(t *testing.T) {
	f := fingerprinter(t, Options{Measure: Measure{Shingle: 3}, Code: Code{Language: "java", Names: true}})
	first := f.Texts([][]byte{[]byte(original)})
	if got := f.Texts([][]byte{[]byte(renamed)}); got.Digest != first.Digest {
		t.Error("a renamed copy is another document")
	}
	if got := f.Texts([][]byte{[]byte(strings.ReplaceAll(renamed, "+=", "-="))}); got.Digest == first.Digest {
		t.Error("a copy with another operator is the same document")
	}
}

// TestCodeOperators: with operators, a copy with another one is another document. Without, it is the same.
func TestCodeOperators(t *testing.T) {
	for form, isSame := range map[string]bool{"java": true, "java,operators": false} {
		options := Options{Measure: Measure{Shingle: 3}}
		if err := options.Code.UnmarshalText([]byte(form)); err != nil {
			t.Fatal(err)
		}
		f := fingerprinter(t, options)
		digest := f.Texts([][]byte{[]byte("if (a < -b) return a;")}).Digest
		if is := f.Texts([][]byte{[]byte("if (a > b) return a;")}).Digest == digest; is != isSame {
			t.Errorf("%s: the same document: %v, want %v", form, is, isSame)
		}
	}
}

// TestCodeComments: what is left of a text is what the comments are not, or what they are.
func TestCodeComments(t *testing.T) {
	for _, test := range []struct {
		code Code
		want string
	}{
		{Code{Language: "java"}, "a = \"//\";       "},
		{Code{Language: "java", Comments: KeepComments}, "a = \"//\"; // b c"},
		{Code{Language: "java", Comments: OnlyComments}, "          // b c"},
		{Code{Language: "java", Names: true}, "0name 03d 0string 03b "},
		{Code{Language: "java", Names: true, Comments: KeepComments}, "0name 03d 0string 03b // b c "},
		{Code{Language: "java", Operators: true}, "a 03d \"//\" 03b "},
		{Code{Language: AutoLanguage}, "a = \"//\"; // b c"},
	} {
		reader, err := newCodeReader(test.code, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(reader.read([]byte(`a = "//"; // b c`))); got != test.want {
			t.Errorf("%+v: %q, want %q", test.code, got, test.want)
		}
	}
}

// TestCodeSequence: a sequence has the shingles of the fingerprint, and its places are in the code as it is.
func TestCodeSequence(t *testing.T) {
	text := []byte("// one two\nint a = b + 1; /* three */ return \"x y\";")
	for _, form := range []string{
		"java", "java,names", "java,keep-comments", "java,only-comments",
		"java,names,keep-comments", "auto,names", "java,operators", "java,operators,keep-comments", "off",
	} {
		options := Options{Measure: Measure{Shingle: 1}}
		if err := options.Code.UnmarshalText([]byte(form)); err != nil {
			t.Fatal(err)
		}
		sequencer, err := NewSequencer(options, false)
		if err != nil {
			t.Fatal(err)
		}
		d, sequence := sequencer.Sequence(text)
		if want := fingerprinter(t, options).Texts([][]byte{text}); !slices.Equal(d.Set, want.Set) ||
			d.Digest != want.Digest {
			t.Errorf("%s: the set of the sequence is not that of the fingerprint", form)
		}
		var got []string
		for i := range sequence.Len() {
			got = append(got, string(text[sequence.Starts[i]:sequence.Ends[i]]))
		}
		want := map[string]string{
			"java":                     "int a b 1 return x y",
			"java,names":               `int a = b + 1 ; return "x y" ;`,
			"java,only-comments":       "one two three",
			"java,operators":           "int a = b + 1 ; return x y ;",
			"java,names,keep-comments": `one two int a = b + 1 ; three return "x y" ;`,

			"java,operators,keep-comments": `one two int a = b + 1 ; three return x y ;`,
		}[form]
		if want == "" {
			want = "one two int a b 1 three return x y"
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", form, diff)
		}
	}
}

// TestCodeForm: the text form says the same, and what is wrong with it is an error.
func TestCodeForm(t *testing.T) {
	for _, form := range []string{
		"off", "auto", "go,names", "c,only-comments", "python,names,keep-comments", "go,operators",
	} {
		var c Code
		if err := c.UnmarshalText([]byte(form)); err != nil {
			t.Error(err)
		}
		if got, _ := c.MarshalText(); string(got) != form {
			t.Errorf("form %q, want %q", got, form)
		}
	}
	for _, form := range []string{
		"cobol", "names", "off,names", "go,", "go,names,names", "go,names,only-comments",
		"go,keep-comments,only-comments", "go,names,operators", "go,operators,only-comments",
	} {
		var c Code
		if err := c.UnmarshalText([]byte(form)); err == nil {
			t.Errorf("form %q is accepted", form)
		}
	}
}

func fingerprinter(t *testing.T, o Options) *Fingerprinter {
	t.Helper()
	f, err := NewFingerprinter(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// FuzzCode: the places of a sequence lie in the text, and its set is the set of the fingerprint, whatever the text.
func FuzzCode(f *testing.F) {
	f.Add(original, "java,names")
	f.Add(renamed, "auto")
	f.Add("# a\nb = '''c''' # d", "python,names,keep-comments")
	f.Fuzz(func(t *testing.T, text, form string) {
		options := Options{Measure: Measure{Shingle: 2}}
		if options.Code.UnmarshalText([]byte(form)) != nil {
			return
		}
		sequencer, err := NewSequencer(options, false)
		if err != nil {
			t.Fatal(err)
		}
		d, sequence := sequencer.Sequence([]byte(text))
		if want := fingerprinter(t, options).Texts([][]byte{[]byte(text)}); d.Digest != want.Digest {
			t.Error("the digest of the sequence is not that of the fingerprint")
		}
		for i := range sequence.Len() {
			if sequence.Starts[i] >= sequence.Ends[i] || int(sequence.Ends[i]) > len(text) {
				t.Fatalf("shingle %d of %d at [%d, %d) of %d bytes", i, sequence.Len(), sequence.Starts[i],
					sequence.Ends[i], len(text))
			}
		}
	})
}
