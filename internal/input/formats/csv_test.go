package formats

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// document is the content of a record, or the reason why it has none.
type document struct {
	position  int64
	id, texts string
	fault     string
}

// documentsOf reads a file of that content and format, in batches of the usual size.
func documentsOf(t testing.TB, name, content string, fields corpus.Fields) []document {
	t.Helper()
	return documentsIn(t, list(t, map[string]string{name: content})[0], fields, 1<<20)
}

// list lists files with these contents, in a folder of their own.
func list(t testing.TB, files map[string]string) []corpus.File {
	t.Helper()
	folder := t.TempDir()
	var paths []string
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	listing, err := corpus.List(t.Context(), paths, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := Prepare(t.Context(), listing.Files, wanted(idAndText))
	if err != nil {
		t.Fatal(err)
	}
	return prepared
}

// documentsIn reads a file whose records have at most limit bytes.
func documentsIn(t testing.TB, file corpus.File, fields corpus.Fields, limit int64) (all []document) {
	t.Helper()
	decoder := NewDecoder(wanted(fields))
	for batch, err := range Batches(file, 0, corpus.Limits{Line: limit}, wanted(fields)) {
		if err != nil {
			t.Fatal(err)
		}
		rejects := batch.Rejects
		for position, record := range batch.Records() {
			for ; len(rejects) > 0 && rejects[0].Position < position; rejects = rejects[1:] {
				all = append(all, document{position: rejects[0].Position, fault: rejects[0].Message})
			}
			d := document{position: position}
			if content, err := decoder.Decode(&file, &batch, position, record); err != nil {
				d.fault = err.Error()
			} else {
				d.id, d.texts = string(content.ID), string(bytes.Join(content.Texts, []byte("|")))
			}
			all = append(all, d)
		}
		for _, reject := range rejects {
			all = append(all, document{position: reject.Position, fault: reject.Message})
		}
	}
	return all
}

// wanted asks for fields of documents of any length.
func wanted(fields corpus.Fields) corpus.Wanted {
	return corpus.Wanted{Fields: fields, MaxDocument: 1 << 30}
}

var idAndText = corpus.Fields{ID: "id", Texts: []string{"text"}}

func TestCSV(t *testing.T) {
	for _, test := range []struct {
		name, file, content string
		fields              corpus.Fields
		want                []document
	}{
		{"plain", "a.csv", "id,text\n1,one\n2,two\n", idAndText, []document{{8, "1", "one", ""}, {14, "2", "two", ""}}},
		{"no last line feed", "a.csv", "id,text\n1,one", idAndText, []document{{8, "1", "one", ""}}},
		{
			"other order, CR LF, mark", "a.csv", corpus.ByteOrderMark + "text,x,id\r\none,,1\r\n", idAndText,
			[]document{{14, "1", "one", ""}},
		},
		{
			"quotes", "a.csv", "id,text\n1,\"one, \"\"two\"\"\nthree\"\n2,\"\"\n", idAndText,
			[]document{{8, "1", "one, \"two\"\nthree", ""}, {31, "2", "", ""}},
		},
		{
			"null", "a.csv", "id,text\n1,\n2,NULL\n\\N,\"NULL\"\n4,\\N\n5,None\n", idAndText,
			[]document{
				{8, "", "", "is null"},
				{11, "", "", "is null"},
				{18, "", "NULL", ""},
				{28, "", "", "is null"},
				{33, "", "", "is null"},
			},
		},
		{
			"null in one of several texts", "a.csv", "a,b\nx,\\N\n,NULL\n",
			corpus.Fields{Texts: []string{"a", "b"}},
			[]document{{4, "", "x|", ""}, {9, "", "", "is null"}},
		},
		{"a name twice", "a.csv", "id,text,text\n1,a,b\n", idAndText, []document{{13, "", "", `two columns "text"`}}},
		{"another name twice", "a.csv", "id,text,x,x\n1,a,b,c\n", idAndText, []document{{12, "1", "a", ""}}},
		{
			"named delimiter", "a.csv", "sep=;\r\nid;text;a,b,c,d\r\n1;one, two;x\r\n", idAndText,
			[]document{{24, "1", "one, two", ""}},
		},
		{
			"quotes behind backslashes", "a.csv",
			"\"id\",\"text\"\n\"1\",\"he said \\\"hello, you\\\" and went, away\"\n\"2\",\"\\\"bye\\\"\"\n\"3\",\"C:\\\"\n", idAndText,
			[]document{
				{12, "1", `he said "hello, you" and went, away`, ""},
				{56, "2", `"bye"`, ""},
				{70, "3", `C:\`, ""},
			},
		},
		{"blanks before quotes", "a.csv", "id, text\n1, \"one, two\"\n2, \"three\" four\n", corpus.Fields{
			ID:    "id",
			Texts: []string{" text"},
		}, []document{{9, "1", "one, two", ""}, {23, "2", ` "three" four`, ""}}},
		{
			"quotes in a .tsv", "a.tsv", "id\ttext\n1\t\"one\n2\ttwo\"\n", idAndText,
			[]document{{8, "1", `"one`, ""}, {15, "2", `two"`, ""}},
		},
		{"empty lines", "a.csv", "id,text\n\n1,one\n\n", idAndText, []document{{9, "1", "one", ""}}},
		{"tabs", "a.tsv", "id\ttext\n1\tone, two\n", idAndText, []document{{8, "1", "one, two", ""}}},
		{"semicolons", "a.csv", "id;text\n1;one, two\n", idAndText, []document{{8, "1", "one, two", ""}}},
		{"tabs in a .csv", "a.csv", "\nid\ttext\n1\tone; two|\n", idAndText, []document{{9, "1", "one; two|", ""}}},
		{"pipes", "a.csv", "id|text|\"a;b,c;d,e;f\"\n1|\"o|ne\"|\n", idAndText, []document{{22, "1", "o|ne", ""}}},
		{
			"several texts", "a.csv", "id,a,b\n1,x,y\n",
			corpus.Fields{Texts: []string{"b", "c", "a"}},
			[]document{{7, "", "y||x", ""}},
		},
		{
			"number of fields", "a.csv", "id,text\n1,one,more\n2,two\n", idAndText,
			[]document{{8, "", "", "3 fields, and the first record names 2"}, {19, "2", "two", ""}},
		},
		{
			"bare quote", "a.csv", "id,text\n1,on\"e\n2,two\n", idAndText,
			[]document{{8, "1", "on\"e", ""}, {15, "2", "two", ""}},
		},
		{
			"behind a quote", "a.csv", "id,text\n1,\"on\"e\n2,two\n", idAndText,
			[]document{{8, "", "", "continues after its closing quote; with --quote none"}, {16, "2", "two", ""}},
		},
		{
			"what helps", "a.csv", "id,text\n1,a\\, b\n2,'c, d'\n", idAndText,
			[]document{{8, "", "", `names 2; with --escape '\'`}, {16, "", "", `with --quote "'"`}},
		},
		{
			"a swallowed record", "a.csv", "id,text\nh1,\"one\nh2,two\"\nh3,three\n", idAndText,
			[]document{{8, "", "", "field of 2 lines"}, {16, "h2", "two\"", ""}, {24, "h3", "three", ""}},
		},
		{
			"lines that are no records", "a.csv", "id,text\n1,\"Dear all\nsincerely, Bob\"\n", idAndText,
			[]document{{8, "1", "Dear all\nsincerely, Bob", ""}},
		},
		{
			"quote left open", "a.csv", "id,text\n1,\"one\n2,two\n", idAndText,
			[]document{{8, "", "", "a quote that is not closed"}, {15, "2", "two", ""}},
		},
		{
			"no such field", "a.csv", "id,body\n1,one\n", idAndText,
			[]document{{8, "", "", `no field "text": there are "id", "body"`}},
		},
		{"only a header", "a.csv", "id,text\n", idAndText, nil},
		{"empty", "a.csv", "", idAndText, nil},
	} {
		got := documentsOf(t, test.file, test.content, test.fields)
		if len(got) != len(test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
			continue
		}
		for i, want := range test.want {
			if isFault := want.fault != "" && strings.Contains(got[i].fault, want.fault); isFault {
				got[i].fault = want.fault
			}
			if got[i] != want {
				t.Errorf("%s: %+v, want %+v", test.name, got[i], want)
			}
		}
	}
}

// TestDialects: what a user says of quotes, escapes and titles holds, and copies of what is read so are read so again.
func TestDialects(t *testing.T) {
	for _, c := range []struct {
		dialect       corpus.Dialect
		name, content string
		want          string // the text of the last record
		cut           string // that record without the first byte of its text
	}{
		{corpus.Dialect{Quote: '\''}, "a.csv", "id,text\n1,'it''s, \"so\"'\n", `it's, "so"`, "1,'t''s, \"so\"'\n"},
		{corpus.Dialect{Quote: '"'}, "a.tsv", "id\ttext\n1\t\"a\tb\nc\"\n", "a\tb\nc", "1\t\"\tb\nc\"\n"},
		{corpus.Dialect{Quote: corpus.NoQuote}, "a.csv", "id,text\n1,\"a\n", `"a`, "1,a\n"},
		{corpus.Dialect{Escape: '\\'}, "a.tsv", "id\ttext\n1\ta\\\tb\\\nc\\\\\n", "a\tb\nc\\", ""},
		{corpus.Dialect{Escape: '\\'}, "a.csv", "id,text\n1,\"a\\\", b\\\\\"\n", `a", b\`, "1,\"\"\", b\\\\\"\n"},
		{corpus.Dialect{SkipLines: 2}, "a.csv", "Title, of a table\n\nid,text\n1,x\n", "x", "1,\n"},
		{corpus.Dialect{Delimiter: '|'}, "a.csv", "id|text\n1|x, y\n", "x, y", "1|, y\n"},
	} {
		w := wanted(idAndText)
		w.Dialect = c.dialect
		file := list(t, map[string]string{c.name: c.content})[0]
		decoder, got, cut := NewDecoder(w), "", ""
		for batch, err := range Batches(file, 0, corpus.Limits{Line: 1000}, w) {
			if err != nil {
				t.Fatal(err)
			}
			for position, record := range batch.Records() {
				content, err := decoder.Decode(&file, &batch, position, record)
				if err != nil {
					t.Fatalf("%q: %v", c.content, err)
				}
				b, err := file.Format.Definition().Cutter(w).Cut(nil, batch.Header, record, []corpus.Cut{{
					Begin: 0,
					End:   1,
				}})
				if err != nil {
					t.Fatal(err)
				}
				got, cut = string(content.Texts[0]), string(b)
			}
		}
		if got != c.want || c.cut != "" && cut != c.cut {
			t.Errorf("%q: %q and %q, want %q and %q", c.content, got, cut, c.want, c.cut)
		}
	}
}

// TestCSVLimit: a record that is too long is a reject, and the records behind it are read.
func TestCSVLimit(t *testing.T) {
	long := strings.Repeat("x", 3*corpus.BatchBytes)
	file := list(t, map[string]string{"a.csv": "id,text\n1,one\n2," + long + "\n3,three\n"})[0]
	got := documentsIn(t, file, idAndText, corpus.BatchBytes)
	if len(got) != 3 || got[0].id != "1" || got[1].fault == "" || got[2].id != "3" {
		t.Errorf("%d documents: %.300v", len(got), got)
	}
	if got = documentsIn(t, file, idAndText, 1<<30); len(got) != 3 || got[1].texts != long {
		t.Errorf("%d documents: %.300v", len(got), got)
	}
}

// TestCSVBatches: records that do not fit into one batch all come out, once.
func TestCSVBatches(t *testing.T) {
	var content strings.Builder
	w := csv.NewWriter(&content)
	w.Write([]string{"id", "text"})
	for i := range 5000 {
		w.Write([]string{fmt.Sprint(i), strings.Repeat(fmt.Sprintf("text, \"%d\"\n", i), 1+i%90)})
	}
	w.Flush()
	got := documentsOf(t, "a.csv", content.String(), idAndText)
	if len(got) != 5000 || content.Len() < 3*corpus.BatchBytes {
		t.Fatalf("%d documents", len(got))
	}
	for i, d := range got {
		if d.id != fmt.Sprint(i) || d.texts != strings.Repeat(fmt.Sprintf("text, \"%d\"\n", i), 1+i%90) {
			t.Fatalf("document %d is %.100v", i, d)
		}
	}
}

// FuzzCSV: a file that encoding/csv can read is read in the same way, if its first record shows that lines end with
// line feeds and has no other delimiter more often than the comma. Any other file is read to an end.
func FuzzCSV(f *testing.F) {
	for _, seed := range []string{
		"id,text\n1,one\n", "id,text\n1,\"a\nb\"\"\"\n\n2,\n", "id,text\n\"",
		"id,text\n1,x\"y\n2,z", "text\n\"a\"b\nc\n", "\xef\xbb\xbftext\na\n", "\n\r\n\ntext\n\na\n", "text\n\r\r\n\r",
		"a\rb,text\n1,2\n", "text\n\"\r\"\na\rb\n",
		"i;;,text\n1,one\n",
	} {
		f.Add(seed)
	}
	_, folder := storagetest.NewMemory(f)
	f.Fuzz(func(t *testing.T, content string) {
		file := corpus.File{Path: storage.Join(folder, "a.csv"), Format: corpus.CSV, Size: int64(len(content))}
		if err := storage.WriteFile(file.Path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		got := documentsIn(t, file, idAndText, 1<<20)
		for i := 1; i < len(got); i++ {
			if got[i].position < got[i-1].position {
				t.Errorf("positions %d, %d", got[i-1].position, got[i].position)
			}
		}
		rest := strings.TrimPrefix(content, corpus.ByteOrderMark)
		if dialectOf(corpus.Dialect{}, 0, '"').in([]byte(rest)).comma != ',' {
			return
		}
		reader := csv.NewReader(strings.NewReader(rest))
		reader.FieldsPerRecord = -1
		header, err := reader.Read()
		if err != nil || hasCarriageReturn(content[:len(content)-len(rest)+int(reader.InputOffset())]) {
			return
		}
		records, err := reader.ReadAll()
		if err != nil {
			return
		}
		text, id := slices.Index(header, "text"), slices.Index(header, "id")
		if text < 0 || slices.Index(header[text+1:], "text") >= 0 || id >= 0 && slices.Index(header[id+1:], "id") >= 0 {
			return
		}
		var want []document
		for _, record := range records {
			d := document{}
			if len(record) != len(header) {
				d.fault = "fields"
			} else if d.texts = record[text]; id >= 0 {
				d.id = record[id]
			}
			want = append(want, d)
		}
		swallows := slices.ContainsFunc(got, func(d document) bool {
			return strings.Contains(d.fault, "each of which is a record")
		})
		if len(got) != len(want) && !swallows {
			t.Fatalf("%d documents, want %d: %+v", len(got), len(want), got)
		}
		for i := range got {
			if swallows {
				break
			}
			if slices.Contains(nullTexts, want[i].texts) && strings.Contains(got[i].fault, "is null") {
				continue // the library does not tell NULL from "NULL"
			}
			if got[i].id != want[i].id || got[i].texts != want[i].texts ||
				(got[i].fault == "") != (want[i].fault == "") {
				t.Errorf("%+v, want %+v", got[i], want[i])
			}
		}
	})
}

// hasCarriageReturn reports whether a carriage return without a line feed is outside of the quotes of well-formed
// records. It ends a line there for this package, and is a character like any other for encoding/csv.
func hasCarriageReturn(records string) bool {
	isQuoted := false
	for i := range len(records) {
		switch records[i] {
		case '"':
			isQuoted = !isQuoted
		case '\r':
			if !isQuoted && !strings.HasPrefix(records[i+1:], "\n") {
				return true
			}
		}
	}
	return false
}

// TestCSVAgain: a source that goes on to another file has that file's header.
func TestCSVAgain(t *testing.T) {
	files := list(t, map[string]string{"a.csv": "text\na\n", "b.csv": "x,text\n,b\n", "c.jsonl": `{"text":"c"}` + "\n"})
	reader, decoder := NewReader(corpus.Limits{Line: 1000}, wanted(idAndText)), NewDecoder(wanted(idAndText))
	defer reader.Close()
	got := ""
	for range 2 {
		for number, file := range files {
			if err := reader.Reset(file, file.Whole(number)); err != nil {
				t.Fatal(err)
			}
			for {
				batch, err := reader.Next(nil)
				if err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				for position, record := range batch.Records() {
					content, err := decoder.Decode(&file, &batch, position, record)
					if err != nil {
						t.Fatal(err)
					}
					got += string(content.Texts[0])
				}
			}
		}
	}
	if got != "abcabc" {
		t.Errorf("texts %q", got)
	}
}

// TestCarriageReturns: records that end with a carriage return alone are records.
func TestCarriageReturns(t *testing.T) {
	const records = "id,text\n1,one\n2,\"two, and\"\"\"\n\n3,three\n"
	for name, end := range map[string]string{"a.csv": "\r", "b.csv": "\n", "c.csv": "\r\n", "d.tsv": "\r"} {
		content := strings.ReplaceAll(records, "\n", end)
		if strings.HasSuffix(name, ".tsv") {
			content = strings.ReplaceAll(strings.ReplaceAll(content, `"two, and"""`, "two and"), ",", "\t")
		}
		for _, content := range []string{content, corpus.ByteOrderMark + content, strings.TrimSuffix(content, end)} {
			var got []string
			for _, d := range documentsOf(t, name, content, idAndText) {
				got = append(got, d.id+"="+d.texts+d.fault)
			}
			if len(got) != 3 || got[0] != "1=one" || !strings.HasPrefix(got[1], "2=two") || got[2] != "3=three" {
				t.Errorf("%s, %q: %q", name, content, got)
			}
		}
	}
	mixed := documentsOf(t, "m.csv", "id,text\r1,one\r2,two\n3,three\n4,four\r5,five\n", idAndText)
	if len(mixed) != 3 || mixed[0].texts != "one" || !strings.Contains(mixed[1].fault, "one kind of line ends") ||
		mixed[2].texts != "five" {
		t.Errorf("mixed line ends: %+v", mixed)
	}
	quoted := "id,text\r1,\"one\rand\nmore\"\r2,two"
	if got := documentsOf(t, "q.csv", quoted, idAndText); len(got) != 2 || got[0].texts != "one\rand\nmore" ||
		got[1].texts != "two" {
		t.Errorf("%+v", got)
	}
}

// TestHeaderAlone: a table without a record tells its header, once. An empty file has none.
func TestHeaderAlone(t *testing.T) {
	for content, want := range map[string][]string{
		"id,text\n": {"id,text\n"}, "id,text": {"id,text"}, "\n\nid,text\n\n\n": {"id,text\n"}, "": nil, "\n": nil,
		"id,text\n1,a\n": {"id,text\n"}, "id,text\n1,\"a\n": {"id,text\n"},
	} {
		var headers []string
		for batch, err := range Batches(list(t, map[string]string{"a.csv": content})[0], 0, corpus.Limits{Line: 100},
			wanted(idAndText)) {
			if err != nil {
				t.Fatalf("%q: %v", content, err)
			}
			headers = append(headers, string(batch.Header))
		}
		if !slices.Equal(headers, want) {
			t.Errorf("%q: headers %q, want %q", content, headers, want)
		}
	}
}
