package findings

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// Counts is what the tasks counted of the corpus, and of what they found in it. The comment of a field is what the
// documentation, the page of a report and the metrics say of it. [Figures] has the other tags that a field may have.
type Counts struct {
	// Documents counts the documents of the input. It is the sum of Kept and Removed.
	Documents int64 `json:"documents" of:"input"`
	// Bytes is the size of the records of these documents.
	Bytes int64 `json:"bytes" of:"input" label:"read" unit:"bytes"`
	// ReferenceDocuments counts the documents of the reference, which Documents does not include.
	ReferenceDocuments int64 `json:"reference_documents,omitempty" of:"input" label:"documents of a reference"`
	// ReferenceBytes is the size of the records of these documents.
	ReferenceBytes int64 `json:"reference_bytes,omitempty" of:"input" label:"read of a reference" unit:"bytes"`
	// Rejected counts the records that could not be read, the reference's included.
	Rejected int64 `json:"rejected" of:"input" label:"rejects"`
	// Panics counts the panics of the program over a document.
	Panics int64 `json:"panics,omitempty" label:"panics over documents"`
	// Empty counts the rejected records whose text is null or missing.
	Empty int64 `json:"empty,omitempty" of:"input" label:"rejects without text"`
	// RepeatedIDs counts the ids that several documents of the input have, exactly.
	RepeatedIDs int64 `json:"repeated_ids,omitempty" of:"input" label:"repeated ids"`
	// IntegerIDs counts the documents, the reference included, whose id is a whole number.
	IntegerIDs int64 `json:"integer_ids,omitempty" of:"input" label:"with a number as id"`
	// InvalidUTF8 counts the documents with bytes that are not UTF-8, the reference's included.
	InvalidUTF8 int64 `json:"invalid_utf8" of:"input" label:"not valid UTF-8"`
	// Expanding counts the compressed files that expand to more than 1,000 times their size.
	Expanding int64 `json:"expanding,omitempty" of:"input" label:"expanding files"`
	// Unranked counts the documents of the input that --keep does not rank.
	Unranked int64 `json:"unranked,omitempty" label:"not ranked"`
	// UnrankedTies counts the documents of the input without a value of each further field of --keep, in its order.
	UnrankedTies [2]int64 `json:"unranked_ties,omitzero" label:"without a value of a further field"`
	// Unscoped counts the documents, the reference included, without the field of --within or --across.
	Unscoped int64 `json:"unscoped,omitempty" of:"input" label:"without the field to compare by"`
	// Unsited counts the documents without an address, which belong to no site.
	Unsited int64 `json:"unsited,omitempty" label:"without a site"`
	// SitedByPath counts the documents without an address whose site is a folder of their path.
	SitedByPath int64 `json:"sited_by_path,omitempty" label:"sites from paths"`
	// IgnoredIn counts the documents, the reference included, with shingles of the base texts of --ignore.
	IgnoredIn int64 `json:"ignored_in,omitempty" of:"input" label:"with base texts"`
	// IgnoredShingles counts the shingles of base texts, distinct per document.
	IgnoredShingles int64 `json:"ignored_shingles,omitempty" of:"input" label:"shingles of base texts"`
	// IgnoredWhole counts the documents that contain hardly anything else.
	IgnoredWhole int64 `json:"ignored_whole,omitempty" of:"input" label:"hardly more than base texts"`
	// CommonIn counts the documents, the reference included, with common shingles.
	CommonIn int64 `json:"common_in,omitempty" of:"input" label:"with common shingles"`
	// CommonShingles counts the common shingles, distinct per document.
	CommonShingles int64 `json:"common_shingles,omitempty" of:"input" label:"common shingles"`
	// CommonWhole counts the documents that contain hardly anything else.
	CommonWhole int64 `json:"common_whole,omitempty" of:"input" label:"hardly more than common shingles"`
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
	// NamedByRef counts the documents with near-duplicates that are named by their ref because they share an id; with
	// --across all documents that share an id.
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
	// Variants counts the pairs of variants, with --variants keep or wide. They are among Pairs.
	Variants int64 `json:"variants,omitempty" label:"pairs of variants"`
	// Archives counts the files of web archives, the reference's included.
	Archives int64 `json:"archives,omitempty" of:"input" label:"web archives"`
	// FilesRejected counts the files that could not be read at all. Each is one of Rejected.
	FilesRejected int64 `json:"files_rejected,omitempty" of:"input" label:"files that could not be read"`
	// FilesDamaged counts the files that were read, but are cut short or damaged.
	FilesDamaged int64 `json:"files_damaged,omitempty" of:"input" label:"files cut short or damaged"`
	// Uncopied counts the documents that an output lacks since their file is damaged in a part that only copies read.
	Uncopied map[string]int64 `json:"uncopied,omitempty" label:"left out of copies"`
	// GuessedEncodings counts the files whose encoding was guessed from their bytes, by encoding.
	GuessedEncodings map[string]int64 `json:"guessed_encodings,omitempty" of:"input" label:"files of guessed encoding"`
	// PassedOver counts the files of searched folders that were not read, by reason.
	PassedOver map[string]int64 `json:"passed_over,omitempty" metric:"files_passed_over" of:"input" label:"files passed over"`
}

