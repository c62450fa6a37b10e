package findings

import (
	"cmp"
	"slices"
	"strings"
)

// Counts is what the tasks counted of the corpus, and of what they found in it. The comment of a field is what the
// documentation, the page of a report and the metrics say of it. [Figures] has the other tags that a field may have.
type Counts struct {
	// Documents counts the documents of the input. It is the sum of Kept and Removed.
	Documents int64 `json:"documents"`
	// Bytes is the size of the records of these documents.
	Bytes int64 `json:"bytes" label:"read" unit:"bytes"`
	// ReferenceDocuments counts the documents of the reference, which Documents does not include.
	ReferenceDocuments int64 `json:"reference_documents,omitempty" label:"documents of a reference"`
	// ReferenceBytes is the size of the records of these documents.
	ReferenceBytes int64 `json:"reference_bytes,omitempty" label:"read of a reference" unit:"bytes"`
	// Rejected counts the records that could not be read, the reference's included.
	Rejected int64 `json:"rejected" label:"rejects"`
	// Panics counts the panics of the program over a document.
	Panics int64 `json:"panics,omitempty" label:"panics over documents"`
	// Empty counts the rejected records whose text is null or missing.
	Empty int64 `json:"empty,omitempty" label:"rejects without text"`
	// RepeatedIDs counts the ids that several documents of the input have, exactly.
	RepeatedIDs int64 `json:"repeated_ids,omitempty" label:"repeated ids"`
	// IntegerIDs counts the documents, the reference included, whose id is a whole number.
	IntegerIDs int64 `json:"integer_ids,omitempty" label:"with a number as id"`
	// InvalidUTF8 counts the documents with bytes that are not UTF-8, the reference's included.
	InvalidUTF8 int64 `json:"invalid_utf8" label:"not valid UTF-8"`
	// Expanding counts the compressed files that expand to more than 1,000 times their size.
	Expanding int64 `json:"expanding,omitempty" label:"expanding files"`
	// Unranked counts the documents of the input that --keep does not rank.
	Unranked int64 `json:"unranked,omitempty" label:"not ranked"`
	// Unscoped counts the documents, the reference included, without the field of --within or --across.
	Unscoped int64 `json:"unscoped,omitempty" label:"without the field to compare by"`
	// Unsited counts the documents without an address, which belong to no site.
	Unsited int64 `json:"unsited,omitempty" label:"without a site"`
	// SitedByPath counts the documents without an address whose site is a folder of their path.
	SitedByPath int64 `json:"sited_by_path,omitempty" label:"sites from paths"`
	// IgnoredIn counts the documents, the reference included, with shingles of the base texts of --ignore.
	IgnoredIn int64 `json:"ignored_in,omitempty" label:"with base texts"`
	// IgnoredShingles counts the shingles of base texts, distinct per document.
	IgnoredShingles int64 `json:"ignored_shingles,omitempty" label:"shingles of base texts"`
	// IgnoredWhole counts the documents that contain hardly anything else.
	IgnoredWhole int64 `json:"ignored_whole,omitempty" label:"hardly more than base texts"`
	// CommonIn counts the documents, the reference included, with common shingles.
	CommonIn int64 `json:"common_in,omitempty" label:"with common shingles"`
	// CommonShingles counts the common shingles, distinct per document.
	CommonShingles int64 `json:"common_shingles,omitempty" label:"common shingles"`
	// CommonWhole counts the documents that contain hardly anything else.
	CommonWhole int64 `json:"common_whole,omitempty" label:"hardly more than common shingles"`
	// Identical counts the pairs of identical documents: one for each document that is equal to an earlier one.
	Identical int64 `json:"identical" label:"pairs of identical documents"`
	// Candidates counts the pairs that were scored.
	Candidates int64 `json:"candidates" label:"candidates compared"`
	// Clusters counts the clusters.
	Clusters int64 `json:"clusters"`
	// Clustered counts the documents in clusters.
	Clustered int64 `json:"clustered" label:"documents in clusters"`
	// MedianCluster is the size of the median cluster: at least half of the clusters have no more documents.
	MedianCluster int64 `json:"median_cluster,omitempty" label:"documents in the median cluster"`
	// NamedByRef counts the documents with near-duplicates, the reference included, that are named by their ref because
	// they share an id. With --across it counts all documents that share an id.
	NamedByRef int64 `json:"named_by_ref,omitempty" label:"named by their ref"`
	// Kept counts the kept documents of the input.
	Kept int64 `json:"kept"`
	// Removed counts the removed documents of the input.
	Removed int64 `json:"removed"`
	// RemovedForReference counts the removed documents that are near-duplicates of a reference document, whatever
	// document is kept for them.
	RemovedForReference int64 `json:"removed_for_reference,omitempty" label:"removed for a reference"`
	// Pairs counts the rows of pairs, written or not.
	Pairs int64 `json:"pairs"`
	// Archives counts the files of web archives, the reference's included.
	Archives int64 `json:"archives,omitempty" label:"web archives"`
	// FilesRejected counts the files that could not be read at all. Each is one of Rejected.
	FilesRejected int64 `json:"files_rejected,omitempty" label:"files that could not be read"`
	// FilesDamaged counts the files that were read, but are cut short or damaged.
	FilesDamaged int64 `json:"files_damaged,omitempty" label:"files cut short or damaged"`
	// Uncopied counts the documents that a copy of the input lacks, by output: their file is damaged in a part that
	// only copies read.
	Uncopied map[string]int64 `json:"uncopied,omitempty" label:"left out of copies"`
	// GuessedEncodings counts the files whose encoding was guessed from their bytes, by encoding.
	GuessedEncodings map[string]int64 `json:"guessed_encodings,omitempty" label:"files in a guessed encoding"`
	// PassedOver counts the files of searched folders that were not read, by reason, such as an ending that no format
	// has.
	PassedOver map[string]int64 `json:"passed_over,omitempty" metric:"files_passed_over" label:"files passed over"`
}

