package sketch

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

func newNormalizer(t testing.TB, steps string) *Normalizer {
	t.Helper()
	var n Normalization
	if err := n.UnmarshalText([]byte(steps)); err != nil {
		t.Fatal(err)
	}
	normalizer, err := NewNormalizer(n)
	if err != nil {
		t.Fatal(err)
	}
	return normalizer
}

func TestNormalizer(t *testing.T) {
	for _, c := range []struct{ steps, text, want string }{
		{"none", "Cafe\u0301 don't ＡＢＣ\xff", "Cafe\u0301 don't ＡＢＣ\xff"},
		{"nfc", "Cafe\u0301 \u212b ﬁ ＡＢＣ \xff", "Café Å ﬁ ＡＢＣ \xff"},
		{"nfkc", "Cafe\u0301 \u212b ﬁ ＡＢＣ ① …", "Café Å fi ABC 1 ..."},
		{"nfc", "Cafe \xffcafe\u0301 \xc3e\u0301\xed\xa0\x80\u212b", "Cafe \xffcafé \xc3é\xed\xa0\x80Å"},
		{"nfkc", "º \xf5º", "o \xf5o"},
		{"nfkc", " \xf5º", " \xf5o"},
		{"fold", "Straße ΣΊΣΥΦΟΣ ﬁ İ \xc3 ẞ", "strasse σίσυφοσ fi i\u0307 \xc3 ss"},
		{"fold", strings.Repeat("ΐ", 100), strings.Repeat("\u03b9\u0308\u0301", 100)},
		{"fold", "ᏣᎳᎩ ꮳꮃꭹ ᏸ", "ᏣᎳᎩ ᏣᎳᎩ Ᏸ"},
		{"nfc,fold", strings.Repeat("ΐ", 100), strings.Repeat("ΐ", 100)},
		{
			"punctuation", "Don’t N.B.A. e-mail, co\u00adop (a/b) x--y 'q' l·l! $3.50",
			"Dont NBA  email  coop  a b  x  y  q  ll   350",
		},
		{"punctuation", "«да»—нет。中文，3", " да  нет 中文 3"},
		{"punctuation", "a\u2019\u00adb a-\xff \xff.c d.", "ab a \xff \xff c d "},
		{"punctuation", "e\u00ad\u0301", "e\u0301"},
		{"nfc,punctuation", "e\u00ad\u0301", "é"},
		{"punctuation", "\xc2\u00ad\xad", "\xc2\u00ad\xad"},
		{"nfkc,fold,punctuation", "Ｏ’Ｎｅｉｌｌ…", "oneill   "},
		{"accents", "Café e\u0301 İ ñ 한 ก็ \xffé", "Cafe e I n 한 ก \xffe"},
		{"accents", "\xcc\u0301\u0301\x87 \xcce\u0301\x87", "\xcc\u0301\x87 \xcce\x87"},
		{"fold,accents", "ÉCOLE İ \u212b ᾳ", "ecole i a αι"},
		{"digits", "1999, 3.50 ٣ a1\xff2", "0000, 0.00 0 a0\xff0"},
		{"numbers", "1999, 3.50 1,2,3 ٣٫٥ a1. 5 7.x", "0, 0 0,0 0 a0. 0 0.x"},
		{"accents,numbers,punctuation", "Café: 3.5 x", "Cafe  0 x"},
		{"skeleton", "Sіgn in: Рay\u00adPal\u200b, \U000e0041café \xff", "slgn ln: paypal, cafe \xff"},
		{"nfc,skeleton,punctuation", "do\u200bn\u2019\u200bt, e\u0301", "dont  e"},
	} {
		if got := string(newNormalizer(t, c.steps).Append([]byte("x:"), []byte(c.text))); got != "x:"+c.want {
			t.Errorf("%s of %q = %q, want %q", c.steps, c.text, got, "x:"+c.want)
		}
	}
}

