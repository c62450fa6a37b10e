package listing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

type baseTexts struct {
	sketching documents.Sketching
	sketcher  *documents.Sketcher
	hashes    []uint64
}

// readBaseTexts returns the distinct shingles in the documents of some files, packed as in [documents.Inputs]. Each
// record must be a document: of a base text that cannot be read nothing would be left out, and nobody would know.
func readBaseTexts(ctx context.Context, c *job.Config, files []corpus.File) ([]byte, error) {
	stopWords, err := c.ReadStopWords()
	if err != nil {
		return nil, err
	}
	b := baseTexts{sketching: c.Sketching(c.Sizing(0).WindowBytes)}
	b.sketching.Options.SimHashBits = 0
	if b.sketcher, err = documents.NewSketcher(b.sketching, documents.Kept{}, stopWords); err != nil {
		return nil, err
	}
	if files, err = formats.Prepare(ctx, files, b.sketching.Wanted()); err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := b.read(ctx, file); err != nil {
			return nil, err
		}
		if b.distinct(); len(b.hashes) > sketch.MostShingles {
			return nil, fmt.Errorf("the base texts have more than %d shingles: give a corpus by {reference} instead",
				sketch.MostShingles)
		}
	}
	if len(b.hashes) == 0 {
		return nil, errors.New("the base texts contain no word")
	}
	return sketchblock.AppendPacked(nil, b.hashes), nil
}

// read adds the shingles of a file. Lines that are no records are a text: a licence is often called LICENSE.
func (b *baseTexts) read(ctx context.Context, file corpus.File) error {
	before := len(b.hashes)
	fault, err := b.documents(ctx, file)
	if err == nil && fault != "" && file.Format == corpus.JSONLines && len(b.hashes) == before {
		file.Format = corpus.Text
		fault, err = b.documents(ctx, corpus.Alone([]corpus.File{file})[0])
	}
	if err == nil && fault != "" {
		err = errors.New(fault)
	}
	return err
}

// documents adds the shingles of the documents of a file. It returns the first fault of a record, if there is one.
func (b *baseTexts) documents(ctx context.Context, file corpus.File) (fault string, err error) {
	for batch, err := range formats.Batches(file, 0, b.sketching.Limits(nil, nil), b.sketching.Wanted()) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", err
		}
		p := documents.Portion{File: &file, Batch: batch}
		for d := range p.Sketch(b.sketcher) {
			if b.hashes = append(b.hashes, d.Fingerprint.Set...); len(b.hashes) > 2*sketch.MostShingles {
				b.distinct()
			}
		}
		if p.Rejected > 0 {
			return p.FirstReject, nil
		}
	}
	return "", nil
}

func (b *baseTexts) distinct() {
	slices.Sort(b.hashes)
	b.hashes = slices.Compact(b.hashes)
}

// listBaseTexts finds the files of the base texts, each with its own format and encoding, whatever the input has.
func listBaseTexts(ctx context.Context, c *job.Config) (corpus.Listing, error) {
	choices := *c
	choices.Format, choices.Encoding, choices.Include, choices.Exclude = corpus.AutoFormat, "", nil, nil
	found, err := Corpus(ctx, c.Ignore, "base texts", &choices, nil)
	if err == nil && len(found.Unread) > 0 { // nothing of it would be left out, and nobody would know
		err = corpus.Unreadable(found.Unread)
	}
	if err != nil && ctx.Err() == nil {
		err = setting.Errorf("{ignore}: %w", err)
	}
	return found, err
}
