package output

import (
	"strconv"

	"mirrorbeam/internal/ground/quoting"
)

// Mirror is a row of mirrors: two sites that have much in common, A before B by name. Dates are those of ISO 8601, empty for
// none.
type Mirror struct {
	A    string `json:"a" parquet:"a,dict"`
	B    string `json:"b" parquet:"b,dict"`
	Kind string `json:"kind" parquet:"kind,dict"`
	// Score is from 0 to 1.
	Score float64 `json:"score" parquet:"score"`
	// Group is the primary site of their group.
	Group string `json:"group" parquet:"group,dict"`
	// PagesA and PagesB count the pages of each site. CommonA and CommonB count those that the other one has, too.
	PagesA  int64 `json:"pages_a" parquet:"pages_a"`
	PagesB  int64 `json:"pages_b" parquet:"pages_b"`
	CommonA int64 `json:"common_a" parquet:"common_a"`
	CommonB int64 `json:"common_b" parquet:"common_b"`
	// ContainmentA and ContainmentB are the shares of the pages of each that the other one has, and WeightedA and WeightedB
	// those of what they weigh.
	ContainmentA float64 `json:"containment_a" parquet:"containment_a"`
	ContainmentB float64 `json:"containment_b" parquet:"containment_b"`
	WeightedA    float64 `json:"weighted_a" parquet:"weighted_a"`
	WeightedB    float64 `json:"weighted_b" parquet:"weighted_b"`
	// SamePath is the share of the pages in common that are at one path, Similarity their mean similarity, and Sites the mean
	// number of sites that have them.
	SamePath   float64 `json:"same_path" parquet:"same_path"`
	Similarity float64 `json:"similarity" parquet:"similarity"`
	Sites      float64 `json:"sites" parquet:"sites"`
	// Markup is the mean similarity of their markup, 0 if it is not known.
	Markup float64 `json:"markup" parquet:"markup"`
	// SameLanguage is the share of pages that are in the language of their copies. LanguagePages counts the pages, on both
	// sites, of which this is known.
	SameLanguage  float64 `json:"same_language" parquet:"same_language"`
	LanguagePages int64   `json:"language_pages" parquet:"language_pages"`
	FirstA        string  `json:"first_a" parquet:"first_a"`
	FirstB        string  `json:"first_b" parquet:"first_b"`
	// Examples are pages of A and their copies on B.
	Examples []PagePair `json:"examples" parquet:"examples,list"`
}

// PagePair is two pages that are alike.
type PagePair struct {
	A          string  `json:"a" parquet:"a"`
	B          string  `json:"b" parquet:"b"`
	Similarity float64 `json:"similarity" parquet:"similarity"`
}

// fields writes the fields of a row of JSON.
type fields struct{ b []byte }

// name begins a field.
func (o *fields) name(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, "\":"...)
}

func (o *fields) text(name, text string) {
	o.name(name)
	o.b = quoting.AppendQuoted(o.b, text)
}

// optional writes a text unless it is empty.
func (o *fields) optional(name, text string) {
	if text != "" {
		o.text(name, text)
	}
}

func (o *fields) number(name string, x float64) {
	o.name(name)
	o.b = AppendFloat(o.b, x)
}

// known writes a number unless it is 0.
func (o *fields) known(name string, x float64) {
	if x != 0 {
		o.number(name, x)
	}
}

// languages writes the share of so many pages that are in the language of their copies, unless no language is known.
func (o *fields) languages(same float64, pages int64) {
	if pages > 0 {
		o.number("same_language", same)
		o.count("language_pages", pages)
	}
}

func (o *fields) count(name string, n int64) {
	o.name(name)
	o.b = strconv.AppendInt(o.b, n, 10)
}

func (o *fields) flag(name string, is bool) {
	o.name(name)
	o.b = strconv.AppendBool(o.b, is)
}

// list writes so many items.
func (o *fields) list(name string, n int, item func(i int)) {
	o.name(name)
	o.b = append(o.b, '[')
	for i := range n {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		item(i)
	}
	o.b = append(o.b, ']')
}