// OfInput returns the counts with the tag of:"input": what was read, whatever is compared and kept.
func (c *Counts) OfInput() (of Counts) {
	into := reflect.ValueOf(&of).Elem()
	for field, value := range reflect.ValueOf(c).Elem().Fields() {
		if field.Tag.Get("of") == "input" {
			into.FieldByIndex(field.Index).Set(value)
		}
	}
	return of
}

// HasIntegerNames reports whether rows call documents by whole numbers: all ids are such, and none is shared by a
// document with similar ones. The counts must be of all documents and clusters.
func (c *Counts) HasIntegerNames() bool {
	return c.IntegerIDs > 0 && c.IntegerIDs == c.Documents+c.ReferenceDocuments && c.NamedByRef == 0
}

// Skipped says what was not compared.
type Skipped struct {
	// Pairs counts pairs that were not compared under a common key. They may have been compared under another key, and
	// their documents are compared with the pivots of the group.
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

// merge keeps the larger group. Of equal groups it keeps the one with the smaller names, whatever the order.
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

// Lost says which shingles are lost with the removed documents: the document that is kept for each of them lacks these.
// Another kept document may have some.
type Lost struct {
	// Of counts the shingles of all removed documents, distinct per document.
	Of int64 `json:"of" metric:"removed_shingles" label:"shingles of removed documents"`
	// Shingles counts the shingles that the document kept in their place lacks.
	Shingles int64 `json:"shingles" metric:"lost_shingles" label:"shingles lost"`
	// Documents counts the removed documents that have such shingles.
	Documents int64 `json:"documents" metric:"lost_from" label:"documents with lost shingles"`
	// Worst is the removed document that loses the most.
	Worst LostText `json:"worst,omitzero" metric:"-"`
}

// LostText is what is lost with a removed document.
type LostText struct {
	// Removed is the name of the document.
	Removed string `json:"removed"`
	// Kept is the name of the document that is kept for it.
	Kept string `json:"kept"`
	// Shingles counts the shingles that are lost.
	Shingles int64 `json:"shingles"`
	// Of counts all distinct shingles of the document.
	Of int64 `json:"of"`
}

// Compare orders documents, the one that loses the most first.
func (t LostText) Compare(other LostText) int {
	return cmp.Or(cmp.Compare(other.Shingles, t.Shingles), cmp.Compare(t.Of, other.Of),
		strings.Compare(t.Removed, other.Removed), strings.Compare(t.Kept, other.Kept))
}

func (t *LostText) merge(from any) {
	if other := from.(LostText); *t == (LostText{}) || other.Shingles > 0 && other.Compare(*t) < 0 {
		*t = other
	}
}

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
	// Benchmarks says, by the files of the reference, what was found of their items. It is missing without items.
	Benchmarks map[string]Benchmark `json:"benchmarks,omitempty" metric:"-"`
}

