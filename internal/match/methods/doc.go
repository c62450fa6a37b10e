// Package methods holds the ways to find similar documents. A [Method] is one thing in one file. It says how documents
// are keyed, how the documents of a key are grouped, and what scores their pairs. It also says what it promises and
// what it costs. A job and a plan ask the same method, so there is one law of keys. A method takes part once it is
// registered.
package methods
