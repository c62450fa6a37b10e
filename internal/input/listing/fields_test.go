package listing

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/job"
)

// TestChooseFields: records say which fields they have, and what is given or usual stays.
func TestChooseFields(t *testing.T) {
	long := strings.Repeat("a long text of many words ", 4)
	text, both := []string{"text_field"}, []string{"id_field", "text_field"}
	for name, c := range map[string]struct {
		content string
		give    func(*job.Config)
		want    func(*job.Config)
		chosen  []string
	}{
		"usual":        {content: `{"id":"1","text":"x","content":"y"}`},
		"content":      {`{"_id":"1","content":"x"}`, nil, texts("content", "_id"), both},
		"object as id": {`{"_id":{"$oid":"1"},"body":"x"}`, nil, texts("body", "_id.$oid"), both},
		"capitals":     {`{"ID":"1","Text":"x"}`, nil, texts("Text", "ID"), both},
		"full text":    {`{"id":"1","text":"x","full_text":"xy"}`, nil, texts("full_text", "id"), text},
		"chat": {
			`{"id":"1","messages":[{"role":"user","content":"x"}]}`, nil, texts("messages.content", "id"), text,
		},
		"chat in parts": {
			`{"id":"1","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`, nil,
			texts("messages.content.text", "id"), text,
		},
		"questions": {
			`{"id":"1","context":"` + long + `","question":"x","answers":{"text":["y"],"answer_start":[1]}}`, nil,
			func(c *job.Config) { c.Weight = map[string]float64{"question": 1, "answers.text": 1} },
			[]string{"weight"},
		},
		"shared chat": {
			`{"id":"1","conversations":[{"from":"human","value":"x"}]}`, nil, texts("conversations.value", "id"), text,
		},
		"elasticsearch":   {`{"_id":"1","_source":{"body":"x"}}`, nil, texts("_source.body", "_id"), both},
		"longest":         {`{"id":"1","remark":"` + long + `","name":"ab"}`, nil, texts("remark", "id"), text},
		"two long fields": {content: `{"id":"1","remark":"` + long + `","notes":"` + long + `"}`},
		"short fields":    {content: `{"id":"1","name":"ab"}`},
		"given": {
			`{"content":"x","remark":"y"}`, func(c *job.Config) { c.Give("text_field") },
			func(*job.Config) {}, nil,
		},
		"instructions": {`{"id":"1","instruction":"x","input":"","output":"y"}`, nil, func(c *job.Config) {
			c.Weight = map[string]float64{"instruction": 1, "input": 1, "output": 1}
		}, []string{"weight"}},
		"preferences": {`{"prompt":"x","chosen":"y","rejected":"z"}`, nil, func(c *job.Config) {
			c.Weight = map[string]float64{"prompt": 1, "chosen": 1}
		}, []string{"weight"}},
		"preferences among conversations": {content: `{"prompt":[{"role":"user","content":"x"}],` +
			`"chosen":[{"role":"a","content":"y"}]}`, want: func(c *job.Config) {
			c.Weight = map[string]float64{"prompt.content": 1, "chosen.content": 1}
		}},
		"preference, whole": {`{"chosen":"y","rejected":"z"}`, nil, texts("chosen", "id"), []string{"text_field"}},
		"no header":         {content: `{"1":"x","` + long + `":"` + long + `"}`},
		"page": {`{"id":"1","html":"<p>x"}`, nil, func(c *job.Config) {
			c.TextField, c.TextFormat = "html", webtext.HTML
		}, []string{"text_field", "text_format"}},
		"list in an object": {`{"n":1,"data":[{"id":"1","text":"x"}],"more":2}`, nil, func(c *job.Config) {
			c.Records = "data"
		}, []string{"records"}},
		"deeper list": {
			"{\n" + `"hits":{"total":1,"hits":[{"_id":"1","_source":{"body":"x"}}]}}`, nil,
			func(c *job.Config) {
				c.Records, c.TextField, c.IDField = "hits.hits", "_source.body", "_id"
			},
			[]string{"records", "id_field", "text_field"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			config := job.Default()
			config.Input, config.Output = []string{filepath.Join(folder, "a.jsonl")}, filepath.Join(folder, "out")
			if err := os.WriteFile(config.Input[0], []byte(c.content+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			if c.give != nil {
				c.give(&config)
			}
			want := config
			if c.want != nil {
				c.want(&want)
			}
			inputs, _, _ := Inputs(t.Context(), &config) // some have no field to read
			if c.chosen != nil && !slices.Equal(inputs.Fields, c.chosen) {
				t.Errorf("chosen are %q, want %q", inputs.Fields, c.chosen)
			}
			for i, setting := range job.SettingsOf(&config) {
				if expected := job.SettingsOf(&want)[i]; !equal(setting, expected) {
					t.Errorf("%s is %v, want %v", setting.Name, setting.Value, expected.Value)
				}
			}
		})
	}
}

func texts(text, id string) func(*job.Config) {
	return func(c *job.Config) { c.TextField, c.IDField = text, id }
}

func equal(a, b job.Setting) bool {
	return reflect.DeepEqual(a.Value.Interface(), b.Value.Interface())
}
