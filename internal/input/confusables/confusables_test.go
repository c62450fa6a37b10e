package confusables

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func fold(text string) string { return string(Append(nil, []byte(text))) }

// TestAppend: texts that look the same become the same, and others do not.
func TestAppend(t *testing.T) {
	const plain = "Please confirm your PayPal account"
	for what, disguised := range map[string]string{
		"Cyrillic":           "Рlеаsе соnfіrm уоur РауРаl ассоunt",
		"Greek":              "Ρlease cοnfirm yοur ΡayΡal accοunt",
		"full width":         "Ｐｌｅａｓｅ ｃｏｎｆｉｒｍ ｙｏｕｒ ＰａｙＰａｌ ａｃｃｏｕｎｔ",
		"mathematical":       "𝐏lease 𝒄onfirm 𝓎our 𝔓ayPal 𝕒ccount",
		"circled":            "ⓟlease confirm your PayPal ⓐccount",
		"marks":              "Pléase cönfirm your PayPal ac\u0327count",
		"zero width":         "Pl\u200bease con\u200dfirm yo\u2060ur Pay\ufeffPal ac\u200ccount",
		"soft hyphens":       "Ple\u00adase con\u00adfirm your Pay\u00adPal ac\u00adcount",
		"direction":          "Pl\u202aease con\u2066firm yo\u200eur Pay\u061cPal account",
		"override":           "Please \u202eruoy mrifnoc\u202c PayPal account",
		"overrides":          "\u202emrifnoc esaelP\u202c \u202elaPуаP ruoy\u202e \u202etnuocca",
		"variation selector": "Pl\ufe0fease con\U000e0101firm your PayPal account",
		"tags":               "Pl\U000e0041ease con\U000e007ffirm your PayPal account",
		"fillers":            "Pl\u3164ease con\u115ffirm your PayPal ac\u034fcount",
		"digits":             "P1ease c0nf1rm y0ur PayPa1 acc0unt",
		"rn for m":           "Please confirrn your PayPal account",
		"capitals":           "PLEASE CONFIRM YOUR PAYPAL ACCOUNT",
		"Myanmar":            "Please cဝnfirm yဝur PayPal accဝunt",
		"ligature":           "Please conﬁrm your PayPal account",
		"all circled":        "Ⓟⓛⓔⓐⓢⓔ ⓒⓞⓝⓕⓘⓡⓜ ⓨⓞⓤⓡ ⓟⓐⓨⓟⓐⓛ ⓐⓒⓒⓞⓤⓝⓣ",
		"negative circled":   "🅟lease confirm your 🅟ay🅟al 🅐ccount",
		"negative squared":   "🅿lease confirm your 🅿ay🅿al 🅰ccount",
		"parentheses":        "⒫lease confirm your ⒫ay⒫al ⒜ccount",
		"flags":              "🇵lease confirm your 🇵ay🇵al 🇦ccount",
		"negative digits":    "P➊ease c⓿nf➊rm y⓿ur PayPa➊ acc⓿unt",
		"Coptic":             "Ⲣlⲉⲁsⲉ ⲥⲟⲛfⲓrⲙ ⲩⲟur ⲢⲁⲩⲢⲁl ⲁⲥⲥⲟuⲛⲧ",
		"turned":             "Plǝɐsǝ ɔonɟırm ʎour PɐʎPɐl ɐɔɔounʇ",
		"without ink":        "Pl\u2800ease con\U0001d159firm yo\ufffcur Pay\ufff9Pal ac\U00013430count",
		"controls":           "Pl\u0080ease con\u009ffirm your PayPal account",
		"hooks and bars":     "Ƥlease cønfɨrm ỿour PayPał account",
	} {
		if got, want := fold(disguised), fold(plain); got != want {
			t.Errorf("%s: %q becomes %q, want %q", what, disguised, got, want)
		}
	}
	for _, text := range []string{
		"Home | About | Contact", "日本語のテキスト、漢字", "ဝန်ကြီးဌာန", "เข้าสู่ระบบ", "한국어",
		"a\xffb\x80", "€50", "\u202eשלום\u202c",
	} {
		if got := fold(text); strings.Count(got, " ") != strings.Count(text, " ") ||
			strings.Contains(text, "|") != strings.Contains(got, "|") {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	for _, text := range []string{"ဝန်ကြီးဌာန", "한국어", "漢字", "\xff\x80", "\xc7\u0305\xba", "€5", "×\u0b95"[2:]} {
		if got := fold(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	for _, pair := range [][2]string{
		{"Вход в систему", "Выход из системы"},
		{"שלום", "שלוש"},
		{"transfer", "transform"},
	} {
		if fold(pair[0]) == fold(pair[1]) {
			t.Errorf("%q and %q become the same", pair[0], pair[1])
		}
	}
	// A word in capitals stays the word that it is, in Cyrillic as well.
	if got, want := fold("МОСКВА НЕ СРАЗУ СТРОИЛАСЬ"), fold("москва не сразу строилась"); got != want {
		t.Errorf("in capitals %q, in small letters %q", got, want)
	}
}

// TestTable: no character becomes more than twice as long, or something that changes again, and no Latin letter is
// lost.
func TestTable(t *testing.T) {
	folded := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		text := string(r)
		once := fold(text)
		if once != text {
			folded++
		}
		if len(once) > 2*len(text) || fold(once) != once {
			t.Errorf("%U %q becomes %q, and then %q", r, r, once, fold(once))
		}
		if unicode.Is(unicode.Latin, r) && once == "" {
			t.Errorf("%U %q is lost", r, r)
		}
	}
	if folded < 7000 {
		t.Errorf("%d characters are folded", folded)
	}
}

func FuzzAppend(f *testing.F) {
	f.Add([]byte("r\u200bn Рау\xff"), []byte("ဝn"))
	f.Add([]byte("\u202eab\u202c"), []byte("\u202enr\xffဝ\u202eဝnr\u202ca\n\u202e"))
	f.Fuzz(func(t *testing.T, before, text []byte) {
		once := Append(nil, text)
		if len(once) > 2*len(text) || string(Append(nil, once)) != string(once) {
			t.Errorf("%q becomes %q, and then %q", text, once, Append(nil, once))
		}
		if got := Append(append([]byte(nil), before...), text); string(got) != string(before)+string(once) {
			t.Errorf("%q behind %q becomes %q", text, before, got)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	text := []byte(strings.Repeat("Please confirm your account, or it will be closed within two days. ", 100))
	b.SetBytes(int64(len(text)))
	var dst []byte
	for b.Loop() {
		dst = Append(dst[:0], text)
	}
}
