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
//   - document.go leads a text through these steps and has the shingles sorted
//     and duplicates removed.
//
// Their inner loops are in package asmkernels, in versions for several
// instruction sets that give the same result.
//
// [MinHash] and [BottomK] shorten a set; [Hasher.BottomK] does not sort all of it
// first.
//
// Texts may be changed before they come to a Hasher:
//
//   - normalize.go, a [Normalizer]: Unicode forms, case folding, punctuation,
//   - stopwords.go reads [StopWords]; wordfilter.go takes words out of a text, a
//     [WordFilter], or keeps only the shingles that hold words of a kind, a
//     [ShingleFilter]; words.go finds the words for them.
//
// fingerprinter.go puts these together for documents of several texts with
// weights, or of features that another program has found: a [Fingerprinter].
//
// Where copied passages are looked for a text is a [Sequence] of its shingles with
// their places, which sequence.go makes of it, without what quotation.go finds
// quoted; winnow.go selects the shingles that texts are brought together by, and
// sequenceindex.go, matcher.go and passages.go, a [Matcher], say what two texts have
// in common and where.
//
// Beside the measure above stand the fingerprints of other schemes, each as its
// article has it and tested against programs in use:
//
//   - singlehash.go, the single-hash MinHash: a [SingleHash] reads a text with the
//     characters of alphanumeric.go and keeps the smallest hashes in smallest.go;
//     estimate.go compares such fingerprints, and bottom-k sketches: Jaccard
//     similarity and containment, see [EstimateFingerprints],
//   - simhash.go, the [SimHash] of weighted features, which majority.go counts bit
//     by bit but 64 at once; [Hamming] and [Cosine] compare,
//   - lsh.go, the [LSH] digests of words or characters, by any hash function,
//   - universal.go, MinHash as textbooks have it, the plain reference.
//
// What is used again for text after text allocates nothing once its buffers have
// grown. Everything here is a pure function of its input: the same text gives the
// same numbers on every machine with little-endian byte order and every version
// of this package with the same golden tests.
package sketch
