// Package sketch turns a text into the set of its shingles and a set into the
// short sketches from which the similarity of two texts is estimated.
//
// The measure is the Jaccard similarity of sets of word shingles: the words of
// a text are folded to lower case, every few adjacent words make a shingle, and
// two texts are as similar as the shared part of their distinct shingles is
// large. A [Hasher] computes the set:
//
//   - token.go folds a chunk of text and finds its tokens, with the classes of
//     Unicode code points from classes.go,
//   - shingle.go hashes tokens and combines neighbours to shingles,
//   - set.go sorts the shingles and removes duplicates,
//   - document.go leads a text through these steps.
//
// [MinHash] and [BottomK] shorten a set. Everything here is a pure function of
// its input: the same text gives the same numbers on every machine with little-
// endian byte order and every version of this package with the same golden
// tests.
package sketch
