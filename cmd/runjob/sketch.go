package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/quoting"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/start/failure"
	"mirrorbeam/sketch"
)

type sketchCommand struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Files, each of which is a text; - or none: the standard input."`

	Kind       string               `required:"" enum:"minhash,simhash,singlehash,lsh,bottomk,signature" placeholder:"KIND" help:"What to print: minhash, simhash, bottomk (as the main job makes them), singlehash (Gudkov's article), lsh (ExLSH), signature (the k-hash MinHash of McCormick's tutorial)."`
	SketchSize int                  `default:"128" placeholder:"N" help:"Hashes in a bottom-k sketch or a single-hash fingerprint, and components of a minhash or a signature."`
	Shingle    int                  `default:"3" placeholder:"N" help:"How many adjacent words, or characters with --characters, make a shingle."`
	Bits       int                  `default:"64" placeholder:"N" help:"Length of a simhash: 32, or a multiple of 64 up to 1024."`
	Tie        string               `enum:"alternate,zero,one" default:"alternate" placeholder:"RULE" help:"Bit of a simhash for which as many shingles have 1 as 0: alternate (as the main job), zero or one."`
	Hash       string               `enum:"md5,sha1,sha256,crc32" default:"md5" placeholder:"NAME" help:"Hash function of an lsh, which is as long as a hash."`
	Characters bool                 `help:"Make an lsh of characters, for short texts such as user names."`
	Unslipped  bool                 `help:"Make a singlehash of all 16 bits of a character. The article's own program shifts by 16 where 8 are meant, so it leaves out the upper 8."`
	Normalize  sketch.Normalization `placeholder:"STEPS" help:"With minhash, simhash and bottomk, what to do to texts first: nfc or nfkc, skeleton, fold, punctuation."`
	Tokens     sketch.Tokens        `enum:"script,single,words,chars" default:"script" placeholder:"WHAT" help:"With minhash, simhash and bottomk, what a token is: script, single, words or chars, as with 'runjob run'."`
	Seed       uint64               `help:"Key of the hashes of minhash, simhash and bottomk, and of the functions of a signature."`
	Records    bool                 `help:"Files have a text a line, as JSON with the fields id and text."`
}

// Help says what is printed.
func (c *sketchCommand) Help() string {
	return "Prints a line for each text: its name, a tab, and the fingerprint. Hashes are hexadecimal, with commas between them. " +
		"A singlehash has the number of words and of hashes in front. docs/fingerprints.md says which program makes the same."
}

// Validate checks the flags.
func (c *sketchCommand) Validate() error {
	switch {
	case c.SketchSize < 1:
		return fmt.Errorf("--sketch-size %d: must be at least 1", c.SketchSize)
	case c.Shingle < 1 || c.Shingle > 64:
		return fmt.Errorf("--shingle %d: must be from 1 to 64", c.Shingle)
	case !sketch.IsSimHashLength(c.Bits):
		return fmt.Errorf("--bits %d: must be 32, or a multiple of 64 up to %d", c.Bits, sketch.MostSimHashBits)
	}
	return nil
}

// Run prints the fingerprints of all texts.
func (c *sketchCommand) Run(ctx context.Context, out io.Writer) error {
	of, err := c.sketcher()
	if err != nil {
		return usageError{err}
	}
	paths := c.Paths
	if len(paths) == 0 {
		paths = []string{corpus.Stdin}
	}
	printed := bufio.NewWriter(out)
	for _, path := range paths {
		err := c.each(ctx, path, func(name string, text []byte) error {
			_, err := printed.WriteString(visible(name) + "\t" + of(text) + "\n")
			return err
		})
		if err != nil {
			return errors.Join(err, printed.Flush())
		}
	}
	return printed.Flush()
}

func (c *sketchCommand) each(ctx context.Context, path string, visit func(name string, text []byte) error) error {
	var content []byte
	var err error
	if path == corpus.Stdin {
		content, err = io.ReadAll(interruptible{ctx, os.Stdin})
	} else {
		content, err = storage.ReadFile(path)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return failure.New(failure.Input, fmt.Errorf("read a text: %w", err))
	case !c.Records:
		return visit(quoting.Text(path), content)
	}
	number := 0
	for line := range bytes.Lines(content) {
		number++
		place := fmt.Sprintf("%s:%d", quoting.Text(path), number)
		name, text, err := textOf(line)
		if err != nil {
			return failure.New(failure.Input, fmt.Errorf("%s: %w", place, err))
		}
		if err := visit(cmp.Or(name, place), text); err != nil {
			return err
		}
	}
	return nil
}

// textOf returns the id and the text of a line of JSON. The name is empty for a record without an id.
func textOf(line []byte) (name string, text []byte, err error) {
	var record struct {
		ID   json.RawMessage `json:"id"`
		Text *string         `json:"text"`
	}
	if err := json.Unmarshal(line, &record); err != nil {
		return "", nil, err
	}
	if record.Text == nil {
		return "", nil, errors.New("the record has no text")
	}
	if json.Unmarshal(record.ID, &name) != nil {
		name = string(record.ID) // a number stays as it is written
	}
	return quoting.Text(name), []byte(*record.Text), nil
}

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

func (c *sketchCommand) ofSet() (func(set []uint64) string, error) {
	switch c.Kind {
	case "minhash":
		minhash, err := sketch.NewMinHash(c.SketchSize)
		return func(set []uint64) string { return hexadecimal(minhash.Signature(nil, set), 8) }, err
	case "bottomk":
		return func(set []uint64) string { return hexadecimal(sketch.BottomK(set, c.SketchSize), 12) }, nil
	}
	simhash, err := sketch.NewSimHash(sketch.SimHashOptions{Bits: c.Bits, Tie: ties[c.Tie]})
	return func(set []uint64) string {
		simhash.Reset()
		simhash.AddSet(set)
		return output.SimHashText(simhash.Fingerprint(nil), c.Bits)
	}, err
}

var ties = map[string]sketch.Tie{"alternate": sketch.TieAlternate, "zero": sketch.TieZero, "one": sketch.TieOne}

// singleHash returns a function from texts to the fingerprints of the article.
func (c *sketchCommand) singleHash() (func(text []byte) string, error) {
	hasher, err := sketch.NewSingleHash(sketch.SingleHashOptions{Words: c.Shingle, Size: c.SketchSize, Article: !c.Unslipped})
	return func(text []byte) string {
		fingerprint, words := hasher.Fingerprint(nil, text)
		return fmt.Sprintf("%d\t%d\t%s", words, len(fingerprint), hexadecimal(fingerprint, 8))
	}, err
}

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
	for _, number := range numbers {
		b.WriteString(fmt.Sprintf(",%0*x", digits, number))
	}
	return strings.TrimPrefix(b.String(), ",")
}