// OfInput returns the counts of what was read. They are the same whatever is compared, and whatever is kept.
func (c *Counts) OfInput() Counts {
	return Counts{
		Documents:          c.Documents,
		Bytes:              c.Bytes,
		ReferenceDocuments: c.ReferenceDocuments,
		ReferenceBytes:     c.ReferenceBytes,
		Rejected:           c.Rejected,
		Empty:              c.Empty,
		RepeatedIDs:        c.RepeatedIDs,
		IntegerIDs:         c.IntegerIDs,
		InvalidUTF8:        c.InvalidUTF8,
		Expanding:          c.Expanding,
		Unscoped:           c.Unscoped,
		IgnoredIn:          c.IgnoredIn,
		IgnoredShingles:    c.IgnoredShingles,
		IgnoredWhole:       c.IgnoredWhole,
		Archives:           c.Archives,
		FilesRejected:      c.FilesRejected,
		FilesDamaged:       c.FilesDamaged,
		GuessedEncodings:   c.GuessedEncodings,
		PassedOver:         c.PassedOver,
	}
}

// HasIntegerNames reports whether rows call documents by whole numbers: all ids are such, and none is shared by a
// document with similar ones. The counts must be of all documents and clusters.
func (c *Counts) HasIntegerNames() bool {
	return c.IntegerIDs > 0 && c.IntegerIDs == c.Documents+c.ReferenceDocuments && c.NamedByRef == 0
}

// Skipped says what was not compared.
type Skipped struct {
	// Pairs counts pairs with a common key that were not compared, once per key. They may have been compared under
	// another key, and their documents are compared with the pivots of the group.
	Pairs int64 `json:"pairs" metric:"skipped_pairs"`
	// Groups counts the oversized key groups, in which not all pairs are compared.
	Groups int64 `json:"groups" metric:"skipped_groups"`
	// Kept counts the kept documents of such groups that were not compared with all other kept ones.
	Kept int64 `json:"kept" metric:"skipped_kept"`
	// SpreadPages counts pages on more than --mirror-sites sites, which are compared with protected sites only. Equal
	// pages of a site count once.
	SpreadPages int64 `json:"spread_pages,omitempty"`
	// Example is the largest of these groups.
	Example *SkippedGroup `json:"example,omitempty" metric:"-"`
}

// SkippedGroup is a dense group.
type SkippedGroup struct {
	// Documents is the number of distinct documents in the group.
	Documents int64 `json:"documents"`
	// First is its first document, as path:position.
	First string `json:"first"`
	// Second is its second document.
	Second string `json:"second"`
}

// merge keeps the larger group. Of equally large ones it keeps the one with the smaller names, so that the order does
// not matter.
func (g *SkippedGroup) merge(from any) {
	other := from.(SkippedGroup)
	if *g == (SkippedGroup{}) ||
		cmp.Or(cmp.Compare(other.Documents, g.Documents), cmp.Compare(g.First, other.First),
			cmp.Compare(g.Second, other.Second)) > 0 {
		*g = other
	}
}

