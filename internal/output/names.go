package output

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
)
