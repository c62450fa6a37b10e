// Package sketch turns a text into the set of its shingles. It turns a set into the short sketches from which
// the similarity of two texts is estimated.
//
// The measure is the Jaccard similarity of sets of word shingles. The words of a text are folded to lower
// case. Every few adjacent words make a shingle. The similarity of two texts is the share of their distinct
// shingles that both have. A [Hasher] computes the set:
//
//   - token.go folds a chunk of text and finds its tokens, with the classes of
//     Unicode code points from classes.go, hashes them, and combines neighbours
//     to shingles,
//   - document.go passes a text through these steps, sorts the shingles and removes
//     duplicates.
//
// The inner loops are in package asmkernels, in versions for several instruction sets. All give the same result.
//
// [MinHash] and [BottomK] shorten a set. [Hasher.BottomK] does so without sorting all of it.
//
// Texts may be changed before they come to a Hasher:
//
//   - normalize.go, a [Normalizer]: Unicode forms, case folding, punctuation,
//   - wordfilter.go reads [StopWords]. It removes words from a text, a
//     [WordFilter], or keeps only the shingles that contain words of a kind, a
//     [ShingleFilter]. words.go finds the words for them.
//
// fingerprinter.go puts these together: a [Fingerprinter] takes documents of several texts with weights, or
// of features that another program has found.
//
// To find copied passages, sequence.go turns a text into a [Sequence] of its shingles with their places. It leaves out
// what quotation.go finds quoted, and selects the shingles under which texts meet. sequenceindex.go, matcher.go and
// passages.go form a [Matcher], which says what two texts have in common and where.
//
// In addition to this measure there are the fingerprints of other schemes. Each follows its article and is tested
// against programs in use:
//
//   - singlehash.go, the single-hash MinHash: a [SingleHash] reads a text with the
//     characters of its article and keeps the smallest hashes as bottomk.go does.
//     minhash.go compares such fingerprints and bottom-k sketches, for Jaccard
//     similarity and containment: see [EstimateFingerprints],
//   - simhash.go, the [SimHash] of weighted features, counted bit by bit, 64 at
//     once. [Hamming] and [Cosine] compare,
//   - lsh.go, the [LSH] digests of words or characters, by any hash function,
//   - in minhash.go too, MinHash in the way of textbooks, the plain reference.
//
// Types that are used for text after text allocate nothing once their buffers have grown. Everything here is
// a pure function of its input: the same text gives the same numbers on every machine with little-endian byte
// order, and in every version of this package with the same golden tests.
package sketch