// Common says which shingles are common.
type Common struct {
	// Above is the number of documents that may have a shingle before it is common.
	Above int64 `json:"above" metric:"common_above"`
	// Shingles is the number of common shingles.
	Shingles int64 `json:"shingles" metric:"common_found"`
}

// merge takes what the other task says: all that tell say the same.
func (c *Common) merge(from any) { *c = from.(Common) }

// Trimmed says what was cut from the texts of a corpus because it occurs earlier.
type Trimmed struct {
	// Of counts the words of the input.
	Of int64 `json:"of" metric:"words" label:"words"`
	// Words counts the words that were cut, including all words of removed documents.
	Words int64 `json:"words" metric:"words_cut" label:"words cut"`
	// Bytes is the length of the texts that were cut.
	Bytes int64 `json:"bytes" metric:"text_cut" label:"text cut" unit:"bytes"`
	// Passages counts the rows of passages.
	Passages int64 `json:"passages" metric:"passages_cut" label:"passages cut"`
	// Documents counts the documents from which something was cut.
	Documents int64 `json:"documents" metric:"documents_cut" label:"documents cut"`
	// Gone counts the documents that were removed as a whole.
	Gone int64 `json:"gone" metric:"documents_gone" label:"documents cut as a whole"`
}

// Mirrors says what was found of the sites of a corpus.
type Mirrors struct {
	// Sites counts the sites.
	Sites int64 `json:"sites"`
	// Pairs counts the pairs of mirrors.
	Pairs int64 `json:"pairs" metric:"mirrors"`
	// Groups counts the groups of mirrors.
	Groups int64 `json:"groups" metric:"mirror_groups"`
	// Protected counts the sites that are protected.
	Protected int64 `json:"protected,omitempty" metric:"protected_sites"`
	// Suspects counts the sites that have copies of protected ones.
	Suspects int64 `json:"suspects"`
	// Campaigns counts the rows that combine many suspects.
	Campaigns int64 `json:"campaigns,omitempty"`
	// TopMirrors are the five mirrors with the most pages in common.
	TopMirrors TopSites `json:"top_mirrors,omitempty"`
	// TopSuspects are the five suspects with the most pages in common.
	TopSuspects TopSites `json:"top_suspects,omitempty"`
}

// TwoSites are two sites that have much in common.
type TwoSites struct {
	// Site is a mirror or a suspect.
	Site string `json:"site"`
	// Of is the probable original.
	Of string `json:"of"`
	// Kind is the kind of a mirror, or the severity of an alert.
	Kind string `json:"kind"`
	// Score is the score of the two.
	Score float64 `json:"score"`
	// Pages counts their pages in common.
	Pages int64 `json:"pages"`
	// Sites is the number of sites of a campaign; Site is then what they have in common.
	Sites int64 `json:"sites,omitempty"`
}

// Compare orders pairs, the one with the most pages first.
func (t TwoSites) Compare(other TwoSites) int {
	return cmp.Or(cmp.Compare(other.Pages, t.Pages), cmp.Compare(other.Score, t.Score),
		strings.Compare(t.Of, other.Of), strings.Compare(t.Site, other.Site))
}

// mostNamed is how many mirrors and suspects are named.
const mostNamed = 5

// TopSites are the first five in their order.
type TopSites []TwoSites

// Add adds two sites if they are among the first.
func (t *TopSites) Add(one TwoSites) { *t = insert(*t, one, mostNamed) }

func (t *TopSites) merge(from any) {
	for _, one := range from.(TopSites) {
		t.Add(one)
	}
}

// Texts counts the documents of the input that are records with fields, and the ones whose text is likely to be
// in another field.
type Texts struct {
	Records int64
	// Empty counts texts without any character but white space.
	Empty int64
	// Blank counts all documents of the input, pages included, whose text has no other character.
	Blank int64
	// Addresses counts texts that are an address on the web and nothing else.
	Addresses int64
	// Short counts texts with fewer than ShortText distinct shingles.
	Short int64
	// Code counts all documents of the input that are program code by the ending of their id, and Pages those that are
	// web pages.
	Code, Pages int64
	// Markup counts texts of fields that are web pages with all their tags.
	Markup int64
	// Tiny counts all documents of the input with too few shingles for two that share nothing else to be compared for
	// certain.
	Tiny int64
}

// ShortText is the number of distinct shingles below which a text is short. It is a verse, a headline, a
// title. A few words more or less at its end make a near-duplicate that may be about something else.
const ShortText = 40

// TinyText is the number of distinct shingles below which nothing is sure to be found in containment: two documents are
// compared for certain if they have nine words in a row in common, and have passages of eight words.
const TinyText = 8