// Benchmark says what was found of the items of a benchmark.
type Benchmark struct {
	// Items counts the items that were looked for.
	Items Most `json:"items"`
	// Short counts the items that were not looked for, as they have too few words.
	Short Most `json:"short,omitempty"`
	// Found counts the items that some document has.
	Found int64 `json:"found"`
	// Places counts the places in documents where an item was found.
	Places int64 `json:"places"`
	// Documents counts the documents that have an item.
	Documents int64 `json:"documents"`
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
	// Listed counts the rows of copies that make no suspect: those that are common, and quotations.
	Listed int64 `json:"listed,omitempty"`
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

// SampledPair is a pair of a sample of the removed documents that are not identical to the one that stays for them.
type SampledPair struct {
	// Removed and Kept are the two documents, as refs, and RemovedName and KeptName their names.
	Removed, Kept         uint64
	RemovedName, KeptName string
	// KeptHash and RemovedHash order the pairs.
	KeptHash, RemovedHash uint64
}

// compare orders pairs by the hashes of their kept documents.
func (p SampledPair) compare(other SampledPair) int {
	return cmp.Or(cmp.Compare(p.KeptHash, other.KeptHash), cmp.Compare(p.Kept, other.Kept),
		cmp.Compare(p.RemovedHash, other.RemovedHash), cmp.Compare(p.Removed, other.Removed))
}

const (
	mostSampled     = 200
	mostSampledEach = 8 // of a kept document
)

// Sample is a sample of pairs: the ones with the smallest hashes, and not too many of one kept document. It is the same
// whatever the order in which they are added.
type Sample []SampledPair

// Takes reports whether a pair would be in the sample.
func (s Sample) Takes(one SampledPair) bool {
	at, _ := slices.BinarySearchFunc(s, one, SampledPair.compare)
	return at < mostSampled && (at < mostSampledEach || s[at-mostSampledEach].Kept != one.Kept)
}

// Add adds a pair.
func (s *Sample) Add(one SampledPair) {
	if !s.Takes(one) {
		return
	}
	at, _ := slices.BinarySearchFunc(*s, one, SampledPair.compare)
	all := slices.Insert(*s, at, one)
	first := at
	for first > 0 && all[first-1].Kept == one.Kept {
		first--
	}
	if last := first + mostSampledEach; last < len(all) && all[last].Kept == one.Kept {
		all = slices.Delete(all, last, last+1)
	}
	*s = all[:min(len(all), mostSampled)]
}

func (s *Sample) merge(from any) {
	for _, one := range from.(Sample) {
		s.Add(one)
	}
}

// Variants says how many removed documents of a sample are about something else than the one that stays.
type Variants struct {
	// Judged counts the removed documents that were looked at. They are not identical to the one that stays.
	Judged int64 `json:"judged" metric:"variants_judged" label:"removed documents looked at for variants"`
	// Found counts the documents that are about something else.
	Found int64 `json:"found" metric:"variants_found" label:"variants among them"`
	// Removed is the name of one of these, if there is any.
	Removed string `json:"removed,omitempty"`
	// Kept is the name of the document that stays for it.
	Kept string `json:"kept,omitempty"`
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

// Figure is a count with what its field says of it.
type Figure struct {
	// Path is its place in JSON: the names of the structs that it is in, and its own.
	Path []string
	// Metric is its name among the metrics: the tag metric, or its name in JSON.
	Metric string
	// Label is its name on a page: the tag label, or its name in JSON.
	Label string
	// IsBytes says that the tag unit is bytes.
	IsBytes bool
	// IsRare says that JSON leaves a zero out.
	IsRare bool
	Value  int64
}

// Figures lists the counts of a struct and of the structs in it, in the order of their declarations. A field is a count
// if its type is int64 or a map of that, whose value is the sum. It is none, and nothing in it is, if the tag metric is
// a dash.
func Figures(of any) []Figure {
	return appendFigures(nil, nil, reflect.Indirect(reflect.ValueOf(of)))
}

func appendFigures(all []Figure, path []string, of reflect.Value) []Figure {
	for field, value := range of.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if value = reflect.Indirect(value); field.Tag.Get("metric") == "-" {
			continue
		}
		at := path
		if !field.Anonymous {
			at = append(path[:len(path):len(path)], name)
		}
		figure := Figure{
			Path:    at,
			Metric:  cmp.Or(field.Tag.Get("metric"), name),
			Label:   cmp.Or(field.Tag.Get("label"), name),
			IsBytes: field.Tag.Get("unit") == "bytes",
			IsRare:  options == "omitempty",
		}
		switch value.Kind() {
		case reflect.Struct:
			all = appendFigures(all, at, value)
			continue
		case reflect.Map:
			for _, n := range value.Seq2() {
				figure.Value += n.Int()
			}
		case reflect.Int64:
			figure.Value = value.Int()
		default:
			continue
		}
		all = append(all, figure)
	}
	return all
}
