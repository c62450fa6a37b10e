package output

import (
	"strconv"

	"mirrorbeam/internal/ground/quoting"
)

// The kinds of a [Change]. A group of this run continues the group of the last run whose members it has most of.
const (
	New    = "new"    // none of its members was in a group
	Grown  = "grown"  // it continues one group and has further members
	Shrunk = "shrunk" // it continues one group, has no further members and lacks some
	Merged = "merged" // it continues several groups
	Split  = "split"  // it is a part of a group of which other groups have parts, too
	Gone   = "gone"   // none of its members is in a group any more
)

// The kinds of a [Change] that only the watch over protected sites has.
const (
	Unseen  = "unseen"  // a suspect could not be looked for, so it stays as it was
	Changed = "changed" // a protected site has too little left of what it was to be compared
)

// ChangeKinds are the kinds of changes, in the order of a report.
var ChangeKinds = []string{New, Grown, Merged, Split, Shrunk, Changed, Unseen, Gone}

// Followed are the outputs whose changes are told, in the order of a report.
var Followed = []string{Clusters, Mirrors, Suspects, Protected}

// Protected stands for the protected sites among the outputs whose changes are told.
const Protected = "protected"

// ChangeKindsOf returns the kinds of changes that an output of [Followed] may have. A suspect is one pair of sites, so it
// neither merges nor splits.
func ChangeKindsOf(of string) []string {
	switch of {
	case Suspects:
		return []string{New, Grown, Shrunk, Unseen, Gone}
	case Protected:
		return []string{Changed}
	}
	return []string{New, Grown, Merged, Split, Shrunk, Gone}
}

// Change is a row of changes: a cluster of documents, a group of mirrors, a suspect or a protected site that is not what it was in
// the last run. The members of a group of mirrors are sites, those of a suspect the pages that are copies. A row without a lineage
// stands for as many further changes as its size says: see package state.
type Change struct {
	// Of is one of [Followed].
	Of string `json:"of" parquet:"of,dict"`
	// Change is one of [ChangeKinds].
	Change string `json:"change" parquet:"change,dict"`
	// Lineage is the same in all runs in which the group continues.
	Lineage string `json:"lineage" parquet:"lineage"`
	// Name is what this run calls the group or, if it is gone, the last run did.
	Name string `json:"name" parquet:"name"`
	// Size is the number of its members, 0 if it is gone. Before is the number of members of the groups that it continues.
	Size   int64 `json:"size" parquet:"size"`
	Before int64 `json:"before" parquet:"before"`
	// Added and Removed count its members that were in none of these groups, and those of these groups that are not its own.
	// So Size is Before plus Added less Removed.
	Added   int64 `json:"added" parquet:"added"`
	Removed int64 `json:"removed" parquet:"removed"`
	// Previous are the lineages of the groups of the last run that it has members of.
	Previous []string `json:"previous,omitempty" parquet:"previous,list"`
	// Generation is the generation of the state whose run has found the change. Since is an earlier one if a change of this
	// kind was found there, too, and nobody has acknowledged it.
	Generation int64 `json:"generation" parquet:"generation"`
	Since      int64 `json:"since" parquet:"since"`
}

// AppendJSON appends the row as a line of JSON, which encoding/json reads back. Previous is left out if it is empty.
func (c Change) AppendJSON(b []byte) []byte {
	for i, text := range []struct{ name, value string }{{"of", c.Of}, {"change", c.Change}, {"lineage", c.Lineage}, {"name", c.Name}} {
		b = append(b, "{,,,"[i], '"')
		b = append(b, text.name...)
		b = append(b, `":`...)
		b = quoting.AppendQuoted(b, text.value)
	}
	for _, number := range []struct {
		name  string
		value int64
	}{{"size", c.Size}, {"before", c.Before}, {"added", c.Added}, {"removed", c.Removed}} {
		b = append(b, `,"`...)
		b = append(b, number.name...)
		b = append(b, `":`...)
		b = strconv.AppendInt(b, number.value, 10)
	}
	for i, lineage := range c.Previous {
		if i == 0 {
			b = append(b, `,"previous":[`...)
		} else {
			b = append(b, ',')
		}
		b = quoting.AppendQuoted(b, lineage)
	}
	if len(c.Previous) > 0 {
		b = append(b, ']')
	}
	b = strconv.AppendInt(append(b, `,"generation":`...), c.Generation, 10)
	b = strconv.AppendInt(append(b, `,"since":`...), c.Since, 10)
	return append(b, "}\n"...)
}
