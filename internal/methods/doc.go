// Package methods holds the ways to find similar documents. A [Method] is one thing in one
// file: it says how documents are keyed, how the documents of a key are grouped, what scores
// their pairs, what it promises and what it costs. A job and a plan ask the same method, so
// that there is one law of keys. A method takes part once it is registered.
package methods
