package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"mirrorbeam.dev/internal/inspect/difference"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/warnings"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/internal/util/goldentest"
)

// small is a run over testdata/in.jsonl, whose ids and texts try to be more than texts.
func small(t testing.TB) *finished.Folder {
	t.Helper()
	f, err := finished.Open("testdata/run")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// watch is the second run of a watch over sites, one of whose pages has an address that tries to be more than that.
func watch(t testing.TB) *finished.Folder {
	t.Helper()
	f, err := finished.Open("testdata/sites")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// build returns the figures of a folder.
func build(t testing.TB, f *finished.Folder, options Options) *Figures {
	t.Helper()
	figures, err := Build(t.Context(), f, options)
	if err != nil {
		t.Fatal(err)
	}
	return figures
}

// page returns the page of some figures.
func page(t testing.TB, f *Figures) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checkGolden compares a value with a file.
func checkGolden(t *testing.T, name string, value any) {
	t.Helper()
	got, err := json.MarshalIndent(value, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	goldentest.File(t, filepath.Join("testdata", name), string(got)+"\n")
}

func TestFigures(t *testing.T) {
	f := small(t)
	checkGolden(t, "figures.json", build(t, f, Options{}))
	checkGolden(t, "hidden.json", build(t, f, Options{HideIDs: true}))
	checkGolden(t, "sites.json", build(t, watch(t), Options{Texts: NoTexts}))
	checkGolden(t, "hiddensites.json", build(t, watch(t), Options{HideIDs: true}))
}

// TestInBucket: results in a bucket give the same page.
func TestInBucket(t *testing.T) {
	_, folder := storagetest.NewMemory(t)
	paths, err := filepath.Glob("testdata/run/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err == nil {
			err = storage.WriteFile(storage.Join(folder, filepath.Base(path)), content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	there, err := finished.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	got, want := build(t, there, Options{}), build(t, small(t), Options{})
	want.Run.Folder = folder
	if page(t, got) != page(t, want) {
		t.Error("the pages differ")
	}
}

// TestHidden: nothing of the input, not even a part of a name, is in a page that hides names.
func TestHidden(t *testing.T) {
	f := small(t)
	f.Summary.Config.Keep, f.Summary.Config.StopWords = "rank:/home/me/ranks", "/home/me/words"
	secrets := []string{
		"doc-0", "chain-", "secret", "bad&", "example", "hacked", "in.jsonl", "testdata", "moved-",
		"long-", "gnp", "alone", "river", "is null", "home/me",
	}
	text := page(t, build(t, f, Options{HideIDs: true}))
	for _, secret := range secrets {
		if at := strings.Index(text, secret); at >= 0 {
			t.Errorf("a page shows %q: %s", secret, text[max(at-80, 0):min(at+80, len(text))])
		}
	}
	hidden := page(t, build(t, watch(t), Options{HideIDs: true}))
	for _, secret := range []string{
		"example", "examp1e", ".test", "site.org", ".net", "first.jsonl", "protected.txt",
		"rank.csv", "883283ce00a14f00", "ec0a663f0edaa319", "=state",
	} {
		if at := strings.Index(hidden, secret); at >= 0 {
			t.Errorf("a page of sites shows %q: %s", secret, hidden[max(at-80, 0):min(at+80, len(hidden))])
		}
	}
	if whole := page(t, build(t, f, Options{})); !strings.Contains(whole, "doc-0") ||
		!strings.Contains(whole, "river") {
		t.Error("the page that hides nothing lacks names or texts")
	}
}

// TestWarnings: each kind of warning has a place on the page, and a text without names.
func TestWarnings(t *testing.T) {
	for _, topic := range warnings.Kinds {
		if topic.Place == "" || topic.Text == "" {
			t.Errorf("%+v", topic)
		}
	}
}

// TestWholeSimilarity: where common shingles do not count, the similarity by all of them is next to the pair's.
func TestWholeSimilarity(t *testing.T) {
	f := build(t, small(t), Options{Texts: NoTexts})
	const heading = ">by all shingles<"
	if strings.Contains(page(t, f), heading) {
		t.Error("a page of whole documents has a column for it")
	}
	f.Run.Partial, f.Pairs[0].Whole = true, 0.8765
	text := page(t, f)
	for _, want := range []string{heading, `data-v="0.8765">0.876<`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// TestEveryCount: the page shows each count, whichever are declared.
func TestEveryCount(t *testing.T) {
	f := build(t, small(t), Options{Texts: NoTexts})
	f.Counts.PassedOver = map[string]int64{".exe": 0}
	n := int64(1_000_000)
	for _, value := range reflect.ValueOf(&f.Counts).Elem().Fields() {
		if n += 123_456; value.CanInt() {
			value.SetInt(n)
		} else {
			f.Counts.PassedOver[".exe"] = n
		}
	}
	text := page(t, f)
	for _, figure := range findings.Figures(f.Counts) {
		want := count(figure.Value)
		if figure.IsBytes {
			want = size(figure.Value)
		}
		if !strings.Contains(text, ">"+want) {
			t.Errorf("the page lacks %s, %s", want, figure.Label)
		}
	}
}

// elements returns how often a page has each element, and its attributes that make a request or run something.
func elements(t testing.TB, page string) (names map[string]int, active []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	names = map[string]int{}
	for node := range root.Descendants() {
		if node.Type != html.ElementNode {
			continue
		}
		names[node.Data]++
		for _, a := range node.Attr {
			isLocal := a.Key == "href" && (strings.HasPrefix(a.Val, "#") || a.Val == "data:,")
			if strings.HasPrefix(a.Key, "on") ||
				slices.Contains([]string{"href", "src", "srcset", "action", "style", "srcdoc"}, a.Key) && !isLocal {
				active = append(active, node.Data+" "+a.Key+"="+a.Val)
			}
		}
	}
	return names, active
}

func TestInert(t *testing.T) {
	testInert(t, page(t, build(t, small(t), Options{})))
	testInert(t, page(t, build(t, watch(t), Options{})))
}

// testInert looks at one page.
func testInert(t *testing.T, text string) {
	t.Helper()
	names, active := elements(t, text)
	if names["script"] != 2 || names["style"] != 1 || names["img"]+names["iframe"]+names["object"]+names["form"] > 0 ||
		len(active) > 0 {
		t.Errorf("elements %v, active %v", names, active)
	}
	for _, r := range text {
		if isHostile(r) {
			t.Errorf("the page has the character %U", r)
		}
	}
	// What the browser will run is what the policy allows.
	for _, element := range []struct{ begin, end string }{{"<style>", "</style>"}, {"<script>", "</script>"}} {
		_, rest, _ := strings.Cut(text, element.begin)
		content, _, _ := strings.Cut(rest, element.end)
		if !strings.Contains(policy, "'"+hashOf(content)+"'") {
			t.Errorf("the policy does not name the hash of what is in %s", element.begin)
		}
	}
	if is, err := workspace.IsPage(strings.TrimPrefix(writeTo(t, "page.html", []byte(text)), "file://")); err != nil ||
		!is {
		t.Errorf("the page cannot be told from other files: %v", err)
	}
}

// FuzzInert: whatever names and texts are, they add no element and no attribute to a page, and the figures stay JSON.
func FuzzInert(f *testing.F) {
	for _, hostile := range []string{
		"plain", "</script><script>", `"><img src=x onerror=y>`, "\u202e<!--", "\xff\x00",
		"`${x}`", "{{.}}", "</title><b>",
	} {
		f.Add(hostile)
	}
	figures := build(f, small(f), Options{Texts: NoTexts})
	figures.Clusters, figures.Pairs, figures.Nearest = figures.Clusters[:1], figures.Pairs[:1], nil
	config := small(f).Summary.Config
	sites := build(f, watch(f), Options{Texts: NoTexts})
	figures.Sites, figures.Changes = sites.Sites, sites.Changes
	plain, err := json.Marshal(figures)
	if err != nil {
		f.Fatal(err)
	}
	shape := func(t *testing.T, text string) map[string]int {
		var copied Figures
		if err := json.Unmarshal(plain, &copied); err != nil {
			t.Fatal(err)
		}
		copied.Run.Folder = text
		copied.Run.Command = text
		copied.Clusters[0].Name = text
		copied.Clusters[0].Documents[0].ID = text
		copied.Pairs[0].A, copied.Sources[0].Source, copied.Rejects[0].Error = text, text, text
		copied.Alerts = append(copied.Alerts, Alert{Kind: "one_pair", Text: text, Help: text, Place: "clusters"})
		side := text + " a b c"
		copied.Pairs[0].Texts = difference.SideBySide(side, side, config.Shingle, config.Tokens, difference.Brief())
		s, group, change := &copied.Sites.Suspects[0], &copied.Sites.Largest[0], &copied.Changes.Rows[0]
		s.Site = text
		s.Protected = text
		s.Reasons = []string{text}
		s.How = text
		s.FirstSeen = text
		s.Page = text
		s.Original = text
		copied.Sites.Mirrors[0].A, copied.Sites.Mirrors[0].Kind, group.Primary, group.Others[0] = text, text, text, text
		copied.Sites.Kinds[text], change.Name, change.Change = 1, text, text
		copied.PassedOver = map[string]int64{text: 1}
		written := page(t, &copied)
		names, active := elements(t, written)
		if len(active) > 0 {
			t.Errorf("%q adds %v", text, active)
		}
		_, rest, _ := strings.Cut(written, `id="figures">`)
		encoded, _, _ := strings.Cut(rest, "</script>")
		var back Figures
		if err := json.Unmarshal([]byte(encoded), &back); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(text, "\ufffd"); strings.ToValidUTF8(text, "") == text &&
			back.Clusters[0].Name != want {
			t.Errorf("%q has become %q", text, back.Clusters[0].Name)
		}
		for _, name := range []string{"mark", "button", "span"} { // their number follows from the length of the text
			delete(names, name)
		}
		return names
	}
	var want map[string]int
	f.Fuzz(func(t *testing.T, text string) {
		if want == nil {
			want = shape(t, "x")
		}
		if text == "" {
			return // then there is no folder to name
		}
		if got := shape(t, text); !maps.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	})
}
