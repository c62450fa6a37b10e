package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The files of a planted corpus.
const (
	pagesFile     = "pages.jsonl"
	truthFile     = "truth.tsv" // site, the site that it is like, what it is
	rankFile      = "rank.csv"
	protectedFile = "protected.txt"
)

// extent says how many sites there are, and how many of the mirrors and honest sites are planted.
type extent struct{ sites, planted int }

// The kinds of mirrors, and of honest sites, in turn.
var (
	mirrorKinds = []string{"identical", "half", "retemplated", "edited", "translated", "lookalike"}
	honestKinds = []string{"template", "licences", "quotes"}
	// families are the sizes of groups of small honest sites that share legal pages, and have as many or fewer of their
	// own.
	families = []int{4, 5, 8, 13, 20, 30, 50}
)

// The words of templates.
var (
	menuWords = strings.Fields(
		"home news about contact products services team history projects archive search help support shop blog " +
			"events gallery press jobs partners research library forum downloads members donate subscribe account " +
			"profile settings calendar weather sports culture travel science health opinion video audio maps")
	foreignWords = strings.Fields(
		"startseite nachrichten kontakt produkte dienste mannschaft geschichte vorhaben archiv suche hilfe laden " +
			"veranstaltungen galerie presse stellen partner forschung bibliothek mitglieder spenden konto " +
			"einstellungen kalender wetter kultur reisen wissenschaft gesundheit meinung karten impressum datenschutz")
	hostWords = strings.Fields(
		"amber birch cedar delta ember falcon garnet harbor indigo jasper kestrel lumen maple nimbus orchid pepper " +
			"quartz raven saffron tundra umber violet willow yonder zephyr anchor beacon copper dune echo fjord " +
			"grove hazel ivory juniper kiln lagoon meadow nectar onyx prairie quill ridge summit thistle upland " +
			"valley walnut yarrow zenith")
	suffixes = []string{"com", "org", "net", "info", "co.uk", "de", "io"}
)

// page is a page of a site.
type page struct {
	path string
	text []string
}

// planted is a site.
type planted struct {
	host         string
	pages        []page // without the template
	menu, footer []string
	day          int
	login        bool
	of, kind     string // what it is like, and how; empty for a site that is like no other
}

// planter makes sites.
type planter struct {
	random   *rand.Rand
	articles [][]string // those that are left
	licences [][]string
	errors   [][]string // error pages
	hosts    map[string]bool
	sites    []*planted
}

// plant writes a planted corpus to a folder.
func plant(corpora, folder string, e extent) error {
	if corpora == "" {
		return errors.New("name the folder of corpora")
	}
	articles, err := readArticles(corpora)
	if err != nil {
		return err
	}
	all, err := readTexts(filepath.Join(corpora, filepath.FromSlash(licences)))
	if err != nil {
		return err
	}
	p := &planter{
		random:   rand.New(rand.NewPCG(18, 1)),
		articles: articles,
		licences: all[:40],
		hosts:    map[string]bool{},
	}
	for range 3 {
		p.errors = append(p.errors,
			append(strings.Fields("the page that you are looking for was not found on this server"),
				p.pick(menuWords, 12)...))
	}
	for range e.sites {
		if err := p.site(); err != nil {
			return err
		}
	}
	// The originals are of all collections. Honest sites are like those that have mirrors.
	var originals []*planted
	for i := range e.planted {
		of := p.sites[i*e.sites/e.planted]
		originals = append(originals, of)
		p.mirror(of, mirrorKinds[i%len(mirrorKinds)])
		if err := p.honest(of, honestKinds[i/len(mirrorKinds)%len(honestKinds)]); err != nil {
			return err
		}
	}
	for _, sites := range families {
		p.family(sites)
	}
	return p.write(folder, originals)
}

// pick returns n of some words.
func (p *planter) pick(words []string, n int) (picked []string) {
	for range n {
		picked = append(picked, words[p.random.IntN(len(words))])
	}
	return picked
}

// newHost returns a host that no site has.
func (p *planter) newHost() string {
	for {
		host := strings.Join(p.pick(hostWords, 2), "") + p.pick(hostWords, 1)[0][:2] + "." +
			suffixes[p.random.IntN(len(suffixes))]
		if p.take(host) {
			return host
		}
	}
}

// take gives a host to a site, unless another one has it.
func (p *planter) take(host string) bool {
	if p.hosts[host] {
		return false
	}
	p.hosts[host] = true
	return true
}

// newSite returns a site with the next articles, and with licence and error pages.
func (p *planter) newSite(articles int) (*planted, error) {
	if articles > len(p.articles) {
		return nil, errors.New("there are too few articles for so many sites")
	}
	s := &planted{
		host:   p.newHost(),
		menu:   p.pick(menuWords, 15),
		footer: p.pick(menuWords, 15),
		day:    p.random.IntN(2000),
	}
	for i, text := range p.articles[:articles] {
		s.pages = append(s.pages, page{fmt.Sprintf("/%s/%d.html", s.menu[i%5], i), text})
	}
	p.articles = p.articles[articles:]
	if p.random.IntN(5) == 0 {
		s.pages = append(s.pages, page{"/licence.html", p.licences[p.random.IntN(len(p.licences))]})
	}
	s.pages = append(s.pages, page{"/missing.html", p.errors[p.random.IntN(len(p.errors))]})
	return s, nil
}

// site adds a site that is like no other.
func (p *planter) site() error {
	s, err := p.newSite(5 + p.random.IntN(10))
	p.sites = append(p.sites, s)
	return err
}

