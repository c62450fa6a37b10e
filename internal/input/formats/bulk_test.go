package formats

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
)

// TestBulk: an action and its document are a record, which has the id of the action unless the document has its own.
// What is no pair is a reject.
func TestBulk(t *testing.T) {
	const content = `{"index": {"_index": "a", "_id": "x\"0"}}
{"text": "one", "b": 1}
{ "create" : {"_id": 7} }
{"text": "two"}
{"delete": {"_id": "z"}}

{"index":{}}
{"id": "own", "text": "three"}
{"text": "alone"}
{"index":{"_id":"9"}}
{"text":"four"}`
	want := []string{`0 x"0 one `, "66 7 two ", "134 own three ", "178   the line is no action", "196 9 four "}
	for _, stored := range []string{content, strings.ReplaceAll(content, "\n", "\r\n")} {
		file := list(t, map[string]string{"a.ndjson": stored})[0]
		if file.Format != corpus.Bulk {
			t.Fatal(file.Format)
		}
		var got []string
		for _, d := range documentsIn(t, file, idAndText, 1000) {
			got = append(got, fmt.Sprintf("%d %s %s %s", d.position, d.id, d.texts, d.fault))
		}
		if stored == content && !slices.EqualFunc(got, want, strings.HasPrefix) || len(got) != len(want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	record := []byte("{\"index\":{\"_id\":\"1\"}}\n{\"text\":\"0123\"}\n")
	definition, w := corpus.Bulk.Definition(), wanted(idAndText)
	cut, err := definition.Cutter(w).Cut(nil, nil, record, []corpus.Cut{{Begin: 1, End: 2}})
	if err != nil || string(cut) != "{\"index\":{\"_id\":\"1\"}}\n{\"text\":\"023\"}\n" {
		t.Errorf("%q, %v", cut, err)
	}
	if got := string(definition.Annotator(w).Record(nil, record,
		corpus.Annotation{Size: 1, Kept: true})); !strings.HasPrefix(got,
		"{\"index\":{\"_id\":\"1\"}}\n{\"text\":\"0123\",\"cluster\":null") || !strings.HasSuffix(got, "}\n") {
		t.Errorf("%q", got)
	}
	for _, other := range []string{`{"index": {"a": 1}, "text": "x"}` + "\n", `{"indexed": {}}` + "\n"} {
		if got := list(t, map[string]string{"a.jsonl": other})[0].Format; got != corpus.JSONLines {
			t.Errorf("%q is %v", other, got)
		}
	}
}
