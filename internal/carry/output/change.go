package output

// The kinds of a [Change]. A group of this run continues the group of the last run whose members it has most of.
const (
	New    = "new"    // none of its members was in a group
	Grown  = "grown"  // it continues one group and has further members
	Shrunk = "shrunk" // it continues one group, has no further members and lacks some
	Merged = "merged" // it continues several groups
	Split  = "split"  // it is a part of a group, and other groups have parts of that, too
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
// the last run. The members of a group of mirrors are sites, the members of a suspect the pages that are copies. A row without a lineage
// stands for as many further changes as its size says: see package state.
type Change struct {
	// Of is the output that has the group: clusters, mirrors or suspects; or protected for a protected site.
	Of string `json:"of" parquet:"of,dict"`
	// Change says what has changed: new, grown, merged, split, shrunk, changed, unseen or gone.
	Change string `json:"change" parquet:"change,dict"`
	// Lineage is the same in all runs in which the group continues.
	Lineage string `json:"lineage" parquet:"lineage"`
	// Name is what this run calls the group or, if it is gone, the last run did.
	Name string `json:"name" parquet:"name"`
	// Size is the number of its members, 0 if it is gone. It is before plus added less removed.
	Size int64 `json:"size" parquet:"size"`
	// Before is the number of members of the groups that it continues.
	Before int64 `json:"before" parquet:"before"`
	// Added counts its members that were in none of these groups.
	Added int64 `json:"added" parquet:"added"`
	// Removed counts the members of these groups that are not its own.
	Removed int64 `json:"removed" parquet:"removed"`
	// Previous are the lineages of the groups of the last run that it has members of.
	Previous []string `json:"previous,omitempty" parquet:"previous,list"`
	// Generation is the generation of the state whose run has found the change. If it is not this run's, the row is
	// repeated.
	Generation int64 `json:"generation" parquet:"generation"`
	// Since is the generation of the first run that has found such a change of it, and that nobody has acknowledged.
	Since int64 `json:"since" parquet:"since"`
}
