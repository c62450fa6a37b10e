package main

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	//lint:ignore SA1019 Digests of ExLSH may be of it, and nothing rests on its strength.
	"golang.org/x/crypto/ripemd160"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/sketch"
)

// fingerprinted is what 'runjob sketch' shows of a text. Numbers are what is compared: hashes, components, or the words
// of a fingerprint of that many bits.
type fingerprinted struct {
	shown   string
	numbers []uint64
	bits    int
}

// sketcher returns a function from texts to fingerprints, which fails for a text such as a list with a bad feature.
func (c *sketchCommand) sketcher() (func(text []byte) (fingerprinted, error), error) {
	switch c.Kind {
	case "singlehash":
		return c.singleHash()
	case "lsh":
		return c.lsh()
	case "signature":
		signatures, err := sketch.NewUniversalMinHash(c.SketchSize, c.Seed)
		return func(text []byte) (fingerprinted, error) {
			signature := signatures.Signature(nil, sketch.AppendCRC32Shingles(nil, text, c.Shingle))
			return fingerprinted{shown: hexadecimal(signature, 9), numbers: signature}, nil
		}, err
	}
	if c.Features {
		return c.features()
	}
	ofSet, err := c.ofSet()
	if err != nil {
		return nil, err
	}
	fingerprinter, err := sketch.NewFingerprinter(sketch.Options{
		Measure:       sketch.Measure{Shingle: c.Shingle, Tokens: c.Tokens, Seed: c.Seed},
		Normalization: c.Normalize,
	})
	return func(text []byte) (fingerprinted, error) { return ofSet(fingerprinter.Texts([][]byte{text}).Set), nil }, err
}

func (c *sketchCommand) features() (func(text []byte) (fingerprinted, error), error) {
	simhash, err := c.simhash()
	return func(text []byte) (fingerprinted, error) {
		simhash.Reset()
		for field := range strings.FieldsSeq(string(text)) {
			number, weight, isWeighted := strings.Cut(field, "=")
			if !isWeighted {
				weight = "1"
			}
			feature, err := strconv.ParseUint(number, 0, 64)
			times, errWeight := strconv.ParseFloat(weight, 64)
			if err != nil || errWeight != nil || math.IsNaN(times) || math.IsInf(times, 0) {
				return fingerprinted{}, fmt.Errorf("feature %.40q: must be a number of 64 bits such as 17 or 0x11, "+
					"or one with a weight such as 17=2.5", field)
			}
			simhash.Add(feature, times)
		}
		return c.simhashed(simhash), nil
	}, err
}

func (c *sketchCommand) ofSet() (func(set []uint64) fingerprinted, error) {
	switch c.Kind {
	case "minhash":
		minhash, err := sketch.NewMinHash(c.SketchSize)
		return func(set []uint64) fingerprinted {
			signature := minhash.SignatureOfHashes(nil, set)
			return fingerprinted{shown: hexadecimal(signature, 8), numbers: widened(signature)}
		}, err
	case "bottomk":
		return func(set []uint64) fingerprinted {
			smallest := slices.Clone(sketch.BottomK(set, c.SketchSize))
			return fingerprinted{shown: hexadecimal(smallest, 12), numbers: smallest}
		}, nil
	}
	simhash, err := c.simhash()
	return func(set []uint64) fingerprinted {
		simhash.Reset()
		simhash.AddSet(set)
		return c.simhashed(simhash)
	}, err
}

func (c *sketchCommand) simhash() (*sketch.SimHash, error) {
	return sketch.NewSimHash(sketch.SimHashOptions{Bits: c.Bits, Tie: ties[c.Tie], FastSimHash: c.Fast})
}

func (c *sketchCommand) simhashed(simhash *sketch.SimHash) fingerprinted {
	words := simhash.Fingerprint(nil)
	return fingerprinted{output.SimHashText(words, c.Bits), words, c.Bits}
}

func widened(numbers []uint32) (wide []uint64) {
	for _, number := range numbers {
		wide = append(wide, uint64(number))
	}
	return wide
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
		shown := fmt.Sprintf("%d\t%d\t%s", words, len(fingerprint), hexadecimal(fingerprint, 8))
		return fingerprinted{shown: shown, numbers: widened(fingerprint)}, nil
	}, err
}

var lshHashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New, "ripemd160": ripemd160.New,
	"crc32":  func() hash.Hash { return crc32.NewIEEE() },
	"fnv32a": func() hash.Hash { return fnv.New32a() },
	"fnv64a": func() hash.Hash { return fnv.New64a() },
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
	if c.Normalize != (sketch.Normalization{}) {
		normalizer, err := sketch.NewNormalizer(c.Normalize)
		if err != nil {
			return nil, fmt.Errorf("--normalize: %w", err)
		}
		options.Normalize = normalizer.Append
	}
	encode := hex.EncodeToString
	if c.Base64 {
		encode = base64.StdEncoding.EncodeToString
	}
	digests, err := sketch.NewLSH(options)
	return func(text []byte) (fingerprinted, error) {
		digest := digests.Digest(nil, text)
		p := fingerprinted{shown: encode(digest), bits: 8 * len(digest)}
		for _, b := range digest {
			p.numbers = append(p.numbers, uint64(b))
		}
		return p, nil
	}, err
}

func (c *sketchCommand) comparer(w *bufio.Writer) func(name string, p fingerprinted) error {
	var names []string
	var earlier []fingerprinted
	return func(name string, p fingerprinted) error {
		for i, other := range earlier {
			say(w, "%s\t%s\t%.6g\n", names[i], name, c.likeness(other, p))
		}
		names, earlier = append(names, name), append(earlier, p)
		return nil
	}
}

// likeness is the share of equal bits or components, or what the smallest hashes say.
func (c *sketchCommand) likeness(a, b fingerprinted) float64 {
	switch {
	case a.bits > 0:
		return 1 - float64(sketch.Hamming(a.numbers, b.numbers))/float64(a.bits)
	case c.Kind == "minhash" || c.Kind == "signature":
		return sketch.SignatureAgreement(a.numbers, b.numbers)
	case c.Score == articleScore:
		return sketch.Jaccard(a.numbers, b.numbers)
	}
	return sketch.EstimateFingerprints(a.numbers, b.numbers, c.SketchSize).Jaccard
}
