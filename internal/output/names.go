package output

// The outputs that rows are written to.
const (
	Clusters = "clusters"
	Pairs    = "pairs"
	Removed  = "removed"
	Unique   = "unique"
	Rejects  = "rejects"
	Sketches = "sketches"
	Index    = "index"
)
