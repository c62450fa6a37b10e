package work

// RepeatedIDs says how many documents of the input share their id with another one. [Counts] says how many ids these are.
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
	// First and Second are the documents, as path:position.
	First, Second string
}

// Add adds other to r. It keeps the first example, so that the order does not matter.
func (r *RepeatedIDs) Add(other RepeatedIDs) {
	if r.Documents == 0 || other.Documents > 0 && other.Example.At < r.Example.At {
		r.Example = other.Example
	}
	r.Documents += other.Documents
}
