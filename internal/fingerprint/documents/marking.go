package documents

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/input/site"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
)

// Marking says how preferred a document is, and with which others it is compared.
type Marking struct {
	// Keep says which documents of a cluster are preferred; empty: the first ones.
	Keep preference.Preference
	// SourceField is the field that holds the source of a document; empty: for the preference, the source is the
	// address of a page, or the name of its file, and for the table of sources the name of a file or a folder.
	SourceField string
	// Within is the field whose value two documents must share to be compared; empty: all are compared.
	Within string
	// Across is the field in whose value two documents must differ to be compared; empty: all are compared.
	Across string
	Pages  Paging
}

func (m Marking) fields() []string {
	all := slices.Concat(m.Keep.Fields(), []string{m.SourceField, m.Within, m.Across}, m.Pages.fields())
	fields := slices.DeleteFunc(all, func(field string) bool { return field == "" })
	return slices.Compact(slices.Sorted(slices.Values(fields)))
}

type marker struct {
	order    preference.Order
	isRanked bool
	// The numbers of the fields in [corpus.Record.Others], -1 for none.
	source, scope, side int
	values              []int // of the fields of the preference
	pages               pager
	hash                valueHash
	// missing is the hash of the value of a document that has none.
	missing uint64
}

// newMarker returns a marker of records whose other fields are the fields of the marking. Ranks is the list of
// preferred sources. The seed is the key of all hashes.
func newMarker(m Marking, ranks *preference.Ranks, seed uint64) (*marker, error) {
	fields := m.fields()
	order, err := preference.NewOrder(m.Keep, ranks)
	var values []int
	for _, field := range m.Keep.Fields() {
		values = append(values, slices.Index(fields, field))
	}
	return &marker{
		order:    order,
		isRanked: m.Keep.Ranking() != "",
		hash:     newValueHash(seed),
		missing:  asmkernels.SplitMix(seed) | 1,
		pages:    newPager(m.Pages, fields, seed),
		values:   values,
		source:   slices.Index(fields, m.SourceField),
		scope:    slices.Index(fields, m.Within),
		side:     slices.Index(fields, m.Across),
	}, err
}

// priority returns the priority of a document, and counts it if its first policy gives it no place.
func (m *marker) priority(
	r *Record, file *corpus.File, counts *findings.Counts,
) (preference.Priority, preference.Ties) {
	if file.Reference {
		return preference.Reference, preference.Ties{}
	}
	d := preference.Document{Length: contentLength(r.Content)}
	for i, field := range m.values {
		if field >= 0 {
			d.Values[i] = r.Content.Others[field]
		}
	}
	if m.isRanked {
		d.Source = m.sourceName(r, file)
	}
	priority, ties := m.order(&d)
	if priority == preference.Unranked {
		counts.Unranked++
	}
	for i := range len(m.values) - 1 {
		if ties[i] == preference.Unranked {
			counts.UnrankedTies[i]++
		}
	}
	return priority, ties
}

func (m *marker) sourceName(r *Record, file *corpus.File) string {
	if m.source >= 0 {
		return string(r.Content.Others[m.source])
	}
	if _, address, ok := m.pages.address(r, file); ok {
		return address.String()
	}
	name, _ := file.Place(r.Position)
	return name
}

// scopeOf returns the hashes of the values of --within and --across, 0 without such a field. It counts missing values.
func (m *marker) scopeOf(r *Record, counts *findings.Counts) (scope, side uint64) {
	scope, hasScope := m.hashOf(r, m.scope)
	side, hasSide := m.hashOf(r, m.side)
	if !hasScope || !hasSide {
		counts.Unscoped++
	}
	return scope, side
}

// sourceOf returns the hash of the value that is the source of a document, and the value. The hash is 0 if there is no
// such field. The value is nil if the document lacks it.
func (m *marker) sourceOf(r *Record) (hash uint64, value []byte) {
	if m.source < 0 {
		return 0, nil
	}
	hash, _ = m.hashOf(r, m.source)
	return hash, r.Content.Others[m.source]
}

