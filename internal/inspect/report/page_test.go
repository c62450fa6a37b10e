package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/util/browsertest"
)

// writeTo writes content to a file and returns its address.
func writeTo(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// TestPage looks at the page in a browser: it asks for nothing, says nothing on the console, and does what it offers.
func TestPage(t *testing.T) {
	b := browsertest.Open(t)
	address := writeTo(t, "report.html", []byte(page(t, build(t, small(t), Options{}))))
	b.Open(address)
	var open int
	b.Eval(
		`document.querySelectorAll("details").forEach((d) => { d.open = true; }); return document.querySelectorAll("details").length;`, &open)
	if open < 10 {
		t.Errorf("%d folded parts", open)
	}
	var hacked bool
	b.Eval(`return "hacked" in window || document.querySelectorAll("img, iframe").length > 0;`, &hacked)
	if hacked {
		t.Error("a text of the run has become part of the page")
	}

	// A search by a figure, by a name, and by both.
	for search, want := range map[string]string{
		">8":          "1 of 28",
		"doc-00":      "5 of 28",
		"chain >5":    "1 of 28",
		"mean<0.7 >2": "*",
		"mean>90":     "7 of 28",
		"mean>0.9":    "7 of 28",
		"kept=1 >=3":  "*",
		"</script>":   "1 of 28",
		"":            "",
	} {
		var got struct {
			Says    string `json:"says"`
			Visible int    `json:"visible"`
		}
		b.Eval(`const table = document.querySelector("#clusters .table"), input = table.querySelector("input");
			input.value = `+quote(search)+`; input.dispatchEvent(new Event("input"));
			return {says: table.querySelector("output").textContent, visible: [...table.querySelectorAll("tbody tr")].filter((r) => r.offsetParent).length};`, &got)
		if want != "*" && got.Says != want || want == "*" && !strings.HasSuffix(got.Says, " of 28") ||
			strings.HasPrefix(got.Says, "28 ") || got.Visible == 0 {
			t.Errorf("search %q: %+v, want %s", search, got, want)
		}
	}

	// Sorting by a heading.
	var sorted []string
	b.Eval(`const table = document.querySelector("#sources table"), head = table.tHead.rows[0].cells[3];
		head.querySelector("button").click();
		return [head.getAttribute("aria-sort"), ...[...table.tBodies[0].rows].map((r) => r.cells[3].dataset.v)];`,
		&sorted)
	if len(sorted) != 5 || sorted[0] != "descending" || sorted[1] != "100.0" && sorted[1] < sorted[2] {
		t.Errorf("sorted by share: %v", sorted)
	}

	// A chip marks its passage in both texts, and shows it.
	var shown []bool
	b.Eval(
		`const compared = [...document.querySelectorAll(".compare")].find((c) => c.querySelectorAll(".chips button").length > 1);
		[...compared.querySelectorAll(".chips button")].at(-1).click();
		return [...compared.querySelectorAll(".text")].map((text) => {
			const mark = text.querySelector("mark.now");
			return mark && mark.offsetTop >= text.scrollTop && mark.offsetTop < text.scrollTop + text.clientHeight;
		});`, &shown)
	if len(shown) != 2 || !shown[0] || !shown[1] {
		t.Errorf("after a click on a chip: %v", shown)
	}

	// The two scales are never both there.
	var plots []int
	b.Eval(
		`const visible = () => [...document.querySelectorAll("#nearest .plot")].filter((p) => p.getClientRects().length).map((p) => p.dataset.scale).join();
		const first = visible(); document.querySelector("#nearest [data-scale=log]").click();
		return [first === "linear" ? 1 : 0, visible() === "log" ? 1 : 0];`, &plots)
	if plots[0]+plots[1] != 2 {
		t.Errorf("scales: %v", plots)
	}

	if faults := b.Faults(address); len(faults) > 0 {
		t.Errorf("the page: %v", faults)
	}
}

// TestLooks: the text can be read in both schemes. On a phone the page is not wider than the screen, nor is a table of
// few columns.
func TestLooks(t *testing.T) {
	b := browsertest.Open(t)
	f := small(t)
	for name, content := range map[string][]byte{
		"report.html": []byte(page(t, build(t, f, Options{}))),
		"sites.html":  []byte(page(t, build(t, watch(t), Options{}))),
	} {
		address := writeTo(t, name, content)
		b.Open(address)
		b.Eval(`document.querySelectorAll("details").forEach((d) => { d.open = true; });
			document.querySelectorAll(".chips").forEach((c) => c.querySelector("button")?.click());`, nil)
		grounds := map[string]bool{}
		for _, colours := range []string{"light", "dark"} {
			for _, width := range []int{390, 1280} {
				b.Scheme(colours, width)
				var wide int
				b.Eval(`return document.documentElement.scrollWidth;`, &wide)
				if wide > width {
					t.Errorf("%s is %d pixels wide on a screen of %d", name, wide, width)
				}
			}
			var wide []string
			b.Scheme(colours, 390)
			b.Eval(
				`return [...document.querySelectorAll("table")].filter((t) => t.rows[0].cells.length <= 5 && t.scrollWidth > t.closest(".scroll").clientWidth)
				.map((t) => t.parentElement.getAttribute("aria-label"));`, &wide)
			if len(wide) > 0 {
				t.Errorf("%s: tables of few columns are wider than their frames: %q", name, wide)
			}
			var weak []string
			b.Eval(browsertest.LowContrast, &weak)
			if len(weak) > 0 {
				t.Errorf("%s, %s: low contrast: %q", name, colours, weak)
			}
			var ground string
			b.Eval(`return getComputedStyle(document.body).backgroundColor;`, &ground)
			grounds[ground] = true
		}
		if len(grounds) != 2 {
			t.Errorf("%s: light and dark have the ground %v", name, grounds)
		}
		// Without a name, a button or a field is nothing to who cannot see it.
		var nameless int
		b.Eval(`return [...document.querySelectorAll("button, input, [role=region], svg[role=img]")].filter((e) =>
			!(e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.length)).length;`, &nameless)
		if nameless > 0 {
			t.Errorf("%s: %d controls without a name", name, nameless)
		}
		if faults := b.Faults(address); len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
	}
}

// quote writes a string for a script.
func quote(text string) string {
	encoded, _ := encode(text)
	return string(encoded)
}
