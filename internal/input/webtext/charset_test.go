package webtext

import (
	"strings"
	"testing"

	"golang.org/x/net/html/charset"
)

// samples are texts of some languages, by an encoding that pages of the language had.
var samples = map[string]string{
	"windows-1252": "Le café était fermé à midi, mais la boulangère avait déjà vendu ses pâtés et ses gâteaux préférés aux élèves.",
	"windows-1251": "Погода сегодня хорошая, и дети весь день играли в саду около старого дома у реки.",
	"koi8-r":       "Погода сегодня хорошая, и дети весь день играли в саду около старого дома у реки.",
	"iso-8859-7":   "Ο καιρός σήμερα είναι καλός και τα παιδιά έπαιζαν όλη την ημέρα στον κήπο δίπλα στο ποτάμι.",
	"shift_jis":    "今日は天気がよかったので、子供たちは一日中、川のそばの古い家の庭で遊んでいました。",
	"euc-jp":       "今日は天気がよかったので、子供たちは一日中、川のそばの古い家の庭で遊んでいました。",
	"gb18030":      "今天天气很好，孩子们整天在河边老房子的花园里玩耍，直到太阳下山才回家吃晚饭。",
	"big5":         "今天天氣很好，孩子們整天在河邊老房子的花園裡玩耍，直到太陽下山才回家吃晚飯。",
	"euc-kr":       "오늘은 날씨가 좋아서 아이들이 하루 종일 강가의 오래된 집 정원에서 놀았습니다.",
	"utf-8":        "Le café était fermé. 今日は天気がよかった。",
}

// encoded returns a text in an encoding.
func encoded(t *testing.T, name, text string) string {
	t.Helper()
	e, _ := charset.Lookup(name)
	bytes, err := e.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func TestCharset(t *testing.T) {
	for name, text := range samples {
		bytes := encoded(t, name, text)
		for how, page := range map[string]Page{
			"by the server": {Content: []byte("<p>" + bytes), Charset: []byte(strings.ToUpper(name))},
			"by the server, not meta": {Content: []byte("<meta charset=iso-8859-2><p>" +
				bytes), Charset: []byte(name)},
			"by meta": {Content: []byte("<html><head><META CharSet='" + name + "'><body>" + bytes)},
			"by an old meta": {Content: []byte("<meta name=a><meta content='text/html; charset=" + name +
				"' http-equiv=content-type>" + bytes)},
			"by a late meta": {Content: []byte("<script>" + strings.Repeat("a();", 1000) +
				"</script><meta charset=" + name + "><p>" + bytes)},
			"by an XML declaration": {
				Content:   []byte("<?xml version='1.0' encoding=\"" + name + "\"?><p>" + bytes),
				MediaType: "application/xhtml+xml",
			},
			"of XML": {
				Content:   []byte("<?xml version='1.0' encoding='" + name + "'?><p>" + bytes + "</p>"),
				MediaType: "text/xml",
			},
			"unknown to the server": {
				Content: []byte("<meta charset=" + name + "><p>" + bytes),
				Charset: []byte("none"),
			},
			"a wrong label UTF-8": {
				Content: []byte("<p>" + strings.Repeat(bytes+"<br>", 20)),
				Charset: []byte("utf-8"),
			},
			"no label": {Content: []byte("<p>" + strings.Repeat(bytes+"<br>", 20))},
			"no label, after a script": {Content: []byte("<script>" + strings.Repeat("a();", 1<<15) + "</script><p>" +
				strings.Repeat(bytes+"<br>", 20))},
		} {
			var e Extractor
			got := string(e.Append(nil, page))
			if !strings.HasPrefix(got, text) || strings.ReplaceAll(got, text+"\n", "") != "" {
				t.Errorf("%s, %s: %.100q", name, how, got)
			}
		}
	}
}

// TestTitle: the title of a page is in UTF-8, whatever the page is in. Plain text behind the page has none.
func TestTitle(t *testing.T) {
	for name, text := range samples {
		var e Extractor
		e.Append(nil, Page{
			Content: []byte("<title>" + encoded(t, name, text) + " 3</title><p>x"),
			Charset: []byte(name),
		})
		if got, want := string(e.Title), string(TitleWords([]byte("<title>"+text))); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if _, isText := e.Text(Page{Content: []byte("<title>x</title>"), MediaType: "text/plain"}); !isText ||
			e.Title != nil {
			t.Errorf("plain text, %v, has the title %q", isText, e.Title)
		}
	}
}

// TestMarks: a byte order mark decides, and is no text.
func TestMarks(t *testing.T) {
	const text = "añb今"
	for name, mark := range map[string]string{"utf-8": "\xef\xbb\xbf", "utf-16le": "\xff\xfe", "utf-16be": "\xfe\xff"} {
		var e Extractor
		page := Page{Content: []byte(mark + encoded(t, name, text)), MediaType: "text/plain", Charset: []byte("koi8-r")}
		if got := string(e.Append(nil, page)); got != text {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestLabels: what labels say of pages that are, or are not, what they say.
func TestLabels(t *testing.T) {
	for name, test := range map[string]struct{ content, label, want string }{
		"UTF-8 under another label":   {"señor", "iso-8859-1", "señor"},
		"UTF-8 that is cut":           {"señor \xe4\xbb", "iso-8859-1", "señor \xe4\xbb"},
		"seven bits":                  {"\x1b$B:#F|\x1b(B", "iso-2022-jp", "今日"},
		"UTF-16 without a mark":       {"a\x00b\x00", "utf-16le", "ab"},
		"zeros without a label":       {"a\x00b", "", "a\x00b"},
		"a label that hides the text": {"abc", "iso-2022-kr", "abc"},
		"no valid character":          {"a\xffb", "", "aÿb"},
	} {
		var e Extractor
		if got := string(e.Append(nil, Page{
			Content:   []byte(test.content),
			MediaType: "text/plain",
			Charset:   []byte(test.label),
		})); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestGuessIsStable: the detector asks goroutines, whose order must not decide.
func TestGuessIsStable(t *testing.T) {
	contents := []string{"\xc4\xe3\xba\xc3", "caf\xe9", "\xb0\xa1\xb0\xa1", "\xe9\xe8\xa0", encoded(t, "big5", "今天天氣")}
	for _, content := range contents {
		first := ""
		for range 50 {
			var e Extractor
			got := string(e.Append(nil, Page{Content: []byte(content), MediaType: "text/plain"}))
			if first == "" {
				first = got
			}
			if got != first {
				t.Fatalf("%q is %q, then %q", content, first, got)
			}
		}
	}
}
