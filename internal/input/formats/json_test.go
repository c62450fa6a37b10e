package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
)

// TestJSON: objects are documents in an array and one after the other, on any number of lines. A value that is none, or
// that is malformed, is a reject, and reading goes on behind it.
func TestJSON(t *testing.T) {
	const closing = "{\n  \"text\": \"z\"\n}"
	for name, test := range map[string]struct {
		content string
		want    []string // texts, or words of faults
	}{
		"array on a line":  {`[{"text":"a"},{"text":"b [x], {y}"}]`, []string{"a", "b [x], {y}"}},
		"array, indented":  {"[\n  {\n    \"text\": \"a\",\n    \"in\": {\"text\": 1}\n  },\n  {\n    \"text\": \"b\"\n  }\n]\n", []string{"a", "b"}},
		"objects on lines": {"{\n\"text\": \"a\"\n}\n{\r\n  \"text\": \"b\"\r\n}\n", []string{"a", "b"}},
		"two arrays":       {"[\n{\"text\":\"a\"}]\n[{\"text\":\"b\"}]", []string{"a", "b"}},
		"side by side": {
			`{"text":"a"}{"text":"b"} {"text":"c"}` + "\n" + `{"text":"d"}`,
			[]string{"a", "b", "c", "d"},
		},
		"with a mark":      {corpus.ByteOrderMark + `[{"text":"a"}]`, []string{"a"}},
		"empty array":      {"[ ]\n", nil},
		"comma at the end": {`[{"text":"a"},]`, []string{"a"}},
		"no text":          {`[{"text":"a"},{"id":1},{"text":"b"}]`, []string{"a", "is missing", "b"}},
		"other values": {
			`[{"text":"a"},7,"x",[{"text":"no"}],null,{"text":"b"}]`,
			[]string{"a", "the object is a number", "is a string", "is an array", "is null", "b"},
		},
		"not closed array":   {`[{"text":"a"},{"text":"b"}`, []string{"a", "b", "the array is not closed"}},
		"cut short":          {`[{"text":"a"},{"text":"b`, []string{"a", "no closing quote"}},
		"a quote too few":    {"[\n  {\n    \"text\": \"a\n  },\n  {\n    \"text\": \"b\"\n  },\n  {\n    \"text\": \"c\"\n  }\n]", []string{"neither a comma", "c"}},
		"a bracket too few":  {"{\n  \"text\": \"a\"\n" + closing, []string{"neither a comma", "z"}},
		"a bracket too many": {"{\n  \"text\": \"a\"\n}}\n" + closing, []string{"a", "no value", "z"}},
		"damage, on one line": {
			`[{"text":"a,"id":1},{"text":"b"},{"text":"c"}]`,
			[]string{"neither a comma", "b", "c"},
		},
		"objects of an object": {"[\n  {\"text\": x,\n    \"in\":\n    {\"text\":\"no\"}\n  },\n  {\"text\": \"b\"}\n]", []string{"no value", "b"}},
	} {
		var got []string
		for _, d := range documentsOf(t, "a.json", test.content, corpus.Fields{Texts: []string{"text"}}) {
			got = append(got, d.texts+d.fault)
		}
		if !slices.EqualFunc(got, test.want, strings.Contains) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestJSONPositions: a document is where its object begins.
func TestJSONPositions(t *testing.T) {
	content := corpus.ByteOrderMark + "[\n  {\"text\": \"a\"},\n  {\"id\": 1, \"text\": \"b\"}\n]"
	for _, d := range documentsOf(t, "a.json", content, idAndText) {
		if !strings.HasPrefix(content[d.position:], "{") || !strings.Contains(content[d.position:], `"`+d.texts+`"`) ||
			strings.LastIndex(content, "{") == int(d.position) != (d.texts == "b") {
			t.Errorf("%q is at %d", d.texts, d.position)
		}
	}
}

// TestLongObjects: an object above the limit is a reject. Those behind it are documents if it began a line, or if it
// could be read to its end.
func TestLongObjects(t *testing.T) {
	long := strings.Repeat("long ", corpus.BatchBytes/2)
	for content, want := range map[string][]string{
		fmt.Sprintf("[{\"text\":\"a\"},\n{\"text\":%q},\n{\"text\":\"b\"}]", long): {"a", "", "b"},
		fmt.Sprintf("[{\"text\":\"a\"},{\"text\":%q},{\"text\":\"b\"}]", long):     {"a", ""},
	} {
		var got []string
		file := list(t, map[string]string{"a.json": content})[0]
		for _, d := range documentsIn(t, file, idAndText, 1000) {
			got = append(got, d.texts)
		}
		if !slices.Equal(got, want) {
			t.Errorf("texts %q, want %q", got, want)
		}
	}
}

// TestWhichJSON: the content tells whether a file has an object on each line, whatever its name.
func TestWhichJSON(t *testing.T) {
	for content, want := range map[string]corpus.Format{
		"[{\"text\":\"a\"}]":                  corpus.JSON,
		" \n[\n  {":                           corpus.JSON,
		"[]":                                  corpus.JSON,
		"{\n  \"text\": \"a\"\n}":             corpus.JSON,
		"{\"id\": 1,\r\n \"text\": \"a\"\n}":  corpus.JSON,
		"{\"text\":\"a\"}\n{\"text\":\"b\"}":  corpus.JSONLines,
		"{\"text\":\"a\"}":                    corpus.JSONLines,
		"[1,2]\n[3,4]":                        corpus.JSONLines,
		"{\"text\":\"a,\"}\n{\"text\":\"b\"}": corpus.JSONLines,
	} {
		for name, stored := range map[string]string{
			"a.json":     content,
			"a.jsonl.gz": gzipped(t, content),
			"data":       content,
		} {
			if got := list(t, map[string]string{name: stored})[0].Format; got != want {
				t.Errorf("%s of %q: %v, want %v", name, content, got, want)
			}
		}
	}
	if got := list(t, map[string]string{"a.txt": "[Music]\nSome words"})[0].Format; got != corpus.Text {
		t.Errorf("a text that begins with a bracket is %v", got)
	}
}

// FuzzJSON: the elements of an array that encoding/json reads are the records. Of any other text no byte makes the
// reader fail or stop, and positions ascend.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`[{"text":"a"},{"b":[1,{"c":"\\\"}"}]},7]`))
	f.Add([]byte("{\n \"a\": 1\n}\n{"))
	f.Add([]byte("[\n {\"a\"\n {\"b\": \"x\n {}, {}"))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "a.json")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		file := corpus.File{Path: path, Size: int64(len(content)), Format: corpus.JSON}
		var got [][]byte
		rejects, last := 0, int64(-1)
		for batch, err := range Batches(file, 0, corpus.Limits{Line: 1 << 20}, corpus.Wanted{}) {
			if err != nil {
				t.Fatal(err)
			}
			rejects += len(batch.Rejects)
			for position, record := range batch.Records() {
				if position <= last || !bytes.Equal(content[position:position+int64(len(record))], record) {
					t.Fatalf("%q is at %d, behind %d", record, position, last)
				}
				last = position
				got = append(got, record)
			}
		}
		var want []json.RawMessage
		if !bytes.HasPrefix(bytes.TrimLeft(content, " \t\r\n"), []byte("[")) || json.Unmarshal(content, &want) != nil {
			return
		}
		same := slices.EqualFunc(got, want, func(a []byte, b json.RawMessage) bool {
			return bytes.Equal(a, bytes.TrimSpace(b))
		})
		if !same || rejects > 0 {
			t.Fatalf("%q is %q with %d rejects, want %q", content, got, rejects, want)
		}
	})
}
