package output

// Mirror is a row of mirrors: two sites that are mirrors. Dates are as in ISO 8601.
type Mirror struct {
	// A is the first of the two sites, by name.
	A string `json:"a" parquet:"a,dict"`
	// B is the second site.
	B string `json:"b" parquet:"b,dict"`
	// Kind is version, exact, partial or parked.
	Kind string `json:"kind" parquet:"kind,dict"`
	// Score is from 0 to 1.
	Score float64 `json:"score" parquet:"score"`
	// Group is the primary site of their group.
	Group string `json:"group" parquet:"group,dict"`
	// PagesA counts the pages of A, identical ones included.
	PagesA int64 `json:"pages_a" parquet:"pages_a"`
	// PagesB counts the pages of B, identical ones included.
	PagesB int64 `json:"pages_b" parquet:"pages_b"`
	// CommonA counts the pages of A that B has too, identical ones once.
	CommonA int64 `json:"common_a" parquet:"common_a"`
	// CommonB counts the pages of B that A has too, identical ones once.
	CommonB int64 `json:"common_b" parquet:"common_b"`
	// ContainmentA is the share of the pages of A that B has.
	ContainmentA float64 `json:"containment_a" parquet:"containment_a"`
	// ContainmentB is the share of the pages of B that A has.
	ContainmentB float64 `json:"containment_b" parquet:"containment_b"`
	// WeightedA is the share of the weight of A's pages that is on B.
	WeightedA float64 `json:"weighted_a" parquet:"weighted_a"`
	// WeightedB is the share of the weight of B's pages that is on A.
	WeightedB float64 `json:"weighted_b" parquet:"weighted_b"`
	// SamePath is the share of the common pages that have the same path on both sites.
	SamePath float64 `json:"same_path" parquet:"same_path"`
	// Similarity is the mean similarity of the common pages to their most similar copies.
	Similarity float64 `json:"similarity" parquet:"similarity"`
	// Sites is the mean number of sites that have the common pages.
	Sites float64 `json:"sites" parquet:"sites"`
	// Markup is the mean similarity of the markup of common pages and their copies, if known.
	Markup float64 `json:"markup,omitempty" parquet:"markup"`
	// SameLanguage is the share of the common pages that are in the language of their copies.
	SameLanguage float64 `json:"same_language" with:"LanguagePages" parquet:"same_language"`
	// LanguagePages counts the common pages, on both sites, whose language and whose copies' language are known.
	LanguagePages int64 `json:"language_pages,omitempty" parquet:"language_pages"`
	// FirstA is the earliest date of a page of A, if any.
	FirstA string `json:"first_a,omitempty" parquet:"first_a"`
	// FirstB is the earliest date of a page of B, if any.
	FirstB string `json:"first_b,omitempty" parquet:"first_b"`
	// Examples are up to three pages of A with the largest weight, and their copies on B.
	Examples []PagePair `json:"examples" parquet:"examples,list"`
}

// PagePair is two similar pages.
type PagePair struct {
	// A is the address of the page.
	A string `json:"a" parquet:"a"`
	// B is the address of its copy.
	B string `json:"b" parquet:"b"`
	// Similarity is how similar they are.
	Similarity float64 `json:"similarity" parquet:"similarity"`
}

// Site is a row of sites: a site, and the group of mirrors that it is in.
type Site struct {
	// Site is its name.
	Site string `json:"site" parquet:"site"`
	// Pages counts its pages.
	Pages int64 `json:"pages" parquet:"pages"`
	// Duplicates counts the pages that are identical to an earlier page of the site.
	Duplicates int64 `json:"duplicates" parquet:"duplicates"`
	// First is the earliest date of a page, if any.
	First string `json:"first,omitempty" parquet:"first"`
	// Rank is its rank in the list, if any.
	Rank int64 `json:"rank,omitempty" parquet:"rank"`
	// Protected says that it is protected.
	Protected bool `json:"protected" parquet:"protected"`
	// Group is the primary site of its group of mirrors, if any.
	Group string `json:"group,omitempty" parquet:"group,dict"`
	// Primary says that this site is the primary site.
	Primary bool `json:"primary" with:"Group" parquet:"primary"`
	// GroupSites is the number of sites in the group.
	GroupSites int64 `json:"group_sites" with:"Group" parquet:"group_sites"`
	// Cohesion is the share of pairs in the group that are mirrors.
	Cohesion float64 `json:"cohesion" with:"Group" parquet:"cohesion"`
}

// The severities of a [Suspect].
const (
	HighSeverity   = "high"   // its host looks alike, or a copy asks for a password in the name of the protected site
	MediumSeverity = "medium" // any other suspect
	LowSeverity    = "low"    // it has the text, and is no suspect
)

