package report

import (
	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/inspect/difference"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/findings"
)

// Figures are all that a page shows of a run. The page holds them as JSON, in the element with the id "figures".
type Figures struct {
	Run    Run     `json:"run"`
	Alerts []Alert `json:"alerts"`
	// Counts are the counts of summary.json.
	Counts findings.Counts `json:"counts"`
	// Lost is what summary.json says of lost text. It is nil if that does not tell.
	Lost    *findings.Lost `json:"lost,omitempty"`
	Skipped Skipped        `json:"skipped"`
	// Sites says what was found of sites. It is nil if the job was not about sites.
	Sites *SiteFindings `json:"sites,omitempty"`
	// Changes says what is different from the last run. It is nil if the job keeps no state.
	Changes *Changes `json:"changes,omitempty"`
	// Sizes has the clusters by their size, the smallest first. It is nil without clusters.
	Sizes []SizeClass `json:"sizes,omitempty"`
	// Nearest has, for documents in clusters, the similarity to the most similar other document. It is nil if neither
	// clusters nor pairs tell it.
	Nearest *Histogram `json:"nearest,omitempty"`
	// Sensitivity says how many pairs are close to the threshold. It is nil without pairs, and for distances.
	Sensitivity *Sensitivity `json:"crowding,omitempty"`
	Method      Method       `json:"method"`
	// Clusters are the largest ones and the loosest ones.
	Clusters []Cluster `json:"clusters,omitempty"`
	// Pairs are examples of all pairs.
	Pairs      []Pair           `json:"pairs,omitempty"`
	Sources    []sources.Row    `json:"sources"`
	Rejects    []Reason         `json:"rejects"`
	PassedOver map[string]int64 `json:"passed_over,omitempty"`
	Stages     []finished.Stage `json:"stages"`
	Totals     finished.Cost    `json:"totals"`
	// Notes say what is left out of the page, and why.
	Notes []string `json:"notes"`
}

// Run says which run a page is about.
type Run struct {
	// Folder is where its results are, empty if names are hidden.
	Folder     string `json:"folder,omitempty"`
	Version    string `json:"version"`
	ConfigHash string `json:"config_hash"`
	// Begun is when the run began, as summary.json has it; empty if that does not say.
	Begun string `json:"begun,omitempty"`
	// Threshold is the least similarity of a pair. Unit is what pairs are scored by.
	Threshold float64 `json:"threshold"`
	Unit      Unit    `json:"unit"`
	// Distance is the largest distance of a pair, if Unit is Bits.
	Distance int    `json:"distance,omitempty"`
	Split    string `json:"split"`
	// Drop says which documents of clusters are removed; runs of earlier versions did not say.
	Drop string `json:"drop,omitempty"`
	Keep string `json:"keep"`
	// Command repeats the run.
	Command string `json:"command"`
	// Hidden says that names of documents, sources and files are replaced.
	Hidden bool `json:"hidden"`
	// Passages says that the job looked for copied passages, which make no clusters.
	Passages bool `json:"passages,omitempty"`
	// Partial says that common shingles do not count for similarities.
	Partial bool `json:"partial,omitempty"`
}

// Unit is what pairs are scored by.
type Unit string

const (
	Similarity Unit = "similarity"
	Bits       Unit = "bits"
)

// Alert is a reason to look twice at the results.
type Alert struct {
	// Kind is the kind of a warning of summary.json, or one of the kinds of alerts.go.
	Kind string `json:"kind"`
	Text string `json:"text"`
	// Help says what to do about it. It may be empty.
	Help string `json:"help,omitempty"`
	// Place is the part of the page that tells more.
	Place string `json:"place"`
	// Urgent says that it cannot wait.
	Urgent bool `json:"urgent,omitempty"`
}

// Skipped says what was not compared.
type Skipped struct {
	Pairs     int64 `json:"pairs"`
	Groups    int64 `json:"groups"`
	Kept      int64 `json:"kept"`
	Documents int64 `json:"documents,omitempty"` // of the largest group
}

// SizeClass counts the clusters of From to To documents.
type SizeClass struct {
	From      int   `json:"from"`
	To        int   `json:"to"`
	Clusters  int64 `json:"clusters"`
	Documents int64 `json:"documents"`
}

// Histogram counts documents by their highest similarity, or by their least distance.
type Histogram struct {
	// Of names the rows that the similarities come from: pairs or clusters.
	Of string `json:"of"`
	// Sampled is the share of the documents that were looked at, above 0 and at most 1.
	Sampled float64 `json:"sampled"`
	Bins    []Bin   `json:"bins"`
	// Valley is a similarity that separates two groups of documents, nil if none does.
	Valley *float64 `json:"valley,omitempty"`
}

// Bin counts values from From to below To; the last bin of a histogram of similarities has those that are 1.
type Bin struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Count int64   `json:"count"`
}

// Sensitivity counts the pairs within Width of a similarity, on both sides.
type Sensitivity struct {
	// At is the suggested threshold, or without one the threshold of the run.
	At    float64 `json:"at"`
	Width float64 `json:"width"`
	Pairs int64   `json:"pairs"`
	// Of is the number of all pairs that are not identical.
	Of int64 `json:"of"`
	// Above counts the pairs from the threshold of the run up to Width above it.
	Above int64 `json:"above"`
}

// Method says how pairs were found, and what share of them.
type Method struct {
	finished.Plan
	Audit *audit.Result `json:"audit,omitempty"`
}

// Cluster is a cluster with some of its documents.
type Cluster struct {
	finished.Cluster
	Documents []Member `json:"documents,omitempty"`
}

// Member is a document of a cluster, with those fields of its row that a page shows.
type Member struct {
	ID string `json:"id"`
	// URL and Date say from where and when a web archive has fetched it, and are empty otherwise.
	URL        string  `json:"url,omitempty"`
	Date       string  `json:"date,omitempty"`
	Kept       bool    `json:"kept"`
	Similarity float64 `json:"similarity"`
	Reference  bool    `json:"reference,omitempty"`
}

// Pair is a pair of documents.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// These say from where and when a web archive has fetched the two, and are empty otherwise.
	URLA  string `json:"url_a,omitempty"`
	DateA string `json:"date_a,omitempty"`
	URLB  string `json:"url_b,omitempty"`
	DateB string `json:"date_b,omitempty"`
	// Score is the similarity, or the distance in bits.
	Score        float64 `json:"score"`
	ContainmentA float64 `json:"containment_a"`
	ContainmentB float64 `json:"containment_b"`
	// Whole is the similarity by all shingles, 0 unless common ones are left out.
	Whole     float64 `json:"jaccard_whole,omitempty"`
	Estimate  bool    `json:"estimate,omitempty"`
	Identical bool    `json:"identical,omitempty"`
	// Why says why the pair is shown.
	Why string `json:"why,omitempty"`
	// Texts are the two texts, nil where they are not shown.
	Texts *difference.Texts `json:"-"`

	lot float64 // which depends on nothing but the names, from 0 to below 1
}

// Reason counts rejects.
type Reason struct {
	Error    string `json:"error"`
	Records  int64  `json:"records"`
	File     string `json:"file,omitempty"` // of the first one
	Position int64  `json:"position,omitempty"`
}
