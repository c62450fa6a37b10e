package pipeline

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/schema/output"
)

// webPages are pages of sites, as lines of JSON.
type webPages struct {
	lines  []string
	random *rand.Rand
	words  []string
}

func newWebPages() *webPages {
	p := &webPages{random: rand.New(rand.NewPCG(20, 26))}
	for range 3000 {
		word := ""
		for range 2 + p.random.IntN(3) {
			word += string("bcdfghklmnprstvz"[p.random.IntN(16)]) + string("aeiou"[p.random.IntN(5)])
		}
		p.words = append(p.words, word)
	}
	return p
}

// text returns words that have nothing in common with other texts.
func (p *webPages) text(n int) []string {
	text := make([]string, n)
	for i := range text {
		text[i] = p.words[p.random.IntN(len(p.words))]
	}
	return text
}

const loginForm = "<form><input name=user><input type=password><button>Go</button></form>"

func (p *webPages) add(address string, text []string, more string) {
	p.lines = append(p.lines, fmt.Sprintf(`{"id":%q,"url":"https://%[1]s","text":%q}`+"\n", address,
		"<html><body><p>"+strings.Join(text, " ")+"</p>"+more+"</body></html>"))
}

// suspects runs a watch over bank.test, and returns the rows of suspects by site.
func (p *webPages) suspects(t *testing.T) map[string]output.Suspect {
	t.Helper()
	folder := t.TempDir()
	third := len(p.lines) / 3
	for name, lines := range map[string][]string{
		"a.jsonl": p.lines[:third], "b.jsonl": p.lines[third : 2*third], "c.jsonl": p.lines[2*third:],
	} {
		put(t, filepath.Join(folder, name), []byte(strings.Join(lines, "")), plain)
	}
	config := testConfig(t, folder)
	config.Emit, config.Audit, config.Threshold = []string{output.Suspects}, "off", 0.5
	config.TextFormat, config.HTMLText = webtext.HTML, webtext.Main
	config.Protected = put(t, filepath.Join(t.TempDir(), "protected"), []byte("bank.test\n"), plain)
	runJob(t, config)
	rows := map[string]output.Suspect{}
	for _, row := range decodeLoose[output.Suspect](t, readOutput(t, config.Output, output.Suspects)) {
		rows[row.Site] = row
	}
	return rows
}

// TestDecoys: however many pages have a part of a protected page, and wherever they are, the copy of it is found, with
// the same row.
func TestDecoys(t *testing.T) {
	var first output.Suspect
	numbers := []int{0, 5000, 12_000}
	if testing.Short() {
		numbers = numbers[:2]
	}
	for i, decoys := range numbers {
		p := newWebPages()
		page := append(p.text(119), "bank")
		p.add("bank.test/login", page, loginForm)
		for range 200 {
			p.add("bank.test/"+p.text(1)[0], p.text(60), "")
		}
		copied := slices.Clone(page)
		copied[60] = "other"
		p.add("copy.example/in", copied, loginForm)
		for i := range decoys {
			decoy := slices.Concat(page[i%39:i%39+80], p.text(40))
			p.add(fmt.Sprintf("s%d.decoy.example/%d", i, i), decoy, loginForm)
		}
		if i == 1 {
			slices.Reverse(p.lines)
		} else {
			p.random.Shuffle(len(p.lines), func(i, j int) { p.lines[i], p.lines[j] = p.lines[j], p.lines[i] })
		}
		rows := p.suspects(t)
		row := rows["copy.example"]
		if row.Class != "page" || row.Severity != output.HighSeverity || row.Examples[0].Words < 119 {
			t.Fatalf("%d decoys: %+v", decoys, row)
		}
		if i == 0 {
			first = row
		} else if row.Campaign = ""; fmt.Sprint(row) != fmt.Sprint(first) {
			t.Errorf("%d decoys: %+v, want %+v", decoys, row, first)
		}
		if len(rows) > 110 {
			t.Errorf("%d decoys: %d rows", decoys, len(rows))
		}
	}
}

