package formats

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/util/quoting"
)

func TestCutting(t *testing.T) {
	cuts := []corpus.Cut{{Begin: 2, End: 5}, {Begin: 7, End: 9, Spaced: true}}
	wanted := corpus.Wanted{Fields: corpus.Fields{Texts: []string{"a.text"}}}
	for _, c := range []struct {
		format               corpus.Format
		header, record, want string
	}{
		{
			corpus.JSONLines, "", ` {"a":{"test": "0123456789", "text":"é23456789"} ,"b":1}` + "\r\n",
			` {"a":{"test": "0123456789", "text":"é56 9"} ,"b":1}` + "\r\n",
		},
		// half a surrogate pair has three bytes
		{corpus.JSONLines, "", `{"a.text":"\u00e9\n34\t6\ud83d"}`, `{"a.text":"\u00e9\t6 "}`},
		{corpus.JSON, "", "{\n\"a.text\":\"0\\\"23456789\"\n}", "{\n\"a.text\":\"0\\\"56 9\"\n}"},
		{corpus.CSV, "id,a.text,n\r\n", `"1,""2""",0123456789,"x"` + "\r\n", `"1,""2""",0156 9,"x"` + "\r\n"},
		{corpus.CSV, "a.text;n", `"0""2345;789";x`, `"0""5; 9";x`},
		{corpus.TSV, "n\ta.text\n", "x\t0123456789\n", "x\t0156 9\n"},
		{corpus.PlainLines, "", "0123456789\n", "0156 9\n"},
		{corpus.Text, "", "0123456789\n", "0156 9\n"},
	} {
		got, err := c.format.Definition().Cutter(wanted).Cut([]byte("-"), []byte(c.header), []byte(c.record), cuts)
		if err != nil || string(got) != "-"+c.want {
			t.Errorf("%v: %q, %v, want %q", c.format, got, err, c.want)
		}
	}
}

// FuzzCutting: what is cut out of a text is what encoding/json and encoding/csv miss in it, and nothing else changes.
func FuzzCutting(f *testing.F) {
	f.Add("x", "The \"quick\", brown\tfox", "a,b", uint8(3), uint8(9))
	f.Add("line\r\nfeed", "é\n中文 \\u0041", "\ttab", uint8(0), uint8(2))
	f.Add("", "\x00\x1f\U0001f600", "", uint8(1), uint8(1))
	f.Fuzz(func(t *testing.T, id, text, other string, from, length uint8) {
		noReturn := strings.NewReplacer("\r", "?") // encoding/csv reads them as line feeds
		id, other = quoting.Text(noReturn.Replace(id)), quoting.Text(noReturn.Replace(other))
		if text = noReturn.Replace(strings.ToValidUTF8(text, "?")); text == "" {
			return
		}
		begin := min(int(from), len(text)-1)
		for !utf8.RuneStart(text[begin]) {
			begin--
		}
		end := min(begin+int(length), len(text))
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		cuts, want := []corpus.Cut{{Begin: int64(begin), End: int64(end)}}, text[:begin]+text[end:]
		wanted := corpus.Wanted{Fields: corpus.Fields{ID: "id", Texts: []string{"text"}}}

		line, _ := json.Marshal(map[string]string{"id": id, "text": text, "z": other})
		var got map[string]string
		cut, err := corpus.JSONLines.Definition().Cutter(wanted).Cut(nil, nil, line, cuts)
		if err == nil {
			err = json.Unmarshal(cut, &got)
		}
		if err != nil || got["text"] != want || got["id"] != id || got["z"] != other {
			t.Errorf("%q of %q, %v: want %q", cut, line, err, want)
		}

		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.Write([]string{"n", "text", "id"}) // a buffer takes all
		w.Flush()
		header := bytes.Clone(b.Bytes())
		b.Reset()
		w.Write([]string{other, text, id})
		w.Flush()
		cut, err = corpus.CSV.Definition().Cutter(wanted).Cut(nil, header, b.Bytes(), cuts)
		r := csv.NewReader(bytes.NewReader(cut))
		r.FieldsPerRecord = 3
		cells, readErr := r.Read()
		if err != nil || readErr != nil || cells[1] != want || cells[2] != id || cells[0] != other {
			t.Errorf("%q of %q, %v, %v: want %q", cut, b.Bytes(), err, readErr, want)
		}
	})
}