func TestNormalization(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "none",
		"none":                  "none",
		"fold":                  "fold",
		"punctuation,fold,nfkc": "nfkc,fold,punctuation",
		"fold,skeleton,nfc":     "nfc,skeleton,fold",
	} {
		var n Normalization
		if err := n.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if got, err := n.MarshalText(); err != nil || string(got) != want {
			t.Errorf("%q is %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"nfd":            "unknown step",
		"none,fold":      "unknown step",
		"fold,":          "unknown step",
		"nfc, fold":      "unknown step",
		"nfc,nfkc":       "choose one",
		"digits,numbers": "choose one",
		"fold,fold":      "twice",
	} {
		n := Normalization{Fold: true}
		err := n.UnmarshalText([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
		if n != (Normalization{Fold: true}) {
			t.Errorf("%q changes the normalization to %+v", text, n)
		}
	}
	if _, err := NewNormalizer(Normalization{NFC: true, NFKC: true}); err == nil {
		t.Error("no error for both forms")
	}
}

func TestNormalizerAllocations(t *testing.T) {
	text := []byte(strings.Repeat("Straße ΣΊΣΥΦΟΣ, cafe\u0301 don't ＡＢＣ ", 100))
	for _, steps := range []string{
		"none", "nfc", "nfkc", "fold", "punctuation", "accents", "numbers", "nfc,fold,punctuation",
	} {
		normalizer := newNormalizer(t, steps)
		normalized := normalizer.Append(nil, text)
		if n := testing.AllocsPerRun(10, func() { normalized = normalizer.Append(normalized[:0], text) }); n != 0 {
			t.Errorf("%s allocates %v times", steps, n)
		}
	}
}

func FuzzNormalization(f *testing.F) {
	for _, text := range []string{"", "none", "nfc,fold", "nfkc,fold,punctuation", "fold,,", "none,nfc"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var n, again Normalization
		if n.UnmarshalText(text) != nil {
			return
		}
		form, err := n.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalText(form); err != nil || again != n {
			t.Errorf("%q: %+v becomes %+v, %v", text, n, again, err)
		}
	})
}

// FuzzNormalizer checks each step against the library, and that a normalized text
// is normalized (but for numbers: 1,2,3 becomes 0,0, and that 0).
func FuzzNormalizer(f *testing.F) {
	for _, text := range edgeTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, c := range []struct {
			steps string
			want  []byte
		}{
			{"nfc", norm.NFC.Bytes(text)},
			{"nfkc", norm.NFKC.Bytes(text)},
			{"fold", cases.Fold().Bytes(text)},
			{"nfc,fold,punctuation", nil},
			{"nfkc,punctuation", nil},
			{"fold,punctuation", nil},
			{"fold,accents", nil},
			{"nfc,digits", nil},
			{"accents,digits", nil},
			{"skeleton", nil},
			{"accents,punctuation", nil},
		} {
			normalizer := newNormalizer(t, c.steps)
			got := normalizer.Append(nil, text)
			cherokee := c.steps == "fold" && bytes.ContainsFunc(text, isCherokeeCapital)
			if c.want != nil && utf8.Valid(text) && !cherokee && !bytes.Equal(got, c.want) {
				t.Errorf("%s of %q is %q, want %q", c.steps, text, got, c.want)
			}
			// What is not valid UTF-8 parts the text, except that a soft hyphen behind it stays.
			apart := normalizer.Append(append(normalizer.Append(nil, text), 0xff), text)
			if together := normalizer.Append(nil, slices.Concat(text, []byte{0xff}, text)); c.want != nil &&
				utf8.Valid(text) && !bytes.Equal(together, apart) {
				t.Errorf("%s of %q, a broken byte and again is %q, want %q", c.steps, text, together, apart)
			}
			if again := normalizer.Append(nil, got); !bytes.Equal(again, got) {
				t.Errorf("%s of %q is %q, and of that %q", c.steps, text, got, again)
			}
		}
	})
}

func BenchmarkNormalizer(b *testing.B) {
	for _, kind := range benchmarkTexts {
		if kind.name != "english" && kind.name != "languages" {
			continue
		}
		texts, size := kind.texts(b)
		measure := func(name string, work func(text []byte)) {
			b.Run(kind.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					for _, text := range texts {
						work(text)
					}
				}
			})
		}
		measure("plain-nfkc-fold", func(text []byte) { cases.Fold().Bytes(norm.NFKC.Bytes(text)) })
		for _, steps := range []string{"nfc", "nfkc,fold", "nfkc,fold,punctuation"} {
			normalizer := newNormalizer(b, steps)
			var normalized []byte
			measure(steps, func(text []byte) { normalized = normalizer.Append(normalized[:0], text) })
		}
	}
}
