package keep

// Split says what a cluster is.
type Split string

const (
	// Component: documents joined by edges, directly or through others.
	Component Split = "component"
	// Star: a document that is kept and those that go for it.
	Star Split = "star"
)