// mirror adds a mirror of a site.
func (p *planter) mirror(of *planted, kind string) {
	m := *of
	m.host, m.day, m.of, m.kind, m.pages = "", of.day+1+p.random.IntN(300), of.host, kind, slices.Clone(of.pages)
	switch kind {
	case "half":
		p.random.Shuffle(len(m.pages), func(i, j int) { m.pages[i], m.pages[j] = m.pages[j], m.pages[i] })
		m.pages = m.pages[:(len(m.pages)+1)/2]
	case "retemplated":
		m.menu, m.footer = p.pick(menuWords, 20), p.pick(menuWords, 10)
		for i := range m.pages {
			m.pages[i].path = fmt.Sprintf("/content/view.php?sid=%d&id=%d", p.random.IntN(1e6), 100+i)
		}
	case "edited":
		for i := range m.pages {
			m.pages[i].text = p.edited(m.pages[i].text)
		}
	case "translated":
		m.menu, m.footer = p.pick(foreignWords, 15), p.pick(foreignWords, 15)
	case "lookalike":
		m.host, m.login = p.lookalike(of.host), true
	}
	if m.host == "" {
		m.host = p.newHost()
	}
	p.sites = append(p.sites, &m)
}

// edited returns a text with one word in ten replaced by another word of it.
func (p *planter) edited(text []string) []string {
	text = slices.Clone(text)
	for i := range text {
		if p.random.IntN(10) == 0 {
			text[i] = text[p.random.IntN(len(text))] + "x"
		}
	}
	return text
}

// lookalike returns a host that looks like another.
func (p *planter) lookalike(of string) string {
	name, suffix, _ := strings.Cut(of, ".")
	at := 1 + p.random.IntN(len(name)-2)
	for _, host := range []string{
		strings.NewReplacer("l", "1", "o", "0").Replace(name) + "." + suffix,
		name + "-login." + suffix,
		of + ".secure-pages.net",
		name[:at] + name[at+1:] + "." + suffix,
		name + ".xyz",
	}[p.random.IntN(5):] {
		if p.take(host) {
			return host
		}
	}
	return p.newHost()
}

// honest adds a site that has something in common with another one, and is no mirror of it.
func (p *planter) honest(of *planted, kind string) error {
	s, err := p.newSite(6 + p.random.IntN(6))
	if err != nil {
		return err
	}
	s.of, s.kind = of.host, kind
	switch kind {
	case "template":
		s.menu, s.footer = of.menu, of.footer
	case "licences":
		for i, text := range p.licences[:2+p.random.IntN(3)] {
			s.pages = append(s.pages, page{fmt.Sprintf("/licences/%d.html", i), text})
		}
	case "quotes":
		for i, text := range [][]string{of.pages[0].text, of.pages[1].text} {
			s.pages = append(s.pages, page{fmt.Sprintf("/press/%d.html", i), text})
		}
		quoted := of.pages[2].text
		s.pages[0].text = slices.Concat(s.pages[0].text, quoted[:len(quoted)/2])
	}
	p.sites = append(p.sites, s)
	return nil
}

// family adds small honest sites with three pages of their own each, and four that all of them have.
func (p *planter) family(sites int) {
	var legal [][]string
	for range 4 {
		legal = append(legal, p.pick(menuWords, 200+p.random.IntN(400)))
	}
	for range sites {
		s := &planted{
			host:   p.newHost(),
			menu:   p.pick(menuWords, 5),
			footer: p.pick(menuWords, 5),
			day:    p.random.IntN(2000),
		}
		for i := range 3 {
			s.pages = append(s.pages, page{fmt.Sprintf("/%d.html", i), p.pick(menuWords, 150)})
		}
		for i, text := range legal {
			s.pages = append(s.pages, page{fmt.Sprintf("/legal/%d.html", i), text})
		}
		p.sites = append(p.sites, s)
	}
}

// record is a line of the corpus.
type record struct {
	ID            string `json:"id"`
	URL           string `json:"url"`
	Date          string `json:"date"`
	Text          string `json:"text"`
	PasswordInput bool   `json:"password_input,omitempty"`
}

// write writes the corpus, the truth, and lists of the original sites: all have a rank, and half of each kind are
// protected.
func (p *planter) write(folder string, originals []*planted) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	var truth, rank, protected strings.Builder
	for _, s := range p.sites {
		if s.of != "" {
			fmt.Fprintf(&truth, "%s\t%s\t%s\n", s.host, s.of, s.kind)
		}
	}
	for i, s := range originals {
		fmt.Fprintf(&rank, "%d,%s\n", 10*(i+1), s.host)
		if i/len(mirrorKinds)%2 == 1 {
			fmt.Fprintln(&protected, s.host)
		}
	}
	for name, content := range map[string]string{
		truthFile:     truth.String(),
		rankFile:      rank.String(),
		protectedFile: protected.String(),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o666); err != nil {
			return err
		}
	}
	// The order of sites shall say nothing.
	p.random.Shuffle(len(p.sites), func(i, j int) { p.sites[i], p.sites[j] = p.sites[j], p.sites[i] })
	file, err := os.Create(filepath.Join(folder, pagesFile))
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	encoder := json.NewEncoder(out)
	number := 0
	for _, s := range p.sites {
		for i, page := range s.pages {
			number++
			err := encoder.Encode(record{
				ID:   fmt.Sprintf("page-%06d", number),
				URL:  "http://www." + s.host + page.path,
				Date: day(s.day + i),
				Text: strings.Join(slices.Concat([]string{s.host}, s.menu, page.text, []string{s.host},
					s.footer), " "),
				PasswordInput: s.login && i == 0,
			})
			if err != nil {
				return err
			}
		}
	}
	return errors.Join(out.Flush(), file.Close())
}

// day returns a day after the first of 2018 as ISO 8601 writes it.
func day(n int) string { return fmt.Sprintf("%d-%02d-%02d", 2018+n/336, 1+n/28%12, 1+n%28) }
