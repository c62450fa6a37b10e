package warnings_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/warnings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline"
)

// TestMain makes whole jobs of tests fast and silent.
func TestMain(m *testing.M) { storagetest.Main(m) }

// corpus is a folder of files of documents, whose ids are their numbers.
type corpus struct {
	folder string
	random *rand.Rand
	made   int
}

func newCorpus(t *testing.T) *corpus {
	return &corpus{folder: t.TempDir(), random: rand.New(rand.NewPCG(12, 1))}
}

// text makes a text.
func (c *corpus) text(words int) string {
	all := make([]string, words)
	for i := range all {
		all[i] = fmt.Sprint("w", c.random.IntN(600))
	}
	return strings.Join(all, " ")
}

// put writes a file. Site is a further field of each document in JSON, unless it is empty.
func (c *corpus) put(t *testing.T, name string, texts []string, site func(i int) string) {
	t.Helper()
	var b strings.Builder
	for i, text := range texts {
		more := ""
		if site != nil {
			more = `,"site":` + site(i)
		}
		c.made++
		fmt.Fprintf(&b, "{\"id\":\"doc-%d\",\"text\":%q%s}\n", c.made, text, more)
	}
	if err := os.WriteFile(filepath.Join(c.folder, name), []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// run runs a job by exact keys and returns its warnings.
func (c *corpus) run(t *testing.T, change func(*job.Config)) []warnings.Warning {
	t.Helper()
	config := job.Default()
	config.Input, config.Output, config.Keys = []string{c.folder}, filepath.Join(t.TempDir(), "out"), methods.Exact
	config.Emit = []string{output.Clusters, output.Removed}
	change(&config)
	summary, err := pipeline.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return summary.Warnings
}

// TestJobs: each of the things that a user may want to know of is told once, with the flag that helps: a source that is
// all in another one, pages of one template, two families of documents that one pair joins, and a field of addresses.
func TestJobs(t *testing.T) {
	c := newCorpus(t)
	var texts, pages, families, addresses []string
	for i := range 60 {
		texts = append(texts, c.text(60))
		families = append(families, fmt.Sprint(c.text(30), i)) // like no other
	}
	template := c.text(100)
	for range 150 {
		pages = append(pages, template+" "+c.text(8))
	}
	// Neighbours in this list of parts have more than four fifths of their shingles in common, others less.
	words := strings.Fields(c.text(120))
	for i, part := range [][]string{words[:100], words[:108], words[11:], words[20:]} {
		families = append(families, strings.Join(part, " "))
		for copied := range 30 {
			if i == 0 || i == 3 {
				families = append(families, fmt.Sprintf("%s %d", strings.Join(part, " "), copied))
			}
		}
	}
	for i := range 1000 {
		addresses = append(addresses, fmt.Sprintf("https://example.org/%d/%s", i, c.text(1)))
	}
	c.put(t, "first.jsonl", texts, nil)
	c.put(t, "families.jsonl", families, nil)
	c.put(t, "pages.jsonl", pages, nil)
	c.put(t, "second.jsonl", texts, nil)
	c.put(t, "sites.jsonl", addresses, nil)
	want := []warnings.Warning{
		{
			Kind: warnings.LargeCluster,
			Text: "cluster doc-185 has 150 of 1394 documents, such as doc-185 and doc-186",
			Flag: "--common auto, --threshold 0.9, --split star",
			A:    "doc-185",
			B:    "doc-186",
		},
		{
			Kind: warnings.TextField,
			Flag: "--text-field",
			Text: "the text, field text, is a web address in 1000 of 1394 records: the texts may be in another field",
		},
		{
			Kind: warnings.SourceLoss,
			Flag: "--common auto, --threshold 0.9, --split star",
			Text: "pages.jsonl loses 149 of its 150 documents; 150 are like others of the same source",
		},
		{
			Kind: warnings.SourceLoss,
			Flag: "--input",
			Text: "second.jsonl loses 60 of its 60 documents; 60 have near-duplicates in first.jsonl, which may contain the same data",
		},
	}
	found, got := c.run(t, func(*job.Config) {}), map[warnings.Kind]int{}
	for i, warning := range found {
		if got[warning.Kind]++; i < len(want) && warning != want[i] {
			t.Errorf("warning %+v, want %+v", warning, want[i])
		}
	}
	if !reflect.DeepEqual(got, map[warnings.Kind]int{
		warnings.LargeCluster:   1,
		warnings.TextField:      1,
		warnings.SourceLoss:     2,
		warnings.LikelyTemplate: 1,
		warnings.OnePair:        1,
	}) {
		t.Errorf("warnings %+v", found)
	}
	last := found[len(found)-1]
	if !strings.Contains(last.Text, "of 64 documents is held together by one pair") ||
		!strings.Contains(last.Text, "without it, 32 of them") || last.Flag != "--split star" {
		t.Errorf("warning %+v", last)
	}
	// With stars there are no chains.
	for _, warning := range c.run(t, func(c *job.Config) { c.Split = keep.Star }) {
		if warning.Kind == warnings.OnePair || strings.Contains(warning.Flag, "--split") {
			t.Errorf("with stars: %+v", warning)
		}
	}
}

// TestSourceField warns of a source that is all in another one, though both are in one file.
func TestSourceField(t *testing.T) {
	c := newCorpus(t)
	var texts []string
	for range 60 {
		text := c.text(60)
		texts = append(texts, text, text)
	}
	c.put(t, "a.jsonl", texts, func(i int) string { return []string{`"first"`, `"second\u001b[1m"`}[i%2] })
	want := []warnings.Warning{{
		Kind: warnings.SourceLoss,
		Flag: "--keep rank:FILE",
		Text: "second\x1b[1m loses 60 of its 60 documents; 60 have near-duplicates in first, which may contain the same data",
	}}
	if got := c.run(t, func(c *job.Config) { c.SourceField = "site" }); !slices.Equal(got, want) {
		t.Errorf("warnings %+v, want %+v", got, want)
	}
}

// TestPresetOfJob: code with one header is told of, with the two files that are least alike. Equal files do not count.
func TestPresetOfJob(t *testing.T) {
	c := newCorpus(t)
	header := "// " + c.text(100) + "\n"
	for i := range 60 {
		code := header + "package a\n\nfunc f() { " + c.text(8+i%4) + " }\n"
		if i%10 == 0 {
			code = c.text(100)
		}
		if err := os.WriteFile(filepath.Join(c.folder, fmt.Sprintf("%02d.go", i)), []byte(code), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text := func(c *job.Config) { c.Input, c.Format = []string{c.Input[0] + "/*.go"}, "text" }
	var proposed []warnings.Warning
	for _, w := range c.run(t, text) {
		if w.Kind == warnings.OtherPreset {
			proposed = append(proposed, w)
		}
	}
	if len(proposed) != 1 || !strings.HasPrefix(proposed[0].Text, "60 of 60 documents are program code") ||
		proposed[0].Flag != "--preset code" ||
		!strings.HasSuffix(proposed[0].A, ".go") || !strings.HasSuffix(proposed[0].B, ".go") {
		t.Errorf("%+v", proposed)
	}
	for _, w := range c.run(t, func(c *job.Config) { text(c); c.Code.Language = "go" }) {
		t.Errorf("with --code: %+v", w)
	}
}

// TestTitlesOfJob: pages of one text and several titles are told of, wherever they stand: in files, in archives, in
// fields.
func TestTitlesOfJob(t *testing.T) {
	c := newCorpus(t)
	text := c.text(60)
	page := func(title string) string {
		return "<html><head><title>" + title + "</title></head><body><p>" + text + "</p></body></html>"
	}
	pages := map[string]string{
		"a": page("Fox 1.0"),
		"b": page("Fox 2.0"),
		"c": page("Crow"),
		"d": "<html><body><p>" + text + "</p></body></html>",
	}
	var archive strings.Builder
	var lines []string
	for _, name := range []string{"a", "b", "c", "d"} {
		if err := os.WriteFile(filepath.Join(c.folder, name+".html"), []byte(pages[name]), 0o666); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&archive,
			"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <%s.html>\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", name, len(pages[name]), pages[name])
		lines = append(lines, fmt.Sprintf(`{"id":"%s.html","text":%q}`, name, pages[name]))
	}
	for name, content := range map[string]string{
		"pages.warc":  archive.String(),
		"pages.jsonl": strings.Join(lines, "\n"),
	} {
		if err := os.WriteFile(filepath.Join(c.folder, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, input := range []string{"*.html", "pages.warc", "pages.jsonl"} {
		for _, within := range []string{"", "title_words"} {
			got := c.run(t, func(config *job.Config) {
				config.Input = []string{filepath.Join(c.folder, input)}
				config.Within = within
				config.HTMLText = webtext.Main
				if input == "pages.jsonl" {
					config.TextFormat = webtext.HTML
				}
			})
			if within != "" {
				if len(got) > 0 {
					t.Errorf("%s within titles: %+v", input, got)
				}
				continue
			}
			if len(got) != 1 || got[0].Kind != warnings.OtherTitle ||
				!strings.HasPrefix(got[0].Text, "1 of 3 removed documents") ||
				!strings.HasSuffix(got[0].A, "c.html") || !strings.HasSuffix(got[0].B, "a.html") ||
				!strings.Contains(got[0].Text, `"Crow"`) || !strings.HasSuffix(got[0].Text, `"Fox"`) {
				t.Errorf("%s: %+v", input, got)
			}
		}
	}
}

// TestMarkupOfJob: pages in a field are counted by how they begin.
func TestMarkupOfJob(t *testing.T) {
	c := newCorpus(t)
	var texts []string
	for range 20 {
		texts = append(texts, " <!DOCTYPE HTML><p>"+c.text(60), "<p>"+c.text(60))
	}
	c.put(t, "pages.jsonl", texts, nil)
	got := c.run(t, func(*job.Config) {})
	if len(got) != 1 || got[0].Kind != warnings.Markup || !strings.HasPrefix(got[0].Text, "20 of 40 records") {
		t.Errorf("%+v", got)
	}
	if got := c.run(t, func(c *job.Config) { c.TextFormat = webtext.HTML }); len(got) != 0 {
		t.Errorf("with the texts of pages: %+v", got)
	}
}

// TestVariantsOfJob: records of one form are told of, and versions are not, whatever the files are.
func TestVariantsOfJob(t *testing.T) {
	for _, form := range []string{"%[1]s is a part of %[1]s. ", "%[2]s ends it. "} {
		c := newCorpus(t)
		var lines bytes.Buffer
		for i := range 40 {
			text := c.text(60)
			for part := range 2 {
				one := fmt.Sprintf(form, fmt.Sprintf("name%d%c", i, 'a'+part), fmt.Sprint("word", part)) + text
				fmt.Fprintf(&lines, "{\"id\":\"d%d-%d\",\"text\":%q}\n", i, part, one)
				name := filepath.Join(c.folder, fmt.Sprintf("%d-%d.txt", i, part))
				if err := os.WriteFile(name, []byte(one), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(lines.Bytes()); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		for name, content := range map[string][]byte{"plain.jsonl": lines.Bytes(), "packed.jsonl.gz": packed.Bytes()} {
			if err := os.WriteFile(filepath.Join(c.folder, name), content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, input := range []string{"plain.jsonl", "packed.jsonl.gz", "*.txt"} {
			isTold := slices.ContainsFunc(c.run(t, func(config *job.Config) {
				if config.Input = []string{filepath.Join(c.folder, input)}; input == "*.txt" {
					config.Format = "text"
				}
			}), func(w warnings.Warning) bool { return w.Kind == warnings.Variants })
			if isVariants := strings.Contains(form, "part"); isTold != isVariants {
				t.Errorf("%s of %q: told of variants: %t", input, form, isTold)
			}
		}
	}
}
