// Package findings has what the tasks of a job find and its user is told of: counts, and examples.
//
// A count is declared once, as a field of [Counts] or of another struct here. The findings of tasks are merged by [Merge], which
// knows no field by its name. [Figures] lists counts for the pages and the metrics.
package findings

import (
	"mirrorbeam/internal/read/sources"
)

// Findings is what a task, or all tasks of a job together, have found.
type Findings struct {
	Totals
	Extras
	// Sources counts documents by the sources that they come from.
	Sources sources.Counts `json:",omitzero"`
	// Repeated says which ids several documents have.
	Repeated RepeatedIDs `json:",omitzero"`
	// Texts counts texts that are likely to be something else.
	Texts Texts `json:",omitzero"`
	// Templates and Bridges are clusters that may hold documents which are no near-duplicates.
	Templates Worst[Template] `json:",omitzero"`
	Bridges   Worst[Bridge]   `json:",omitzero"`
	// Largest holds the largest cluster of each output shard.
	Largest Worst[LargeCluster] `json:",omitzero"`
	// Sent is the number of documents of the input that a task has sent to output shards.
	Sent int64 `json:",omitempty"`
	// Crowded is the number of pairs of all groups that were crowds.
	Crowded int64 `json:",omitempty"`
	// AllPairs says that all pairs of documents have been compared.
	AllPairs bool `json:",omitempty"`
}

// Totals is the part of the findings that the summary of every job has.
type Totals struct {
	// Counts is what was counted of the corpus.
	Counts Counts `json:"counts"`
	// Skipped says what was not compared.
	Skipped Skipped `json:"skipped"`
	// PassedOver counts records of web archives that are no documents, by the reason. They are no rejects.
	PassedOver map[string]int64 `json:"passed_over,omitempty" metric:"records_passed_over" label:"records passed over"`
}

// Extras is the part of the findings that the summary has if the job was asked for it.
type Extras struct {
	// Common says which shingles are common. It is missing if none was looked for.
	Common *Common `json:"common,omitempty"`
	// Mirrors says what was found of sites. It is missing if no output is about sites.
	Mirrors *Mirrors `json:"mirrors,omitempty"`
}
