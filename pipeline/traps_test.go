package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
)

// trap is a corpus of a few documents, and the pairs that a job must find in it.
type trap struct {
	name string
	// lines are the documents in JSON. Those that are no JSON are texts, whose ids are their numbers.
	lines []string
	// references are documents of the reference.
	references []string
	// change is what the configuration has in addition to the usual settings, in JSON. STOP stands for a list of "the"
	// and "of".
	change string
	// keys are the methods that find the pairs, exact ones if there are none.
	keys []methods.Name
	// want are the pairs, a-b with spaces between them, and gone the removed documents and those they go for, if that
	// matters.
	want, gone string
}

const (
	poem      = "床前明月光疑是地上霜举头望明月低头思故乡白日依山尽黄河入海流欲穷千里目更上一层楼"
	otherPoem = "春眠不觉晓处处闻啼鸟夜来风雨声花落知多少千山鸟飞绝万径人踪灭孤舟蓑笠翁独钓寒江雪"
	verse     = "and the evening and the morning were the first day"
	passage   = "a passage of forty words that somebody else has written, and that stands in the middle of two texts which have nothing else in common, " +
		"so that it is a row if quotations count and is none if they do not"
)

// count returns words that no two calls with other letters have in common.
func count(letter string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprint(&b, letter, i, " ")
	}
	return b.String()
}

// measured are records with all possible parts of a document.
var measured = []string{
	`{"id":"a","title":"some title of a page","text":"one two three four five six seven eight nine ten","features":{"x":1,"y":2,"z":3}}`,
	`{"id":"b","text":"one the two the three the four the five the six the seven the eight the nine the ten","features":{"x":3,"y":1,"z":1}}`,
	`{"id":"c","text":"o'n-e two thr-ee four fi-ve six sev-en eight ni-ne ten","features":{"x":1}}`,
	`{"id":"d","title":"some title of a page","text":"another text","features":{"z":1,"w":1}}`,
	`{"id":"e","text":"the of","features":{}}`,
	`{"id":"f","text":"of the","features":{}}`,
}

// verses are short documents and long ones that are nearly equal.
var (
	verses = []string{
		verse, verse + " of all", "And the evening, and the morning, were the first day.",
		count("w", 40), count("w", 40) + "more",
	}
	ofSets      = []methods.Name{methods.Exact, methods.MinHash, methods.All}
	quotingText = []string{
		count("a", 100) + passage + count("b", 50),
		count("c", 100) + "“" + passage + "” " + count("d", 50),
	}
)

// traps are the cases that are easily got wrong. A document without shingles is not like every other one without. A
// document shorter than a shingle is compared as a whole.
var traps = []trap{
	{name: "one document", lines: []string{"one two three four"}},
	{name: "four kinds of nothing", lines: []string{"", " ", "\n", "..."}},
	{name: "the same nothing twice", lines: []string{"", " ", "...", " ", "", "...."}, want: "0-4 1-3"},
	{name: "two words and two others", lines: []string{"one two", "quite different"}},
	{name: "two words in another dress", lines: []string{"one two", "quite different", "One, two!"}, want: "0-2"},
	{name: "two words the other way round", lines: []string{"one two", "two one"}},
	{name: "two words of three", lines: []string{"one two", "one two three", "one"}},
	{name: "one word", lines: []string{"one", "two", "ONE.", "once"}, want: "0-2"},
	{name: "one word and nothing", lines: []string{"one", "", "..."}},
	{
		name:  "Chinese: one character in forty",
		lines: []string{poem, otherPoem, strings.Replace(poem, "山", "海", 1)},
		want:  "0-2",
	},
	{
		name:  "Chinese: punctuation only",
		lines: []string{poem, strings.Replace(poem, "疑", "，疑", 1) + "。", otherPoem},
		want:  "0-1",
	},
	{name: "Chinese: one character", lines: []string{"光", "月", "光。"}, want: "0-2"},
	{name: "short ones count", lines: verses, change: `{"threshold":0.7}`, keys: ofSets, want: "0-1 0-2 3-4"},
	{
		name:   "equal short ones count",
		lines:  verses,
		change: `{"threshold":0.7,"min_shingles":20}`,
		keys:   ofSets,
		want:   "0-2 3-4",
	},
	{name: "as it is", lines: measured},
	{name: "stop words removed", lines: measured, change: `{"stopwords":"STOP"}`, want: "a-b"},
	{name: "punctuation removed", lines: measured, change: `{"normalize":"punctuation"}`, want: "a-c"},
	{name: "both removed", lines: measured, change: `{"normalize":"punctuation","stopwords":"STOP"}`, want: "a-b a-c"},
	{
		name:   "stop words required",
		lines:  measured,
		change: `{"stopwords":"STOP","stopwords_use":"require","threshold":0.3}`,
	},
	{name: "titles", lines: measured, change: `{"weight":{"title":2,"text":1},"threshold":0.2}`, want: "a-d"},
	{name: "features", lines: measured, change: `{"features":"features"}`, want: "a-b"},
	{name: "some features", lines: measured, change: `{"features":"features","threshold":0.25}`, want: "a-b a-c a-d"},
	{
		name:   "quotations are passages",
		lines:  quotingText,
		change: `{"similarity":"containment","threshold":0.4,"excerpt":20}`,
		keys:   []methods.Name{methods.Auto},
		want:   "0-1",
	},
	{
		name:   "quotations are none",
		lines:  quotingText,
		change: `{"similarity":"containment","threshold":0.4,"excerpt":20,"no_quotations":true}`,
		keys:   []methods.Name{methods.Auto},
	},
	{
		name:   "other fields",
		change: `{"id_field":"name","text_field":"body"}`,
		want:   "x-y",
		lines: []string{
			`{"name":"x","body":"one two three","text":"decoy","id":"1"}`,
			`{"name":"y","body":"One, two, three","text":"other","id":"2"}`,
			`{"name":"z","body":"more","text":"decoy"}`,
		},
	},
	{
		name:   "no ids",
		change: `{"id_field":""}`,
		lines:  []string{`{"id":"1","text":"one"}`, `{"id":"1","text":"One"}`},
		want:   "x.jsonl:0-x.jsonl:24",
	},
	{
		// Two documents of the input that are alike are a pair, though each is equal to one of the reference.
		name: "pairs of known documents",
		keys: []methods.Name{methods.Exact, methods.MinHash, methods.All, methods.SimHash},
		references: []string{
			`{"id":"r1","text":"` + count("w", 200) + `"}`,
			`{"id":"r2","text":"` + count("w", 190) + `a b"}`,
		},
		lines: []string{
			`{"id":"x1","text":"` + count("w", 200) + `"}`,
			`{"id":"x2","text":"` + count("w", 190) + `a b"}`,
		},
		want: "r1-x1 r1-x2 r2-x2",
		gone: "x1-r1 x2-r2",
	},
	{
		// 2 is kept between 1 and its copy 3, and is more like them than 0.
		name:   "a copy of a removed document",
		lines:  []string{"a b c d e f g h", "c d e f g h i j", "e f g h i j x", "c d e f g h i j"},
		change: `{"threshold":0.3}`,
		keys:   ofSets,
		want:   "0-1 1-2 1-3",
		gone:   "1-0 3-2",
	},
}