// hashOf returns the hash of the value of a field, 0 for no field, and whether the document has the value. The lack of
// it is a value of its own, other than an empty one.
func (m *marker) hashOf(r *Record, field int) (hash uint64, has bool) {
	if field < 0 {
		return 0, true
	}
	value := r.Content.Others[field]
	if value == nil {
		return m.missing, false
	}
	return max(m.hash.of(value), 1), true // 0 would be no field
}

// valueHash hashes the values of fields, and the sites and paths of addresses: a part of a SHA-256 of the seed and the
// value. As strangers write them, and one hash makes them one, it must not be easy to find a value for a hash. It is
// not for concurrent use.
type valueHash struct{ seeded []byte }

const seedSize = 8

func newValueHash(seed uint64) valueHash {
	return valueHash{binary.LittleEndian.AppendUint64(nil, seed)}
}

func (h *valueHash) of(value []byte) uint64 {
	h.seeded = append(h.seeded[:seedSize], value...)
	sum := sha256.Sum256(h.seeded)
	return binary.LittleEndian.Uint64(sum[:])
}

// Paging says how documents are pages of sites. Without a rule they are not.
type Paging struct {
	Rule site.Rule
	// URL is the field of the address of a page, and Date the field of its date. A file that is one document has its
	// path as its address, and no date. All of them are given, or none.
	URL, Date string
	// Ranges is the number of ranges of hashes in which sites are counted.
	Ranges int
	// Traces says that pages have traces, by which the next run of a scheduled job knows them again.
	Traces bool `json:",omitempty"`
	// Watched keeps the texts of pages, which the watch over protected sites compares.
	Watched bool `json:",omitempty"`
}

func (p Paging) fields() []string {
	if p.Rule == "" {
		return nil
	}
	fields := []string{p.URL, p.Date, formats.PasswordInput, formats.Language, formats.Markup, formats.Canonical}
	if p.Watched {
		fields = append(fields, formats.Contents)
	}
	return fields
}

type pager struct {
	paging Paging
	// The numbers of the fields in [corpus.Record.Others], -1 for none.
	url, date, login, language, markup, canonical, contents int
	hash                                                    valueHash
}

// newPager returns a pager of records with these other fields. The seed is the key of all hashes.
func newPager(p Paging, fields []string, seed uint64) pager {
	return pager{
		paging:    p,
		hash:      newValueHash(seed),
		url:       slices.Index(fields, p.URL),
		date:      slices.Index(fields, p.Date),
		login:     slices.Index(fields, formats.PasswordInput),
		language:  slices.Index(fields, formats.Language),
		markup:    slices.Index(fields, formats.Markup),
		canonical: slices.Index(fields, formats.Canonical),
		contents:  slices.Index(fields, formats.Contents),
	}
}

// The two sizes of a sketch of markup are one.
var _ [records.MarkupSize]byte = [webtext.MarkupBytes]byte{}

// mostAddressBytes is the length of the longest address that is kept. Longer ones are cut where they are shown.
const mostAddressBytes = 2000

// address returns the address of a document as written there and in its canonical form, false if it has none.
func (p *pager) address(r *Record, file *corpus.File) (text []byte, page site.Address, ok bool) {
	if p.url < 0 {
		return nil, page, false
	}
	text = r.Content.Others[p.url]
	if text == nil && file.Format.IsWhole() {
		text = []byte(addressOfPath(file.At(r.Position)))
	}
	page, ok = site.Parse(string(text))
	return text, page, ok
}

// addressOfPath returns the address of a page that is a file: its path from the folder on that has the name of a host.
// That folder is the first below the input or, if none there is a host, the last above. Without one it is the first
// folder below the input, or the last of the input itself.
func addressOfPath(file *corpus.File) string {
	path := filepath.ToSlash(file.Path)
	if file.Member != nil {
		path = strings.Replace(path, "!/", "/", 1)
	}
	below := max(len(path)-file.Below, 0)
	elements, start := strings.Split(path[below:], "/"), below
	for _, element := range elements[:len(elements)-1] {
		if site.IsHostName(element) {
			return path[start:]
		}
		start += len(element) + 1
	}
	above := strings.Split(path[:below], "/")
	start = below
	for i := len(above) - 1; i > 0; i-- {
		if start -= len(above[i]) + 1; site.IsHostName(above[i]) {
			return path[start+1:]
		}
	}
	if len(elements) == 1 && len(above) > 1 {
		return above[len(above)-2] + "/" + path[below:]
	}
	return path[below:]
}

