package formats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"mirrorbeam.dev/internal/input/corpus"
)

// TestCharsets: records of text are read in the encoding of their file: the one of its mark, the one that is given, or
// the one that it looks like. The file may be compressed, and need not be in memory as a whole.
func TestCharsets(t *testing.T) {
	const german, russian, japan = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich", "В начале июля в чрезвычайно жаркое время под вечер один молодой человек вышел из своей каморки на улицу и медленно отправился к мосту", "いろはにほへと ちりぬるを 我が世誰ぞ 常ならむ"
	for _, test := range []struct {
		name, text  string
		in          encoding.Encoding
		given, want string
	}{
		{"a.csv", german, charmap.Windows1252, "", "windows-1252"},
		{"a.csv", german, encoding.Nop, "", ""},
		{"a.csv", german, charmap.CodePage437, "ibm866", "ibm866"},
		{"a.csv", "plain", encoding.Nop, "", ""},
		{"a.tsv", russian, charmap.Windows1251, "", "windows-1251"},
		{"a.csv", russian, charmap.KOI8R, "koi8-r", "koi8-r"},
		{"a.csv", japan, japanese.ShiftJIS, "", "shift_jis"},
		{"a.csv", japan, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "koi8-r", "utf-16le"},
		{"a.csv", japan, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "utf-16be", "utf-16be"},
		{"a.jsonl", japan, unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "", "utf-16be"},
		{"a.json", german, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "", "utf-16le"},
		{"a.jsonl", german, charmap.Windows1252, "latin1", "windows-1252"},
	} {
		content, want := recordsIn(test.name, test.text)
		stored, err := test.in.NewEncoder().String(content)
		if err != nil {
			t.Fatal(err)
		}
		for name, stored := range map[string]string{test.name: stored, test.name + ".gz": gzipped(t, stored)} {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, []byte(stored), 0o600); err != nil {
				t.Fatal(err)
			}
			listing, err := corpus.List(t.Context(), []string{path}, corpus.Options{Charset: test.given})
			if err != nil {
				t.Fatal(err)
			}
			file := listing.Files[0]
			got := documentsIn(t, file, idAndText, 1<<20)
			if file.Charset != test.want {
				t.Errorf("%s of %.20q is in %q, want %q", name, test.text, file.Charset, test.want)
			}
			if test.given == "ibm866" { // it is another one: what the user says holds
				continue
			}
			if len(got) != want || got[0].texts != test.text ||
				got[want-1] != (document{got[want-1].position, "last", test.text, ""}) {
				t.Errorf("%s of %.20q: %d documents, want %d; the last is %v", name, test.text, len(got), want,
					got[len(got)-1])
			}
			if splits := corpus.Splits([]corpus.File{file}, 1000); test.want != "" && len(splits) != 1 {
				t.Errorf("%s in %s is cut", name, test.want)
			}
		}
	}
}

// recordsIn returns a file of many documents of one text, and their number.
func recordsIn(name, text string) (content string, documents int) {
	const most = 3000
	switch filepath.Ext(name) {
	case ".csv":
		return "id,text\r\n" + strings.Repeat("1,"+text+"\r\n", most) + "last," + text, most + 1
	case ".tsv":
		return "id\ttext\n" + strings.Repeat("1\t"+text+"\n", most) + "last\t" + text, most + 1
	case ".json":
		return "[" + strings.Repeat("\n {\"text\": \""+text+"\"},", most) + "\n{\"id\":\"last\",\"text\":\"" + text +
			"\"}]", most + 1
	}
	return strings.Repeat("{\"text\":\""+text+"\"}\n", most) + "{\"id\":\"last\",\"text\":\"" + text + "\"}", most + 1
}

// TestBadBytesAreUTF8: a few bad bytes make a text of UTF-8 no other one.
func TestBadBytesAreUTF8(t *testing.T) {
	content := "id,text\n" + strings.Repeat("1,größer über älter öfter\n", 20) + "2,caf\xe9\n"
	if file := list(t, map[string]string{"a.csv": content})[0]; file.Charset != "" {
		t.Errorf("the file is in %s", file.Charset)
	}
}

// TestLines: a line is a document, and an empty one is none.
func TestLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words")
	if err := os.WriteFile(path, []byte("{one\r\n\n \ntwo words\nthree\x00\nlast"), 0o600); err != nil {
		t.Fatal(err)
	}
	listing, err := corpus.List(t.Context(), []string{path}, corpus.Options{Format: "lines"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range documentsIn(t, listing.Files[0], idAndText, 100) {
		got = append(got, d.texts+d.fault)
	}
	if all := strings.Join(got, "|"); all != "{one| |two words|the line is no text: it has a zero byte|last" {
		t.Errorf("documents %q", all)
	}
}
