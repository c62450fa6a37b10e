package sketch_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"mirrorbeam.dev/sketch"
)

const (
	original = "All human beings are born free and equal in dignity and rights."
	copied   = "All human beings are born free and EQUAL, in dignity and in rights!"
)

func Example() {
	hasher, err := sketch.NewHasher(sketch.Measure{Shingle: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	minhash, err := sketch.NewMinHash(128)
	if err != nil {
		fmt.Println(err)
		return
	}
	a, b := hasher.Set([]byte(original)), hasher.Set([]byte(copied))
	fmt.Printf("%.2f of the shingles are common\n", sketch.Jaccard(a, b))
	agreement := sketch.SignatureAgreement(minhash.Signature(nil, a), minhash.Signature(nil, b))
	fmt.Printf("about %.1f by signatures\n", agreement)
	// Output:
	// 0.75 of the shingles are common
	// about 0.8 by signatures
}

func ExampleSingleHash() {
	o := sketch.SingleHashOptions{Words: 3, Size: 128}
	hasher, err := sketch.NewSingleHash(o)
	if err != nil {
		fmt.Println(err)
		return
	}
	a, words := hasher.Fingerprint(nil, []byte("the quick brown fox jumps over the lazy dog"))
	b, _ := hasher.Fingerprint(nil, []byte("quick brown fox jumps over"))
	estimate := sketch.EstimateFingerprints(a, b, o.Size)
	fmt.Printf("%d words, %d hashes\n", words, len(a))
	fmt.Printf("Jaccard %.2f, containment %.2f and %.2f, exact: %v\n",
		estimate.Jaccard, estimate.ContainmentA, estimate.ContainmentB, estimate.Exact)
	// Output:
	// 9 words, 7 hashes
	// Jaccard 0.43, containment 0.43 and 1.00, exact: true
}

func ExampleSimHash() {
	const bits = 256
	simhash, err := sketch.NewSimHash(sketch.SimHashOptions{Bits: bits})
	if err != nil {
		fmt.Println(err)
		return
	}
	hasher, err := sketch.NewHasher(sketch.Measure{Shingle: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	// Words of the title count three times as much as words of the text.
	fingerprint := func(title, text string) []uint64 {
		simhash.Reset()
		for _, word := range hasher.Document([]byte(title)).Set {
			simhash.Add(word, 3)
		}
		simhash.AddSet(hasher.Document([]byte(text)).Set)
		return simhash.Fingerprint(nil)
	}
	a := fingerprint("Universal Declaration of Human Rights", original)
	b := fingerprint("Universal declaration of human rights", copied)
	c := fingerprint("Lorem ipsum", "dolor sit amet, consectetur adipiscing elit, sed do eiusmod")
	fmt.Printf("a copy: cosine %.2f\n", sketch.Cosine(sketch.Hamming(a, b), bits))
	fmt.Printf("another text: cosine below 0.3: %v\n", sketch.Cosine(sketch.Hamming(a, c), bits) < 0.3)
	// Output:
	// a copy: cosine 1.00
	// another text: cosine below 0.3: true
}

func ExampleLSH() {
	print := func(o sketch.LSHOptions, text string) {
		digests, err := sketch.NewLSH(o)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(base64.StdEncoding.EncodeToString(digests.Digest(nil, []byte(text))))
	}
	print(sketch.LSHOptions{}, "lorem ipsum dolor sit")
	print(sketch.LSHOptions{Width: 1, Hash: sha256.New()}, "lorem ipsum dolor sit")
	print(sketch.LSHOptions{Tokenize: sketch.SplitCharacters}, "username")
	// Output:
	// OEAhAhKSgBAwgQEAgCCAEg==
	// BABBQURRDEiogqAAISKIKAWAQEQZAAgrUtTgXD5FDaA=
	// FPIBaaBQGlKKARlqA9lb1g==
}

func ExampleUniversalMinHash() {
	a := sketch.AppendCRC32Shingles(nil, []byte(original), 3)
	minhash, err := sketch.NewUniversalMinHash(10, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	signature := minhash.Signature(nil, a)
	fmt.Println(len(signature), sketch.SignatureAgreement(signature, signature))
	// Output:
	// 10 1
}

func ExampleNormalizer() {
	var steps sketch.Normalization
	if err := steps.UnmarshalText([]byte("nfkc,fold,punctuation")); err != nil {
		fmt.Println(err)
		return
	}
	normalizer, err := sketch.NewNormalizer(steps)
	if err != nil {
		fmt.Println(err)
		return
	}
	var buffer []byte
	buffer = normalizer.Append(buffer[:0], []byte("The N.B.A’s Straße: don't"))
	fmt.Printf("%q\n", buffer)
	// Output:
	// "the nbas strasse  dont"
}

func ExampleWordFilter() {
	stopWords, err := sketch.ReadStopWords(strings.NewReader("# articles\nthe\na\nan\n"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	isContent := func(word []byte) bool { return !stopWords.Contains(word) }
	filter, err := sketch.NewWordFilter(sketch.Measure{}, isContent)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", filter.Append(nil, []byte("The cat, a dog")))
	// Output:
	// "  cat,   dog"
}

func ExampleShingleFilter() {
	stopWords, err := sketch.ReadStopWords(strings.NewReader("are\nand\nin\n"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := sketch.Measure{Shingle: 3}
	page := []byte("Home News Shop Buy Now. " + original)
	hasher, err := sketch.NewHasher(m)
	if err != nil {
		fmt.Println(err)
		return
	}
	filter, err := sketch.NewShingleFilter(m, stopWords.Contains)
	if err != nil {
		fmt.Println(err)
		return
	}
	whole, running := hasher.Document(page), filter.Document(page)
	fmt.Println(len(whole.Set), "shingles,", len(running.Set), "of running text")
	// Output:
	// 15 shingles, 9 of running text
}

// Bottom-k sketches are samples. They estimate the similarity of sets that are not kept.
func ExampleHasher_BottomK() {
	const k = 8
	hasher, err := sketch.NewHasher(sketch.Measure{Shingle: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	a := hasher.BottomK([]byte(original), k)
	smallest, shingles := slices.Clone(a.Smallest), a.Shingles // the next call overwrites them
	b := hasher.BottomK([]byte(copied), k)
	common, union, exact := sketch.Overlap(smallest, b.Smallest, shingles, b.Shingles, k)
	fmt.Printf("%d of %d and %d of %d shingles: about %.1f, exact: %v\n",
		len(smallest), shingles, len(b.Smallest), b.Shingles, float64(common)/float64(union), exact)
	// Output:
	// 8 of 11 and 8 of 12 shingles: about 0.8, exact: false
}

// A Matcher says which passages two texts have in common.
func ExampleMatcher() {
	texts := [2]string{
		"They wrote: " + original,
		"In 1948, it was said that all human beings are born free, and equal in dignity.",
	}
	measure := sketch.Measure{Shingle: 3}
	var sequences [2]*sketch.IndexedSequence
	for i, text := range texts {
		// its sequence is valid until its next one
		sequencer, err := sketch.NewSequencer(sketch.Options{Measure: measure}, false)
		if err != nil {
			fmt.Println(err)
			return
		}
		_, sequence := sequencer.Sequence([]byte(text))
		sequences[i] = sketch.NewIndexedSequence(sequence)
	}
	matcher := sketch.NewMatcher(measure.Shingle)
	matcher.Compare(sequences[0], sequences[1])
	for _, span := range matcher.Spans() {
		fmt.Printf("%d words: %q and %q\n", span.Words, texts[0][span.StartA:span.EndA],
			texts[1][span.StartB:span.EndB])
	}
	// Output: 10 words: "All human beings are born free and equal in dignity" and "all human beings are born free, and equal in dignity"
}