// TestHonestSites: what many sites have in common makes none of them a suspect.
func TestHonestSites(t *testing.T) {
	for _, c := range []struct {
		name  string
		class string // of the row that lists the sites, empty for none
		sites func(p *webPages)
	}{
		{"customers of one vendor", "common", func(p *webPages) {
			login := p.text(80)
			for i := range 20 {
				name := fmt.Sprintf("house%d.example", i)
				if i == 0 {
					name = "bank.test"
				}
				p.add(name+"/login", append(slices.Clone(login), strings.Split(name, ".")[0]), loginForm)
				for page := range 5 {
					p.add(fmt.Sprintf("%s/%d", name, page), p.text(100), "")
				}
			}
		}},
		{"one theme", "common", func(p *webPages) {
			about, contact, login := p.text(70), p.text(50), p.text(40)
			for i := range 300 {
				name := fmt.Sprintf("shop%d.example", i)
				if i == 0 {
					name = "bank.test"
				}
				p.add(name+"/about", append(slices.Clone(about), p.text(5)...), "")
				p.add(name+"/contact", append(slices.Clone(contact), p.text(5)...), "")
				p.add(name+"/login", append(slices.Clone(login), p.text(2)...), loginForm)
				p.add(name+"/own", p.text(100), "")
			}
		}},
		{"a press release", "common", func(p *webPages) {
			release := append(p.text(150), "bank")
			p.add("bank.test/press", release, "")
			p.add("bank.test/", p.text(100), loginForm)
			for i := range 200 {
				p.add(fmt.Sprintf("news%d.example/release", i), append(p.text(20), release...), "")
				p.add(fmt.Sprintf("news%d.example/", i), p.text(100), "")
			}
		}},
		{"a few quotations", "quotes", func(p *webPages) {
			release := append(p.text(150), "bank")
			p.add("bank.test/press", release, "")
			for i := range 3 {
				p.add(fmt.Sprintf("news%d.example/release", i), append(p.text(20), release...), "")
				p.add(fmt.Sprintf("news%d.example/", i), p.text(100), "")
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newWebPages()
			c.sites(p)
			rows := p.suspects(t)
			for site, row := range rows {
				if row.Severity != output.LowSeverity {
					t.Errorf("%s is a suspect: %+v", site, row)
				} else if row.Class != c.class {
					t.Errorf("%s is %s, want %s", site, row.Class, c.class)
				}
			}
			if len(rows) == 0 || len(rows) > 3 {
				t.Errorf("%d rows", len(rows))
			}
		})
	}
}

// TestPartsOfPages: a part of a page is found, a page in parts on several, and one with other words in it.
func TestPartsOfPages(t *testing.T) {
	replaced := func(p *webPages, page []string, every int) []string {
		page = slices.Clone(page)
		for i := every - 1; i < len(page); i += every {
			page[i] = p.text(1)[0]
		}
		return page
	}
	for _, c := range []struct {
		name string
		add  func(p *webPages, page []string)
	}{
		{"half of a page", func(p *webPages, page []string) { p.add("copy.example/", page[:60], loginForm) }},
		{"in four parts", func(p *webPages, page []string) {
			for i, form := range []string{"", "", "", loginForm} {
				p.add(fmt.Sprint("copy.example/", i), append(p.text(60), page[30*i:30*i+30]...), form)
			}
		}},
		{"every fifth word replaced", func(p *webPages, page []string) {
			p.add("copy.example/", replaced(p, page, 5), loginForm)
		}},
		{"among a thousand other words", func(p *webPages, page []string) {
			p.add("copy.example/", slices.Concat(p.text(500), page, p.text(500)), loginForm)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newWebPages()
			page := append(p.text(119), "bank")
			p.add("bank.test/login", page, loginForm)
			c.add(p, page)
			for i := range 50 {
				p.add(fmt.Sprintf("other%d.example/", i), p.text(100), loginForm)
			}
			rows := p.suspects(t)
			if row := rows["copy.example"]; row.Class != "page" || len(rows) != 1 {
				t.Errorf("%d rows, %+v", len(rows), row)
			}
		})
	}
}

// TestOtherWords: a copy of a login page in another language is found by its markup, and no site of the same theme is.
func TestOtherWords(t *testing.T) {
	p := newWebPages()
	page := func(address, brand, theme, label string) {
		text := strings.Join(p.text(60), " ")
		html := strings.NewReplacer("BRAND", brand, "THEME", theme, "LABEL", label, "TEXT", text)
		p.lines = append(p.lines, fmt.Sprintf(`{"id":%q,"url":"https://%[1]s","text":%q}`+"\n", address, html.Replace(
			`<html><head><title>BRAND</title><link rel=stylesheet href=/THEME.css><script src=/THEME-1.js></script>`+
				`<script src=/THEME-2.js></script></head><body class=THEME><header class=top>`+
				`<img src=/THEME.svg alt=BRAND></header><main class=wrap><div class="card THEME"><h1>LABEL</h1>`+
				`<p class=hint>TEXT</p><form class=sign><div class=row><label>LABEL</label>`+
				`<input class=i name=customer></div>`+
				`<div class=row><label>LABEL</label><input class=i name=pin type=password></div>`+
				`<button class=go>LABEL</button></form></div></main><footer class=end>LABEL</footer></body></html>`)))
	}
	page("bank.test/login", "Bank", "blue", "Sign in")
	page("kit.example/", "Bank", "blue", "Anmelden")
	page("assets.example/", "Bank", "blue", "Anmelden")
	last := &p.lines[len(p.lines)-1]
	*last = strings.NewReplacer("div", "section", "main", "article", "label", "b", "header", "h2").Replace(*last)
	for i := range 3 {
		page(fmt.Sprintf("theme%d.example/login", i), "Shop", "blue", "Sign in")
		page(fmt.Sprintf("other%d.example/login", i), "Bank", fmt.Sprint("red", i), "Sign in")
		last := &p.lines[len(p.lines)-1]
		*last = strings.NewReplacer("<div", "<p><div", "<h1", "<i><h1").Replace(*last)
	}
	rows := p.suspects(t)
	for site, by := range map[string]string{"kit.example": "markup", "assets.example": "assets"} {
		if row := rows[site]; row.Class != "page" || row.By != by || row.Severity != output.MediumSeverity {
			t.Errorf("%s: %+v", site, row)
		}
	}
	if len(rows) != 2 {
		t.Errorf("%d rows: %+v", len(rows), rows)
	}
}
