// Package sketch turns a text into the set of its shingles. It turns a set into the short sketches from which the
// similarity of two texts is estimated.
//
// The measure is the Jaccard similarity of sets of word shingles. The words of a text are folded to lower case. Every
// few adjacent words make a shingle. The similarity of two texts is the share of their distinct shingles that both
// have. A [Hasher] computes the set. Its inner loops are in package asmkernels, in versions for several instruction
// sets. All give the same result. [MinHash] and [BottomK] shorten a set. [Hasher.BottomK] does so without sorting all
// of it.
//
// Texts may be changed before they come to a Hasher: a [Normalizer] changes Unicode forms, case and punctuation, a
// [WordFilter] removes [StopWords], and a [ShingleFilter] keeps only the shingles that contain words of a kind. A
// [Fingerprinter] puts these together. It takes documents of several texts with weights, or of features that another
// program has found.
//
// To find copied passages, a [Sequencer] turns a text into a [Sequence] of its shingles with their places, on request
// without quotations. A [Matcher] says what two sequences have in common and where.
//
// In addition to this measure there are the fingerprints of other schemes. Each follows its article and is tested
// against programs in use: the single-hash MinHash ([SingleHash], [EstimateFingerprints]), [SimHash] of weighted
// features, which [Hamming] and [Cosine] compare, [LSH] digests of words or characters by any hash function, and
// MinHash in the way of textbooks ([UniversalMinHash]).
//
// Types that are used for text after text allocate nothing once their buffers have grown. Everything here is a pure
// function of its input: the same text gives the same numbers on every machine with little-endian byte order, and in
// every version of this package with the same golden tests.
package sketch
