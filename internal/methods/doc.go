// Package methods holds the ways to find similar documents. A method says how
// documents are keyed, grouped and scored.
package methods
