package output

// All returns the names of all outputs.
func All() []string {
	return []string{Clusters, Pairs, Removed, Unique, Annotated, Rejects, Sketches, Index, Changes, Boilerplate, Mirrors, Sites, Suspects}
}

// The outputs that rows are written to.
const (
	Clusters = "clusters"
	Pairs    = "pairs"
	Removed  = "removed"
	Unique   = "unique"
	// Annotated is the whole corpus, with what the job has found out about each document.
	Annotated = "annotated"
	Rejects   = "rejects"
	Sketches  = "sketches"
	Index     = "index"
	// Changes is what has changed since the last run of a scheduled job.
	Changes = "changes"
	// Boilerplate is passages that very many documents have.
	Boilerplate = "boilerplate"
	// Mirrors are pairs of sites that have much in common, Sites the sites, and Suspects those that have copies of protected ones.
	Mirrors  = "mirrors"
	Sites    = "sites"
	Suspects = "suspects"
)

// Files that a job writes beside its outputs, each packed as in a sketch block and ascending: the shingles of base texts,
// and those that very many documents have. Both do not count.
const (
	IgnoredShingles = "ignored"
	CommonShingles  = "common"
)