// Template is a cluster whose documents may have little in common but a template.
type Template struct {
	// Cluster is the name of the cluster, Documents the number of its documents.
	Cluster   string
	Documents int64
	// Mean and Least are the mean and the smallest similarity of its removed documents to the kept ones.
	Mean, Least float64
}

// Compare orders templates, the one with the most documents first.
func (t Template) Compare(other Template) int {
	return cmp.Or(cmp.Compare(other.Documents, t.Documents), strings.Compare(t.Cluster, other.Cluster))
}

// NearPair is a removed document and the one that stays for it.
type NearPair struct {
	Removed, Kept string
	Similarity    float64
	// Title and KeptTitle are their titles without numbers, if they are web pages.
	Title, KeptTitle string
}

// Compare orders pairs, the least similar first.
func (p NearPair) Compare(other NearPair) int {
	return cmp.Or(cmp.Compare(p.Similarity, other.Similarity), strings.Compare(p.Removed, other.Removed),
		strings.Compare(p.Kept, other.Kept))
}

// LargeCluster is a cluster and two of its documents.
type LargeCluster struct {
	// Name is the name of the cluster, Documents the number of its documents.
	Name      string
	Documents int64
	// A is its first document, and B the first that is not identical to it. B is empty if all are.
	A, B string
}

// Compare orders clusters, the one with the most documents first.
func (c LargeCluster) Compare(other LargeCluster) int {
	return cmp.Or(cmp.Compare(other.Documents, c.Documents), strings.Compare(c.Name, other.Name))
}

// Bridge is a cluster that would fall into two large parts without one pair.
type Bridge struct {
	// Cluster is the name of the cluster, Documents the number of its documents.
	Cluster   string
	Documents int64
	// Part is the number of documents in the smaller part.
	Part int64
	// A and B are the documents of the pair.
	A, B string
}

// Compare orders bridges, the one with the largest smaller part first.
func (b Bridge) Compare(other Bridge) int {
	return cmp.Or(cmp.Compare(other.Part, b.Part), strings.Compare(b.Cluster, other.Cluster))
}

// Panic is a panic of the program over a document; the zero Panic is none. [Counts] says how many there are.
type Panic struct {
	// Ref is the document, as path:position.
	Ref string
	// Fault says what the program did, and where it panicked.
	Fault string
}

// merge keeps one of the panics, whatever the order.
func (p *Panic) merge(from any) {
	if other := from.(Panic); p.Ref == "" ||
		other.Ref != "" && cmp.Or(cmp.Compare(other.Ref, p.Ref), cmp.Compare(other.Fault, p.Fault)) < 0 {
		*p = other
	}
}

// RepeatedIDs says how many documents of the input share their id with another one. [Counts] says how many ids these
// are.
type RepeatedIDs struct {
	// Documents is the number of documents.
	Documents int64
	// Example is two of them, if there are any: the first in document order, and the next one with its id.
	Example IDExample
}

// IDExample is two documents with one id.
type IDExample struct {
	// At orders examples: it is the place of the first document among all.
	At uint64
	// First and Second are the documents, as path:position. They are empty if there is no example.
	First, Second string
}

// merge keeps the first example.
func (e *IDExample) merge(from any) {
	if other := from.(IDExample); other.First != "" && (e.First == "" || other.At < e.At) {
		*e = other
	}
}

// mostWorst is how many clusters of a kind, or pairs, are named.
const mostWorst = 10

// Worst counts clusters of a kind and names the first ten in their order. It is the same whatever the order in which
// they are added.
type Worst[T interface{ Compare(T) int }] struct {
	Count int64
	Named []T
}

// Add adds a cluster.
func (w *Worst[T]) Add(one T) { w.merge(Worst[T]{Count: 1, Named: []T{one}}) }

// Takes reports whether one more would be named, or would come just behind the last one that is. If not, its name need
// not be known.
func (w *Worst[T]) Takes(one T) bool {
	return len(w.Named) < mostWorst || one.Compare(w.Named[mostWorst-1]) <= 0
}

func (w *Worst[T]) merge(from any) {
	other := from.(Worst[T])
	w.Count += other.Count
	for _, one := range other.Named {
		w.Named = insert(w.Named, one, mostWorst)
	}
}

// insert inserts an item at its place if it is among the first.
func insert[T interface{ Compare(T) int }](all []T, one T, most int) []T {
	at, _ := slices.BinarySearchFunc(all, one, T.Compare)
	all = slices.Insert(all, at, one)
	return all[:min(len(all), most)]
}