// example writes two pages, with these names for the two.
func (o *fields) example(a, b string, pair PagePair) {
	o.b = append(o.b, '{')
	o.text(a, pair.A)
	o.text(b, pair.B)
	o.number("similarity", pair.Similarity)
	o.b = append(o.b, '}')
}

// line ends the row.
func (o *fields) line() []byte { return append(o.b, "}\n"...) }

// AppendJSON appends the row as a line of JSON. Dates that are not known are left out.
func (m Mirror) AppendJSON(b []byte) []byte {
	o := fields{append(b, '{')}
	o.text("a", m.A)
	o.text("b", m.B)
	o.text("kind", m.Kind)
	o.number("score", m.Score)
	o.text("group", m.Group)
	o.count("pages_a", m.PagesA)
	o.count("pages_b", m.PagesB)
	o.count("common_a", m.CommonA)
	o.count("common_b", m.CommonB)
	o.number("containment_a", m.ContainmentA)
	o.number("containment_b", m.ContainmentB)
	o.number("weighted_a", m.WeightedA)
	o.number("weighted_b", m.WeightedB)
	o.number("same_path", m.SamePath)
	o.number("similarity", m.Similarity)
	o.number("sites", m.Sites)
	o.known("markup", m.Markup)
	o.languages(m.SameLanguage, m.LanguagePages)
	o.optional("first_a", m.FirstA)
	o.optional("first_b", m.FirstB)
	o.list("examples", len(m.Examples), func(i int) { o.example("a", "b", m.Examples[i]) })
	return o.line()
}

// Site is a row of sites.
type Site struct {
	Site  string `json:"site" parquet:"site"`
	Pages int64  `json:"pages" parquet:"pages"`
	// Duplicates counts the pages that are identical to an earlier page of the site.
	Duplicates int64 `json:"duplicates" parquet:"duplicates"`
	// First is the earliest date of a page, empty for none.
	First string `json:"first" parquet:"first"`
	// Rank is the rank in the list, 0 for none.
	Rank      int64 `json:"rank" parquet:"rank"`
	Protected bool  `json:"protected" parquet:"protected"`
	// Group is the primary site of the group of mirrors that it is in, empty for none. Primary says that it is this site.
	Group   string `json:"group" parquet:"group,dict"`
	Primary bool   `json:"primary" parquet:"primary"`
	// GroupSites is the number of sites in the group, and Cohesion the share of their pairs that are mirrors.
	GroupSites int64   `json:"group_sites" parquet:"group_sites"`
	Cohesion   float64 `json:"cohesion" parquet:"cohesion"`
}

// AppendJSON appends the row as a line of JSON. What is not known is left out, and so is a group of which there is none.
func (s Site) AppendJSON(b []byte) []byte {
	o := fields{append(b, '{')}
	o.text("site", s.Site)
	o.count("pages", s.Pages)
	o.count("duplicates", s.Duplicates)
	o.optional("first", s.First)
	if s.Rank > 0 {
		o.count("rank", s.Rank)
	}
	o.flag("protected", s.Protected)
	if s.Group != "" {
		o.text("group", s.Group)
		o.flag("primary", s.Primary)
		o.count("group_sites", s.GroupSites)
		o.number("cohesion", s.Cohesion)
	}
	return o.line()
}

// The severities of a [Suspect].
const (
	HighSeverity   = "high"   // its host looks alike, or a copied page asks for a password
	MediumSeverity = "medium" // any other
)

