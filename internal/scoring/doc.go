// Package scoring compares documents whose sets have come to one place, and writes an edge
// for each two that are alike.
//
// There are four ways to come to pairs: the candidate pairs of a place, all pairs of blocks
// of documents ([Sets]), candidate pairs of which the passages in common are wanted
// ([Passages]), and the documents of heaps, each of which is compared with a few leaders
// ([Heaps]). The edges of a task are one part of the similarity graph.
package scoring
