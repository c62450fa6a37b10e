// Package common finds the shingles that tell nothing of copying, as too many documents have them, and takes them out of
// the sets of all documents.
//
// Two rounds count. The first one finds the shingles that more distinct documents have than the law allows. The second
// one counts, for each of these, only the documents that have enough text of their own besides them. What is frequent
// there, too, is common: it is the template of documents that say something else. What many documents consist of, such as
// an article that a hundred sites have reprinted, is frequent in the first round only, and stays.
//
// Documents are told apart by their digests. So a text that stands in a corpus a thousand times counts once.
package common
