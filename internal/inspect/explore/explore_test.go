package explore

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/inspect/explain"
	"mirrorbeam.dev/internal/inspect/recut"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/browsertest"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline"
)

// served runs a job over families of texts, among them mark-up as a page would have it, and serves its results for the
// rest of the test.
func served(t *testing.T) *Server {
	t.Helper()
	folder := t.TempDir()
	for _, source := range []string{"a", "b"} {
		var lines strings.Builder
		for family := range 70 {
			words := make([]string, 60)
			for i := range words {
				words[i] = fmt.Sprintf("w%dx%d", family, i)
			}
			for member := range 2 + family%2 {
				words[member*7] = source + fmt.Sprint("changed", member)
				text := strings.Join(words, " ")
				if family == 0 {
					text = "<img src=x onerror=hacked=1> \u202e" + text
				}
				id := fmt.Sprintf("%s-%d-%d", source, family, member)
				encoded, _ := json.Marshal(map[string]string{"id": id, "text": text})
				lines.Write(append(encoded, '\n'))
			}
		}
		lines.WriteString(`{"id":"twice","text":"one two three four five six seven eight nine ten"}` + "\n")
		if err := os.WriteFile(filepath.Join(folder, source+".jsonl"), []byte(lines.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	config := job.Default()
	config.Input = []string{filepath.Join(folder, "a.jsonl"), filepath.Join(folder, "b.jsonl")}
	config.Output, config.Threshold = filepath.Join(t.TempDir(), "out"), .5
	config.Emit = []string{output.Clusters, output.Pairs}
	if _, err := pipeline.Run(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	results, err := finished.Open(config.Output)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Listen(results, 0, "runjob recut out --threshold")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// get asks for a path of the page, and decodes the answer.
func get(t *testing.T, s *Server, path string, value any) {
	t.Helper()
	answer, err := http.Get(s.Address() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(value); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// TestGuard: who lacks the token, or comes by another name of the machine, learns nothing.
func TestGuard(t *testing.T) {
	s := served(t)
	whole, err := url.Parse(s.Address())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(whole.Host, "127.0.0.1:") || len(whole.Path) < 20 {
		t.Errorf("the address is %s", whole)
	}
	for name, test := range map[string]struct {
		path, host string
		want       int
	}{
		"the page":        {whole.Path, whole.Host, http.StatusOK},
		"an answer":       {whole.Path + "run", whole.Host, http.StatusOK},
		"no token":        {"/", whole.Host, http.StatusNotFound},
		"another token":   {"/" + strings.Repeat("A", len(whole.Path)-2) + "/", whole.Host, http.StatusNotFound},
		"only the answer": {"/run", whole.Host, http.StatusNotFound},
		"a foreign name":  {whole.Path, "evil.example:" + whole.Port(), http.StatusNotFound},
		"no such answer":  {whole.Path + "other", whole.Host, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+whole.Host+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = test.host
			answer, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != test.want {
				t.Errorf("status %d, want %d", answer.StatusCode, test.want)
			}
			if got := answer.Header.Get("Content-Security-Policy"); test.want == http.StatusOK && got != policy {
				t.Errorf("the policy is %q", got)
			}
		})
	}
	answer, err := http.Post(s.Address()+"run", "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a POST has status %d", answer.StatusCode)
	}
}

// TestAnswers: they say the same as the commands that print them.
func TestAnswers(t *testing.T) {
	s := served(t)
	t.Run("clusters", func(t *testing.T) {
		var got explain.Clusters
		get(t, s, "clusters?order=id&offset=50", &got)
		page := explain.Page{Order: explain.ByID, Offset: 50, Limit: rowsPerPage}
		want, err := explain.ListClusters(t.Context(), s.folder, page)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(*want) || len(got.Clusters) == 0 {
			t.Errorf("%d clusters of %d, want %d: %v", len(got.Clusters), got.Of, want.Of, err)
		}
	})
	t.Run("documents", func(t *testing.T) {
		var got List[output.Member]
		get(t, s, "documents?q=B-3-", &got)
		if got.Of != 3 || len(got.Rows) != 3 || got.Rows[0].ID != "b-3-0" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("pairs", func(t *testing.T) {
		var all, of, within List[output.Pair]
		get(t, s, "pairs", &all)
		get(t, s, "pairs?document=none&id=a-3-0", &of)
		get(t, s, "pairs?cluster="+url.QueryEscape("a-3-0"), &within)
		if all.Of != s.folder.Summary.Counts.Pairs || len(all.Rows) != rowsPerPage ||
			all.Rows[0].Jaccard > all.Rows[1].Jaccard {
			t.Errorf("%d pairs of %d, want %d", len(all.Rows), all.Of, s.folder.Summary.Counts.Pairs)
		}
		if of.Of == 0 || within.Of < of.Of {
			t.Errorf("%d pairs of a document and %d of its cluster", of.Of, within.Of)
		}
	})
	t.Run("pairs of documents that share an id", func(t *testing.T) {
		var documents List[output.Member]
		get(t, s, "documents?q=twice", &documents)
		if documents.Of != 2 {
			t.Fatalf("%d documents are called twice", documents.Of)
		}
		var of, within List[output.Pair]
		get(t, s, "pairs?id=twice&document="+url.QueryEscape(documents.Rows[1].Ref), &of)
		get(t, s, "pairs?cluster="+url.QueryEscape(documents.Rows[1].Cluster), &within)
		if of.Of != 1 || within.Of != 1 {
			t.Errorf("%d pairs of the document, %d of the cluster, want 1", of.Of, within.Of)
		}
	})
	t.Run("pair", func(t *testing.T) {
		var got struct {
			Reasons []string
			Texts   struct {
				A, B struct{ Pieces []struct{ Text string } }
			}
		}
		get(t, s, "pair?a=a-0-0&b=a-0-1", &got)
		pieces := got.Texts.A.Pieces
		if len(got.Reasons) == 0 || len(pieces) < 2 || !strings.HasPrefix(pieces[1].Text, "img") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("threshold", func(t *testing.T) {
		for _, from := range []float64{.5, .7, .9} {
			var got findings.Counts
			get(t, s, fmt.Sprint("threshold?from=", from), &got)
			c := s.folder.Summary.Config
			summary, err := recut.Run(t.Context(), s.folder, recut.Options{
				Threshold: from,
				Split:     c.Split,
				Drop:      c.Drop,
				Output:    filepath.Join(t.TempDir(), "out"),
				Format:    output.JSONL,
				Emit:      []string{output.Clusters},
			})
			want := summary.Counts
			if err != nil || got.Pairs != want.Pairs || got.Clusters != want.Clusters ||
				got.Clustered != want.Clustered || got.Removed != want.Removed || got.Kept != want.Kept {
				t.Errorf("from %v: %+v, want %+v: %v", from, got, want, err)
			}
		}
	})
	t.Run("an error", func(t *testing.T) {
		var got struct{ Error string }
		get(t, s, "threshold?from=0.3", &got)
		if !strings.Contains(got.Error, "begin at --threshold 0.5") {
			t.Errorf("%q", got.Error)
		}
	})
	t.Run("table", func(t *testing.T) {
		answer, err := http.Get(s.Address() + "table.csv?of=documents")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		rows, err := csv.NewReader(answer.Body).ReadAll()
		if want := int(s.folder.Summary.Counts.Clustered) + 1; err != nil || len(rows) != want || rows[0][1] != "id" {
			t.Errorf("%d rows, want %d: %v", len(rows), want, err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
	})
}

// TestExplorePage goes through the page in a browser as a user would: to a cluster, to two texts, over a search, to
// another threshold. No text becomes part of the page.
func TestExplorePage(t *testing.T) {
	b := browsertest.Open(t)
	s := served(t)
	b.Open(s.Address())
	// waits is a script that waits until something is there.
	waits := func(selector string) string {
		return `const wait = async (selector) => {
			for (let i = 0; i < 600; i++) {
				const found = document.querySelector(selector);
				if (found && !document.querySelector("[aria-busy]")) return found;
				await new Promise((done) => setTimeout(done, 50));
			}
			throw new Error("no " + selector + " in " + document.body.textContent);
		}; return (async () => { const found = await wait(` + fmt.Sprintf("%q", selector) + `); `
	}
	for _, step := range []struct{ of, waitsFor, does, want string }{
		{"clusters", "main table", `return document.querySelectorAll("main tbody tr").length`, "50"},
		{
			"the next ones", ".pages a[rel=next]",
			`found.click(); await new Promise((d) => setTimeout(d, 300)); await wait("main table");
			return document.querySelectorAll("main tbody tr").length`, "21",
		},
		{
			"a cluster", "main table",
			`location.hash = "#view=cluster&name=a-0-0"; await wait(".graph circle");
			return [".graph circle", "main table"].map((s) => document.querySelectorAll(s).length).join(" ")`, "4 2",
		},
		{
			"two texts", "main table a[href*='view=pair&']",
			`found.click(); (await wait("#next")).click();
			return document.querySelectorAll(".text:has(mark.now)").length`, "2",
		},
		{
			"a search", "#words",
			`found.value = "b-3"; document.querySelector("#find button").click();
			await new Promise((d) => setTimeout(d, 300)); await wait("main table");
			return document.querySelectorAll("main tbody tr").length > 2`, "true",
		},
		{
			"sources", "#words",
			`location.hash = "#view=sources"; await wait(".matrix");
			return document.querySelectorAll(".matrix .some").length >= 2`, "true",
		},
		{
			"a threshold", "#words",
			`location.hash = "#view=threshold"; const slider = await wait("#slider"); slider.value = .9;
			slider.dispatchEvent(new Event("input"));
			while (!document.querySelector("main th:last-child").textContent.includes("0.90")) {
				await new Promise((d) => setTimeout(d, 50));
			}
			return document.querySelector("main .command").textContent.includes("0.90")`, "true",
		},
		{
			"no mark-up of texts", "#words",
			`return "hacked" in window || document.querySelectorAll("main img").length > 0`, "false",
		},
	} {
		t.Run(step.of, func(t *testing.T) {
			var got any
			b.Eval(waits(step.waitsFor)+step.does+"; })();", &got)
			if fmt.Sprint(got) != step.want {
				t.Errorf("%v, want %s", got, step.want)
			}
		})
	}
	for _, colours := range []string{"light", "dark"} {
		for _, of := range []string{"clusters", "cluster&name=a-0-0", "pair&a=a-0-0&b=a-0-1", "threshold"} {
			b.Eval(waits("#words")+`location.hash = "#view=`+of+`"; await new Promise((d) => setTimeout(d, 200));
				await wait("main h2"); })();`, nil)
			b.Scheme(colours, 390)
			var weak []string
			b.Eval(browsertest.LowContrast, &weak)
			var wide int
			b.Eval(`return document.documentElement.scrollWidth;`, &wide)
			if len(weak) > 0 || wide > 390 {
				t.Errorf("%s, %s: low contrast %q, %d pixels wide on a screen of 390", of, colours, weak, wide)
			}
		}
	}
	if faults := b.Faults(s.Address()); len(faults) > 0 {
		t.Errorf("the page: %v", faults)
	}
}
