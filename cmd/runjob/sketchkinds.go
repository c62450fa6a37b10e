package main

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"strings"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/sketch"
)

// sketcher returns a function from texts to fingerprints, as they are printed.
func (c *sketchCommand) sketcher() (func(text []byte) string, error) {
	switch c.Kind {
	case "singlehash":
		return c.singleHash()
	case "lsh":
		return c.lsh()
	case "signature":
		signatures, err := sketch.NewUniversalMinHash(c.SketchSize, c.Seed)
		if err != nil {
			return nil, err
		}
		return func(text []byte) string {
			return hexadecimal(signatures.Signature(nil, sketch.AppendCRC32Shingles(nil, text, c.Shingle)), 9)
		}, nil
	}
	fingerprinter, err := sketch.NewFingerprinter(sketch.Options{
		Measure: sketch.Measure{Shingle: c.Shingle, Tokens: c.Tokens, Seed: c.Seed}, Normalization: c.Normalize,
	})
	if err != nil {
		return nil, err
	}
	ofSet, err := c.ofSet()
	return func(text []byte) string { return ofSet(fingerprinter.Texts([][]byte{text}).Set) }, err
}

// ofSet returns a function from sets of shingles to fingerprints.
func (c *sketchCommand) ofSet() (func(set []uint64) string, error) {
	switch c.Kind {
	case "minhash":
		minhash, err := sketch.NewMinHash(c.SketchSize)
		return func(set []uint64) string { return hexadecimal(minhash.Signature(nil, set), 8) }, err
	case "bottomk":
		return func(set []uint64) string { return hexadecimal(sketch.BottomK(set, c.SketchSize), 12) }, nil
	}
	simhash, err := sketch.NewSimHash(sketch.SimHashOptions{Bits: c.Bits, Tie: tieOf(c.Tie)})
	return func(set []uint64) string {
		simhash.Reset()
		simhash.AddSet(set)
		return output.SimHashText(simhash.Fingerprint(nil), c.Bits)
	}, err
}

// tieOf returns the rule of a name.
func tieOf(name string) sketch.Tie {
	return map[string]sketch.Tie{"alternate": sketch.TieAlternate, "zero": sketch.TieZero, "one": sketch.TieOne}[name]
}

// singleHash returns a function from texts to the fingerprints of the article.
func (c *sketchCommand) singleHash() (func(text []byte) string, error) {
	hasher, err := sketch.NewSingleHash(sketch.SingleHashOptions{Words: c.Shingle, Size: c.SketchSize, Article: !c.Unslipped})
	return func(text []byte) string {
		fingerprint, words := hasher.Fingerprint(nil, text)
		return fmt.Sprintf("%d\t%d\t%s", words, len(fingerprint), hexadecimal(fingerprint, 8))
	}, err
}

// lsh returns a function from texts to digests.
func (c *sketchCommand) lsh() (func(text []byte) string, error) {
	options := sketch.LSHOptions{Width: c.Shingle, Hash: map[string]func() hash.Hash{
		"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "crc32": func() hash.Hash { return crc32.NewIEEE() },
	}[c.Hash]()}
	if c.Characters {
		options.Tokenize = sketch.SplitCharacters
	}
	digests, err := sketch.NewLSH(options)
	return func(text []byte) string { return hex.EncodeToString(digests.Digest(nil, text)) }, err
}

// hexadecimal returns numbers of at most the given number of digits, with commas between them.
func hexadecimal[T uint32 | uint64](numbers []T, digits int) string {
	var b strings.Builder
	for i, number := range numbers {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(fmt.Sprintf("%0*x", digits, number))
	}
	return b.String()
}
