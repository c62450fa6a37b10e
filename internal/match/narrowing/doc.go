// Package narrowing leaves out of a night's work the documents that can be in no pair.
//
// A scheduled job knows the similar pairs of its last run. So a document of an unchanged file can only be in a pair if the last run
// has listed it in one, or equal to another document, or if a document that is new is similar to it. A document of n
// shingles is similar to none, at the threshold t, that lacks more than (1-t)n of them: their union has n shingles at least.
// So it is left out if more than (1-t)n of its shingles are in no new document at all. Most documents are ruled out
// after a few shingles, and a table of bits says whether a new document has a shingle. The table may err to one side: it
// keeps a few documents too many, which are compared and found to be similar to none.
//
// What is left is the corpus of all later stages that look for pairs. They need not know of it: in the smaller corpus the same
// pairs are similar.
package narrowing
