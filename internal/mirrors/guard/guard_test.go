package guard

import (
	"slices"
	"strings"
	"testing"
)

// TestFold: what looks like a word is that word.
func TestFold(t *testing.T) {
	fold := func(text string) string {
		var f Folder
		f.Fold([]byte(text))
		var words []string
		for _, w := range f.Words {
			words = append(words, string(f.Letters[w.Start:w.End]))
		}
		return strings.Join(words, " ")
	}
	for _, c := range []struct{ text, like string }{
		{"PayPal", "paypal"},
		{"p\u0430yp\u0430l", "paypal"},
		{"p@yp4l", "paypal"},
		{"rnodem", "modem"},
		{"vvord", "word"},
		{"clear", "dear"},
		{"pay\u200bpal", "paypal"},
		{"pay\x01pal", "paypal"},
		{"🅟🅐🅨", "pay"},
		{"ⓟⓐⓨ", "pay"},
		{"it's", "its"},
		{"log in, now", "log in now"},
	} {
		if got, want := fold(c.text), fold(c.like); got != want {
			t.Errorf("%q is %q, want %q", c.text, got, want)
		}
	}
	if fold("log in") == fold("login") {
		t.Error("two words are one")
	}
}

// TestMeasure: what a text has of a page does not depend on what else it has, nor on its spaces and its direction.
func TestMeasure(t *testing.T) {
	const page = "please enter your customer number and your password to sign in to online banking never share " +
		"your password with anyone if you have forgotten your credentials call the service line our bank protects " +
		"your account with two factor authentication and monitors every transaction day and night for fraud we will " +
		"never ask you for your code by telephone or in a message keep your device up to date"
	words := strings.Fields(page)
	each := func(n int, put func(word string) string) string {
		changed := slices.Clone(words)
		for i := n - 1; i < len(words); i += n {
			changed[i] = put(changed[i])
		}
		return strings.Join(changed, " ")
	}
	letters := []rune(page)
	slices.Reverse(letters)
	w := newWatch(Page{1, []byte(page), true})
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"the page", page, true},
		{"without spaces", strings.ReplaceAll(page, " ", ""), true},
		{"reversed", string(letters), true},
		{"among others", strings.Repeat("quite other words of some news article ", 200) + page, true},
		{"half of it", page[:len(page)/2], true},
		{"every fifth word replaced", each(5, func(string) string { return "other" }), true},
		{"a word after each", each(1, func(word string) string { return word + " qqqq" }), true},
		{"a tenth of it", page[:len(page)/10], false},
		{"every second word replaced", each(2, func(string) string { return "other" }), false},
		{"another page", strings.Repeat("quite other words of some news article ", 20), false},
		{"nothing", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			best, of := w.strength([]byte(c.text))
			if is := best >= 1; is != c.want {
				t.Errorf("strength %.2f, %+v", best, of)
			}
			if c.name == "the page" && (of.Words != of.Of || of.Runs != 1 || of.Pairs != 1) {
				t.Errorf("%+v", of)
			}
		})
	}
}