// Suspect is a row of suspects: a site that has copies of pages of a protected one. It is evidence, not proof.
type Suspect struct {
	// ID is the same in all runs for the same two sites.
	ID string `json:"id" parquet:"id"`
	// Severity is high, medium, or low for what is no suspect.
	Severity string `json:"severity" parquet:"severity,dict"`
	// Reasons are mirror, look_alike, login_form (a copy asks for a password), named (a copy says
	// the name of the protected site), page, same_paths (at least half of the copies have the paths of the originals),
	// same_markup (markup of at least 0.8), common_page (all copied pages are common) and seen_later.
	Reasons []string `json:"reasons" parquet:"reasons,list"`
	// Class is page (a page passes for a protected one), mirror (several pages, and much of one of the two sites),
	// common (many domains have the page, in one row) or quotes (another kind of page). The last two are no alarms.
	Class string `json:"class" parquet:"class,dict"`
	// Site is the suspect.
	Site string `json:"site" parquet:"site"`
	// Protected is the site that it copies.
	Protected string `json:"protected" parquet:"protected,dict"`
	// By is what the copies have: text, or, of a page that asks for a password, only its markup (tags, classes and
	// fields of forms) or assets (file names of pictures, scripts and style sheets).
	By string `json:"by" parquet:"by,dict"`
	// Score is the largest share of a protected page that is on a page of the suspect: of its runs of 12 letters, pairs
	// of neighbouring words, markup or assets.
	Score float64 `json:"score" parquet:"score"`
	// Pages counts the pages of the suspect.
	Pages int64 `json:"pages" parquet:"pages"`
	// Common counts its pages that are copies.
	Common int64 `json:"common" parquet:"common"`
	// LoginPages counts the protected pages whose copies ask for a password.
	LoginPages int64 `json:"login_pages" parquet:"login_pages"`
	// Page is the address of the first page, by name, that passes for one of the protected site.
	Page string `json:"page,omitempty" parquet:"page"`
	// Share is the share of the pages of the suspect that are copies.
	Share float64 `json:"share" parquet:"share"`
	// ProtectedShare is the share of the pages of the protected site that are copied.
	ProtectedShare float64 `json:"protected_share" parquet:"protected_share"`
	// Similarity is the mean share of the copied pages that is on their copies.
	Similarity float64 `json:"similarity" parquet:"similarity"`
	// SamePath is the share of the copies that have the paths of the originals.
	SamePath float64 `json:"same_path" parquet:"same_path"`
	// Markup is the mean similarity of the markup of copies and originals, if known.
	Markup float64 `json:"markup,omitempty" parquet:"markup"`
	// SameLanguage is the share of the copies that are in the language of the originals.
	SameLanguage float64 `json:"same_language" with:"LanguagePages" parquet:"same_language"`
	// LanguagePages counts the copied pages whose language and whose copies' language are known.
	LanguagePages int64 `json:"language_pages,omitempty" parquet:"language_pages"`
	// Lookalike says how much the host looks like the protected one, from 0 to 1.
	Lookalike float64 `json:"lookalike" parquet:"lookalike"`
	// LookalikeReason says in which way.
	LookalikeReason string `json:"lookalike_reason,omitempty" parquet:"lookalike_reason,dict"`
	// FirstSeen is the earliest date of a page of the suspect, if any.
	FirstSeen string `json:"first_seen,omitempty" parquet:"first_seen"`
	// ProtectedFirstSeen is the earliest date of a page of the protected site, if any.
	ProtectedFirstSeen string `json:"protected_first_seen,omitempty" parquet:"protected_first_seen"`
	// Examples are pages of the suspect, and their originals.
	Examples []CopiedPage `json:"examples" parquet:"examples,list"`
	// Campaign is the id of its campaign, if any.
	Campaign string `json:"campaign,omitempty" parquet:"campaign,dict"`
	// Sites is the number of suspects of a campaign, in its row only, which has the sum of their pages, the highest
	// score and all reasons; site is the page that they copy, or their registered domain; the rest is as in the first.
	Sites int64 `json:"sites,omitempty" parquet:"sites"`
	// Names are the first 100 of them.
	Names []string `json:"names,omitempty" parquet:"names,list"`
}

// CopiedPage is a page of a suspect and the page of a protected site that it is like.
type CopiedPage struct {
	// Page is the address of the copy.
	Page string `json:"page" parquet:"page"`
	// Original is the address of the original.
	Original string `json:"original" parquet:"original"`
	// Similarity is the share of the original that is on the copy.
	Similarity float64 `json:"similarity" parquet:"similarity"`
	// Words counts the words of the original that are on the copy, 0 for one of several copies with a part each.
	Words int64 `json:"words" parquet:"words"`
	// OfWords counts all words of the original.
	OfWords int64 `json:"of_words" parquet:"of_words"`
	// Reading is where they are: shown (the text of the document), contents (all text, also hidden or of embedded
	// pages), values (of attributes, style sheets and scripts), or markup or assets.
	Reading string `json:"reading" parquet:"reading"`
	// Passage is where the copy has most of them.
	Passage string `json:"passage" parquet:"passage"`
	// OriginalPassage is where the original has most of the words that are on the copy.
	OriginalPassage string `json:"original_passage" parquet:"original_passage"`
}
