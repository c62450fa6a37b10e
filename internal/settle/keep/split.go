package keep

// Split says what a cluster is.
type Split string

const (
	// Component: documents joined by edges, directly or through others.
	Component Split = "component"
	// Star: a kept document and the documents that are removed for it.
	Star Split = "star"
)