// Suspect is a row of suspects, an alert: a site that has copies of pages of a protected one.
type Suspect struct {
	// ID is the same in all runs for the same two sites.
	ID string `json:"id" parquet:"id"`
	// Severity is [HighSeverity] or [MediumSeverity].
	Severity string   `json:"severity" parquet:"severity,dict"`
	Reasons  []string `json:"reasons" parquet:"reasons,list"`
	// Site is the suspect, and Protected the site whose pages it has.
	Site      string  `json:"site" parquet:"site"`
	Protected string  `json:"protected" parquet:"protected,dict"`
	Score     float64 `json:"score" parquet:"score"`
	// Pages counts the pages of the suspect, Common those that are copies, and LoginPages those of them that ask for a password.
	Pages      int64 `json:"pages" parquet:"pages"`
	Common     int64 `json:"common" parquet:"common"`
	LoginPages int64 `json:"login_pages" parquet:"login_pages"`
	// Page is the address of a page that passes for one of the protected site, empty for none.
	Page string `json:"page" parquet:"page"`
	// Share is how much of the suspect are copies, and ProtectedShare how much of the protected site is copied.
	Share          float64 `json:"share" parquet:"share"`
	ProtectedShare float64 `json:"protected_share" parquet:"protected_share"`
	Similarity     float64 `json:"similarity" parquet:"similarity"`
	SamePath       float64 `json:"same_path" parquet:"same_path"`
	// Markup is the mean similarity of the markup of the copies to that of the originals, 0 if it is not known.
	Markup float64 `json:"markup" parquet:"markup"`
	// SameLanguage is the share of pages that are in the language of their copies. LanguagePages counts the pages, on both
	// sites, of which this is known.
	SameLanguage  float64 `json:"same_language" parquet:"same_language"`
	LanguagePages int64   `json:"language_pages" parquet:"language_pages"`
	// Lookalike is how much the host looks like the protected one, from 0 to 1, and LookalikeReason in which way.
	Lookalike       float64 `json:"lookalike" parquet:"lookalike"`
	LookalikeReason string  `json:"lookalike_reason" parquet:"lookalike_reason,dict"`
	// FirstSeen and ProtectedFirstSeen are the earliest dates of pages, empty for none.
	FirstSeen          string `json:"first_seen" parquet:"first_seen"`
	ProtectedFirstSeen string `json:"protected_first_seen" parquet:"protected_first_seen"`
	// Examples are pages of the suspect, and the originals.
	Examples []CopiedPage `json:"examples" parquet:"examples,list"`
	// Campaign is the ID of the campaign whose row stands for this one, empty for none.
	Campaign string `json:"campaign" parquet:"campaign,dict"`
	// Sites is the number of suspects of a campaign, and 0 in the row of one suspect. Site then is the page that they copy, or their
	// registered domain. Names are the first of them.
	Sites int64    `json:"sites" parquet:"sites"`
	Names []string `json:"names" parquet:"names,list"`
}

// CopiedPage is a page of a suspect and the page of a protected site that it is like.
type CopiedPage struct {
	Page       string  `json:"page" parquet:"page"`
	Original   string  `json:"original" parquet:"original"`
	Similarity float64 `json:"similarity" parquet:"similarity"`
}

func (c CopiedPage) pair() PagePair { return PagePair{c.Page, c.Original, c.Similarity} }

// AppendJSON appends the row as a line of JSON. Dates that are not known are left out.
func (s Suspect) AppendJSON(b []byte) []byte {
	o := fields{append(b, '{')}
	o.text("id", s.ID)
	o.text("severity", s.Severity)
	o.list("reasons", len(s.Reasons), func(i int) { o.b = quoting.AppendQuoted(o.b, s.Reasons[i]) })
	o.text("site", s.Site)
	o.text("protected", s.Protected)
	o.number("score", s.Score)
	o.count("pages", s.Pages)
	o.count("common", s.Common)
	o.count("login_pages", s.LoginPages)
	o.optional("page", s.Page)
	o.number("share", s.Share)
	o.number("protected_share", s.ProtectedShare)
	o.number("similarity", s.Similarity)
	o.number("same_path", s.SamePath)
	o.known("markup", s.Markup)
	o.languages(s.SameLanguage, s.LanguagePages)
	o.number("lookalike", s.Lookalike)
	o.optional("lookalike_reason", s.LookalikeReason)
	o.optional("first_seen", s.FirstSeen)
	o.optional("protected_first_seen", s.ProtectedFirstSeen)
	o.list("examples", len(s.Examples), func(i int) { o.example("page", "original", s.Examples[i].pair()) })
	o.optional("campaign", s.Campaign)
	if s.Sites > 0 {
		o.count("sites", s.Sites)
	}
	if len(s.Names) > 0 {
		o.list("names", len(s.Names), func(i int) { o.b = quoting.AppendQuoted(o.b, s.Names[i]) })
	}
	return o.line()
}
