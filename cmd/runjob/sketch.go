package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/sketch"
)

// articleScore is the score of Gudkov's article, which takes fingerprints as if they were the sets.
const articleScore = "article"

type sketchCommand struct {
	Paths []string `arg:"" optional:"" name:"path"`

	Kind       string `required:"" enum:"minhash,simhash,singlehash,lsh,bottomk,signature" placeholder:"KIND"`
	SketchSize int    `default:"128" placeholder:"N"`
	Shingle    int    `default:"3" placeholder:"N"`
	Bits       int    `default:"64" placeholder:"N"`
	Tie        string `enum:"alternate,zero,one" default:"alternate" placeholder:"RULE"`
	Fast       bool
	Features   bool
	Hash       string `enum:"md5,sha1,sha256,sha512,ripemd160,crc32,fnv32a,fnv64a" default:"md5" placeholder:"NAME"`
	Base64     bool   `name:"base64"`
	Filter     string `placeholder:"FILE"`
	Characters bool
	Unslipped  bool
	Normalize  sketch.Normalization `placeholder:"STEPS"`
	Tokens     sketch.Tokens        `enum:"script,single,words,chars" default:"script" placeholder:"WHAT"`
	Seed       uint64
	Compare    bool
	Score      string `enum:"estimate,article" default:"estimate" placeholder:"WHAT"`
	Records    bool
}

func (c *sketchCommand) Validate() error {
	switch {
	case c.SketchSize < 1:
		return fmt.Errorf("--sketch-size %d: must be at least 1", c.SketchSize)
	case c.Shingle < 1 || c.Shingle > 64:
		return fmt.Errorf("--shingle %d: must be from 1 to 64", c.Shingle)
	case !sketch.IsSimHashLength(c.Bits):
		return fmt.Errorf("--bits %d: must be 32, or a multiple of 64 up to %d", c.Bits, sketch.MostSimHashBits)
	case (c.Filter != "" || c.Base64) && c.Kind != "lsh":
		return errors.New("--filter and --base64: are for --kind lsh")
	case (c.Features || c.Fast) && c.Kind != "simhash":
		return errors.New("--features and --fast: are for --kind simhash")
	case c.Score == articleScore && (c.Kind != "singlehash" || !c.Compare):
		return errors.New("--score article: is for --kind singlehash --compare")
	}
	return nil
}

func (c *sketchCommand) Run(ctx context.Context, out io.Writer) error {
	of, err := c.sketcher()
	if err != nil {
		return failure.New(failure.Usage, err)
	}
	paths := c.Paths
	if len(paths) == 0 {
		paths = []string{corpus.Stdin}
	}
	printed := bufio.NewWriter(out)
	show := func(name string, p fingerprinted) error {
		_, err := printed.WriteString(name + "\t" + p.shown + "\n")
		return err
	}
	if c.Compare {
		show = c.comparer(printed)
	}
	for _, path := range paths {
		err := c.each(ctx, path, func(name string, text []byte) error {
			fingerprint, err := of(text)
			if err != nil {
				return failure.Errorf(failure.Input, "%s: %w", name, err)
			}
			return show(visible(name), fingerprint)
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
		return failure.Errorf(failure.Input, "read a text: %w", err)
	case !c.Records:
		return visit(quoting.Text(path), content)
	}
	number := 0
	for line := range bytes.Lines(content) {
		number++
		place := fmt.Sprintf("%s:%d", quoting.Text(path), number)
		name, text, err := textOf(line)
		if err != nil {
			return failure.Errorf(failure.Input, "%s: %w", place, err)
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

// hexadecimal returns numbers of at most the given number of digits, with commas between them.
func hexadecimal[T uint32 | uint64](numbers []T, digits int) string {
	var b strings.Builder
	for _, number := range numbers {
		b.WriteString(fmt.Sprintf(",%0*x", digits, number))
	}
	return strings.TrimPrefix(b.String(), ",")
}
