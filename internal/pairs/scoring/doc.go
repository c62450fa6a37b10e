// Package scoring compares documents whose sets have come to one bucket, and writes an edge for each similar pair.
//
// Pairs come from four sources:
//
//	the candidate pairs of a place          [Sets]
//	all pairs of blocks of documents        [Sets]
//	candidate pairs whose passages count    [Passages]
//	the documents of hot groups with pivots     [HotGroups]
//
// In a hot group each document is compared with a few pivots only. The edges of a task are one part of the similarity
// graph.
package scoring