// add adds a document of some shingles, or what else stands for it, to the pages of a block, or counts it if it has no
// address. The counts of sites come last, see [block.cut]. A value that should be an address, and is none, is a reject
// as well: the document stays. Without a rule it does nothing.
func (p *pager) add(b *block, ref docref.Ref, r *Record, file *corpus.File, shingles []uint64) {
	if p.paging.Rule == "" {
		return
	}
	text, address, ok := p.address(r, file)
	if !ok {
		b.Counts.Unsited++
		if value := r.Content.Others[p.url]; len(value) > 0 && !site.IsOpaque(string(value)) {
			b.reject(file, r,
				fmt.Sprintf("the document stays, but belongs to no site: its %s is no address of a page: %.100q",
					p.paging.URL, value))
		}
		return
	}
	if r.Content.Others[p.url] == nil {
		b.Counts.SitedByPath++
	}
	name, path := p.paging.Rule.Of(address)
	page := records.Page{
		Site:    p.hash.of([]byte(name)),
		Path:    p.hash.of([]byte(path)),
		Login:   string(r.Content.Others[p.login]) == "true",
		Start:   path == "",
		Address: text[:min(len(text), mostAddressBytes)],
	}
	page.Original = p.original(r, name)
	copy(page.Language[:], webtext.BaseLanguage(r.Content.Others[p.language]))
	if markup := r.Content.Others[p.markup]; len(markup) == records.MarkupSize {
		page.Markup = markup
	}
	if p.paging.Traces {
		trace := records.TraceOf(shingles)
		page.Trace = trace[:]
	}
	count := records.SiteCount{Site: page.Site, Pages: 1, Text: int64(len(shingles)), First: records.NoDate}
	if page.Login {
		count.Logins = 1
	}
	if seconds, ok := preference.Seconds(r.Content.Others[p.date]); ok {
		count.First = seconds
	} else {
		b.Undated++
	}
	b.pages = records.Append(b.pages, &records.SplitPage{Ref: ref, Page: page})
	if p.paging.Watched {
		b.pageTexts = records.Append(b.pageTexts, &records.PageText{
			Ref:      ref,
			Shown:    bytes.Join(r.Content.Texts, []byte("\n")),
			Contents: r.Content.Others[p.contents],
		})
	}
	b.sites.add(count, func() string { return shortText(name, mostSiteBytes) })
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

func (p Paging) rangeOf(site uint64) int { return records.ShardOf(site, p.Ranges) }

// OpenPages returns the pages of a split, in the order of documents. Pages that a state keeps do not know the number of
// their file: the link to them has it as its mark.
func OpenPages(w *work.TaskContext, buffer int) (p Pages, err error) {
	p.packed, err = w.Read(buffer, records.Pages)
	for _, piece := range w.Pieces {
		if piece.Kind == records.Pages && err == nil {
			var moved docref.Ref
			moved, err = docref.New(int(piece.Mark), 0)
			p.pieces = append(p.pieces, pagePiece{int(piece.Length), moved})
		}
	}
	return p, err
}

// Pages are the pages of a split.
type Pages struct {
	packed []byte
	pieces []pagePiece // of these bytes
}

type pagePiece struct {
	left  int        // bytes that were not read yet
	moved docref.Ref // what is added to the refs
}

// Of returns the page of a document, false for a document that is none. Documents must be asked for in their order.
func (p *Pages) Of(ref docref.Ref) (records.Page, bool) {
	for len(p.packed) > 0 {
		of := &p.pieces[0]
		if records.GetRef(p.packed)+of.moved > ref {
			break
		}
		page, rest := records.Next[records.SplitPage](p.packed)
		p.packed, of.left = rest, of.left-(len(p.packed)-len(rest))
		if of.left == 0 {
			p.pieces = p.pieces[1:]
		}
		if page.Ref+of.moved == ref {
			return page.Page, true
		}
	}
	return records.Page{}, false
}
