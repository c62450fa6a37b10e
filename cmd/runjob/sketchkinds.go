package main

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"slices"
	"strconv"

	//lint:ignore SA1019 Digests of ExLSH may be of it, and nothing rests on its strength.
	"golang.org/x/crypto/ripemd160"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/sketch"
)

// fingerprinted is what 'runjob sketch' shows of a text. Hashes are what is compared: the words of a simhash, or a
// singlehash.
type fingerprinted struct {
	shown  string
	hashes []uint64
}

// sketcher returns a function from texts to fingerprints. It fails for a text that is none, such as a list of features
// with a word in it.
func (c *sketchCommand) sketcher() (func(text []byte) (fingerprinted, error), error) {
	switch c.Kind {
	case "singlehash":
		return c.singleHash()
	case "lsh":
		return c.lsh()
	case "signature":
		signatures, err := sketch.NewUniversalMinHash(c.SketchSize, c.Seed)
		return func(text []byte) (fingerprinted, error) {
			return fingerprinted{shown: hexadecimal(signatures.Signature(nil,
				sketch.AppendCRC32Shingles(nil, text, c.Shingle)), 9)}, nil
		}, err
	}
	ofSet, err := c.ofSet()
	if err != nil {
		return nil, err
	}
	if c.Features {
		return func(text []byte) (fingerprinted, error) {
			set, err := readFeatures(text)
			return ofSet(set), err
		}, nil
	}
	fingerprinter, err := sketch.NewFingerprinter(sketch.Options{
		Measure:       sketch.Measure{Shingle: c.Shingle, Tokens: c.Tokens, Seed: c.Seed},
		Normalization: c.Normalize,
	})
	return func(text []byte) (fingerprinted, error) { return ofSet(fingerprinter.Texts([][]byte{text}).Set), nil }, err
}

func readFeatures(text []byte) ([]uint64, error) {
	var features []uint64
	for field := range bytes.FieldsSeq(text) {
		feature, err := strconv.ParseUint(string(field), 0, 64)
		if err != nil {
			return nil, fmt.Errorf("feature %.40q: must be a number of 64 bits such as 17 or 0x11", field)
		}
		features = append(features, feature)
	}
	return features, nil
}

func (c *sketchCommand) ofSet() (func(set []uint64) fingerprinted, error) {
	switch c.Kind {
	case "minhash":
		minhash, err := sketch.NewMinHash(c.SketchSize)
		return func(set []uint64) fingerprinted {
			return fingerprinted{shown: hexadecimal(minhash.Signature(nil, set), 8)}
		}, err
	case "bottomk":
		return func(set []uint64) fingerprinted {
			return fingerprinted{shown: hexadecimal(sketch.BottomK(set, c.SketchSize), 12)}
		}, nil
	}
	simhash, err := sketch.NewSimHash(sketch.SimHashOptions{Bits: c.Bits, Tie: ties[c.Tie], FastSimHash: c.Fast})
	return func(set []uint64) fingerprinted {
		simhash.Reset()
		simhash.AddSet(set)
		words := simhash.Fingerprint(nil)
		return fingerprinted{output.SimHashText(words, c.Bits), words}
	}, err
}

var ties = map[string]sketch.Tie{"alternate": sketch.TieAlternate, "zero": sketch.TieZero, "one": sketch.TieOne}

func (c *sketchCommand) singleHash() (func(text []byte) (fingerprinted, error), error) {
	hasher, err := sketch.NewSingleHash(sketch.SingleHashOptions{
		Words:   c.Shingle,
		Size:    c.SketchSize,
		Article: !c.Unslipped,
	})
	return func(text []byte) (fingerprinted, error) {
		fingerprint, words := hasher.Fingerprint(nil, text)
		p := fingerprinted{shown: fmt.Sprintf("%d\t%d\t%s", words, len(fingerprint), hexadecimal(fingerprint, 8))}
		for _, hash := range fingerprint {
			p.hashes = append(p.hashes, uint64(hash))
		}
		return p, nil
	}, err
}

var lshHashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New, "ripemd160": ripemd160.New,
	"crc32": func() hash.Hash { return crc32.NewIEEE() },
}

func (c *sketchCommand) lsh() (func(text []byte) (fingerprinted, error), error) {
	options := sketch.LSHOptions{Width: c.Shingle, Hash: lshHashes[c.Hash]()}
	if c.Characters {
		options.Tokenize = sketch.SplitCharacters
	}
	if c.Filter != "" {
		list, err := storage.ReadFile(c.Filter)
		if err != nil {
			return nil, failure.Errorf(failure.Input, "read --filter: %w", err)
		}
		words, err := sketch.ReadStopWords(bytes.NewReader(list), nil)
		if err != nil {
			return nil, fmt.Errorf("--filter %s: %w", c.Filter, err)
		}
		options.Filter = func(tokens [][]byte) [][]byte { return slices.DeleteFunc(tokens, words.Contains) }
	}
	digests, err := sketch.NewLSH(options)
	return func(text []byte) (fingerprinted, error) {
		return fingerprinted{shown: hex.EncodeToString(digests.Digest(nil, text))}, nil
	}, err
}

func (c *sketchCommand) comparer(w *bufio.Writer) func(name string, p fingerprinted) error {
	var names []string
	var earlier []fingerprinted
	return func(name string, p fingerprinted) error {
		for i, other := range earlier {
			say(w, "%s\t%s\t%.6g\n", names[i], name, c.likeness(other.hashes, p.hashes))
		}
		names, earlier = append(names, name), append(earlier, p)
		return nil
	}
}

// likeness is the share of equal bits of two simhashes, or the estimate of two singlehashes.
func (c *sketchCommand) likeness(a, b []uint64) float64 {
	if c.Kind == "simhash" {
		return 1 - float64(sketch.Hamming(a, b))/float64(c.Bits)
	}
	return sketch.EstimateFingerprints(a, b, c.SketchSize).Jaccard
}
