// Package boilerplate finds the passages that very many documents of a corpus have, such as menus and licences, and the passages of
// base texts.
//
// It knows which shingles are boilerplate: the ones of base texts, and the common ones. Stages before it have counted, for each
// part of the corpus, the documents that have each of them. [Summing] adds these counts up and finds the first document that
// has a shingle, its holder. [Finding] reads the holders again, where their shingles stand in the order of the text, and makes
// passages of them. [Writing] writes the most frequent ones.
//
// A shingle has one holder. So no two passages are the same, or parts of each other.
package boilerplate