// TestTraps finds the pairs of each trap.
func TestTraps(t *testing.T) {
	stop := put(t, filepath.Join(t.TempDir(), "stop.txt"), []byte("# English\nthe\nof\n"), plain)
	for _, c := range traps {
		if len(c.keys) == 0 {
			c.keys = []methods.Name{methods.Exact}
		}
		for _, keys := range c.keys {
			t.Run(fmt.Sprint(c.name, " by ", keys), func(t *testing.T) {
				folder := putCorpus(t, plain, file{"r.jsonl", trapped(c.references)}, file{"x.jsonl", trapped(c.lines)})
				config := byKeys(testConfig(t, filepath.Join(folder, "x.jsonl")), keys)
				if config.Emit = []string{output.Pairs, output.Removed}; strings.Contains(c.change, "containment") {
					config.Emit = []string{output.Pairs}
				}
				if keys == methods.SimHash {
					config.Score, config.Hamming = methods.Jaccard, 16
				}
				if c.references != nil {
					config.Reference = []string{filepath.Join(folder, "r.jsonl")}
				}
				if err := json.Unmarshal([]byte(cmp.Or(strings.ReplaceAll(c.change, "STOP", stop), "{}")),
					&config); err != nil {
					t.Fatal(err)
				}
				if n := runJob(t, config).Counts; n.Documents != int64(len(c.lines)) || n.Rejected != 0 {
					t.Errorf("counts %+v: all %d are documents", n, len(c.lines))
				}
				var got, gone []string
				for _, row := range decodeLoose[pairRow](t, readOutput(t, config.Output, output.Pairs)) {
					got = append(got, row.A+"-"+row.B)
				}
				if !slices.Equal(got, strings.Fields(c.want)) {
					t.Errorf("pairs %q, want %q", got, c.want)
				}
				if c.gone == "" {
					return
				}
				for _, row := range readRows[removedRow](t, config.Output, output.Removed) {
					if gone = append(gone, row.ID+"-"+row.KeptID); c.references != nil &&
						(!row.Reference || row.Similarity != 1) {
						t.Errorf("%+v", row)
					}
				}
				if !slices.Equal(gone, strings.Fields(c.gone)) {
					t.Errorf("removed %q, want %q", gone, c.gone)
				}
			})
		}
	}
}

// trapped returns the lines of a trap.
func trapped(texts []string) (lines []line) {
	for i, text := range texts {
		if !strings.HasPrefix(text, "{") {
			raw, err := json.Marshal(map[string]string{"id": fmt.Sprint(i), "text": text})
			if err != nil {
				panic(err)
			}
			text = string(raw)
		}
		lines = append(lines, line{raw: text})
	}
	return lines
}
