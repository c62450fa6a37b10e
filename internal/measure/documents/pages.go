package documents

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/quoting"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/read/formats"
	"mirrorbeam/internal/read/site"
	"mirrorbeam/internal/read/webtext"
)

// Paging says how documents are pages of sites. Without a rule they are not.
type Paging struct {
	// Rule says which site a page belongs to.
	Rule site.Rule
	// URL is the field of the address of a page, and Date the field of its date. A file that is one document has its path as its
	// address, and no date.
	// All of them are given, or none.
	URL, Date string
	// Ranges is the number of ranges of hashes in which sites are counted.
	Ranges int
	// Traces says that pages have traces, by which the next run of a scheduled job knows them again.
	Traces bool `json:",omitempty"`
}

// fields returns the fields that hold what is wanted.
func (p Paging) fields() []string {
	if p.Rule == "" {
		return nil
	}
	return []string{p.URL, p.Date, formats.PasswordInput, formats.Language, formats.Markup, formats.Canonical}
}

// pager tells the pages of sites. It is not for concurrent use.
type pager struct {
	paging Paging
	// The numbers of the fields in [corpus.Record.Others], -1 for none.
	url, date, login, language, markup, canonical int
	hash                                          valueHash
}

// newPager returns a pager of records with these other fields. The seed is the key of all hashes.
func newPager(p Paging, fields []string, seed uint64) pager {
	return pager{
		paging: p, hash: newValueHash(seed), url: slices.Index(fields, p.URL), date: slices.Index(fields, p.Date),
		login: slices.Index(fields, formats.PasswordInput), language: slices.Index(fields, formats.Language), markup: slices.Index(fields, formats.Markup),
		canonical: slices.Index(fields, formats.Canonical),
	}
}

// The two sizes of a sketch of markup are one.
var _ [records.MarkupSize]byte = [webtext.MarkupBytes]byte{}

// mostAddressBytes is the length of the longest address that is kept. Longer ones are cut where they are shown.
const mostAddressBytes = 2000

// address returns the address of a document, as it stands there and in its canonical form. It is false if the document has
// none, or if nobody asks for it.
func (p *pager) address(r *Record, file *corpus.File) (text []byte, page site.Address, ok bool) {
	if p.url < 0 {
		return nil, page, false
	}
	text = r.Content.Others[p.url]
	if text == nil && file.Format.IsWhole() {
		name, _ := file.Place(r.Position)
		text = []byte(name)
	}
	page, ok = site.Parse(string(text))
	return text, page, ok
}

// add adds a document of some shingles, or what else stands for it, to the pages of a block, or counts it if it has no address. A value that should be an
// address, and is none, is a reject as well: the document stays. Without a rule it does nothing.
func (p *pager) add(b *block, ref docref.Ref, r *Record, file *corpus.File, shingles []uint64) {
	if p.paging.Rule == "" {
		return
	}
	text, address, ok := p.address(r, file)
	if !ok {
		b.counts.Unsited++
		if value := r.Content.Others[p.url]; len(value) > 0 && !site.IsOpaque(string(value)) {
			b.reject(file, r.Position, fmt.Sprintf("the document stays, but belongs to no site: its %s is no address of a page: %.100q", p.paging.URL, value))
		}
		return
	}
	name, path := p.paging.Rule.Of(address)
	page := records.Page{
		Site: p.hash.of([]byte(name)), Path: p.hash.of([]byte(path)), Login: string(r.Content.Others[p.login]) == "true",
		Start: path == "", Address: text[:min(len(text), mostAddressBytes)],
	}
	page.Original = p.original(r, name)
	page.Named = (page.Login || page.Start) && saysName(r.Content.Texts, address.Host)
	copy(page.Language[:], webtext.BaseLanguage(r.Content.Others[p.language]))
	if markup := r.Content.Others[p.markup]; len(markup) == records.MarkupSize {
		page.Markup = markup
	}
	if p.paging.Traces {
		trace := records.TraceOf(shingles)
		page.Trace = trace[:]
	}
	b.pages = records.AppendSplitPage(b.pages, records.SplitPage{Ref: ref, Page: page})
	count := records.SiteCount{Site: page.Site, Pages: 1, Text: int64(len(shingles)), First: records.NoDate}
	if page.Login {
		count.Logins = 1
	}
	if seconds, ok := preference.Seconds(r.Content.Others[p.date]); ok {
		count.First = seconds
	}
	b.sites.add(count, func() string { return siteName(name) })
}

// shortestName is the length of the shortest name of a site that texts are searched for.
const shortestName = 3

// saysName reports whether a text has the name of the registered domain of a host, without its suffix: example of www.example.co.uk.
func saysName(texts [][]byte, host string) bool {
	name, _, _ := strings.Cut(site.Registered(host), ".")
	return len(name) >= shortestName && slices.ContainsFunc(texts, func(text []byte) bool {
		for at := range len(text) - len(name) + 1 {
			if text[at]|' ' == name[0] && bytes.EqualFold(text[at:at+len(name)], []byte(name)) {
				return true
			}
		}
		return false
	})
}

// redirect counts a redirect from a page of a site to another site. Records that lead nowhere have no other fields.
func (p *pager) redirect(b *block, r *Record, file *corpus.File) {
	if p.paging.Rule == "" || len(r.Content.Others) == 0 {
		return
	}
	if _, address, ok := p.address(r, file); ok {
		name, _ := p.paging.Rule.Of(address)
		if other := p.original(r, name); other != 0 {
			b.sites.redirects[[2]uint64{p.hash.of([]byte(name)), other}]++
		}
	}
}

// original returns the hash of the other site that a page of a site says that it belongs to, 0 if there is none.
func (p *pager) original(r *Record, name string) uint64 {
	if original, ok := site.Parse(string(r.Content.Others[p.canonical])); ok {
		if other, _ := p.paging.Rule.Of(original); other != name {
			return p.hash.of([]byte(other))
		}
	}
	return 0
}

// mostSiteBytes is the length of the longest name of a site that is shown in full.
const mostSiteBytes = 1000

// siteName returns the name of a site as rows have it.
func siteName(name string) string {
	if len(name) <= mostSiteBytes {
		return quoting.Text(name)
	}
	end := mostSiteBytes
	for end > mostSiteBytes-utf8.UTFMax && !utf8.RuneStart(name[end]) {
		end--
	}
	return quoting.Text(name[:end]) + "…"
}

// rangeOf returns the task that counts the pages of a site.
func (p Paging) rangeOf(site uint64) int { return records.ShardOf(site, p.Ranges) }

// OpenPages returns the pages of a split, in the order of documents.
func OpenPages(w *work.Desk, buffer int) (Pages, error) {
	packed, err := w.Read(buffer, records.Pages)
	return Pages{packed}, err
}

// Pages are the pages of a split.
type Pages struct{ packed []byte }

// Of returns the page of a document. It is false for a document that is no page of a site. Documents must be asked for in
// their order.
func (p *Pages) Of(ref docref.Ref) (records.Page, bool) {
	for len(p.packed) > 0 {
		page, rest := records.NextSplitPage(p.packed)
		if page.Ref > ref {
			break
		}
		p.packed = rest
		if page.Ref == ref {
			return page.Page, true
		}
	}
	return records.Page{}, false
}
