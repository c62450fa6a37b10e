package results

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/formats"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/setting"
	"mirrorbeam/job"
)

// Texts finds documents in the input of the job by the names that its rows call
// them, id or path:position, and returns their texts; of several text fields
// the texts come one after the other. Names that are not there are not in
// the map, nor is an id that more than one document has: rows call those by
// path:position.
//
// It reads the whole input, and holds the texts that it finds. It is an error
// when a file of the input cannot be read, or when its documents are features
// and not texts.
func (f *Folder) Texts(ctx context.Context, names []string) (map[string]string, error) {
	return f.TextsUpTo(ctx, names, math.MaxInt)
}

// TextsUpTo is [Folder.Texts], but holds at most so many bytes of each text.
func (f *Folder) TextsUpTo(ctx context.Context, names []string, most int) (map[string]string, error) {
	config := f.Summary.Config
	if config.Features != "" {
		return nil, errors.New("the documents have features and no texts")
	}
	fields, _ := config.TextFields()
	reading := documents.Reading{Fields: corpus.Fields{ID: config.IDField, Texts: fields}, MaxDocument: int64(config.MaxDocument), PageText: config.HTMLText}
	s := search{maxLine: reading.LineLimit(), most: most, texts: map[string]string{}, met: map[string]int{}}
	for _, name := range names {
		s.met[name] = 0
	}
	s.wanted = reading.Wanted()
	files, err := listFiles(ctx, &config, s.wanted)
	if err != nil {
		return nil, err
	}
	s.decoder = formats.NewDecoder(s.wanted)
	for number := range files {
		if err := s.read(ctx, &files[number], number); err != nil {
			return nil, err
		}
	}
	for name, times := range s.met {
		if times > 1 {
			delete(s.texts, name)
		}
	}
	return s.texts, nil
}

// listFiles returns the files of the input and of the reference.
func listFiles(ctx context.Context, c *job.Config, wanted formats.Wanted) ([]corpus.File, error) {
	options := corpus.Options{Format: c.Format}
	input, err := corpus.List(ctx, c.Input, options)
	if err != nil {
		return nil, err
	}
	if len(c.Reference) == 0 {
		return formats.Prepare(ctx, input.Files, wanted)
	}
	reference, err := corpus.List(ctx, c.Reference, options)
	if err != nil {
		return nil, setting.Errorf("{reference}: %w", err)
	}
	files, err := corpus.WithReference(reference.Files, input.Files)
	if err != nil {
		return nil, err
	}
	return formats.Prepare(ctx, files, wanted)
}

// search looks for documents by name.
type search struct {
	wanted  formats.Wanted
	decoder *formats.Decoder
	maxLine int64
	most    int            // bytes of a text that are kept
	met     map[string]int // how many documents of each wanted name there are
	texts   map[string]string
	name    []byte
}

// read looks through one file.
func (s *search) read(ctx context.Context, file *corpus.File, number int) error {
	limits := corpus.Limits{Line: s.maxLine, Window: corpus.MaxWindow}
	for batch, err := range formats.Batches(*file, number, limits, s.wanted) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("look for texts: %w", err)
		}
		for position, raw := range batch.Records() {
			record, err := s.decoder.Decode(file, &batch, position, raw)
			if err != nil {
				continue // a reject of the job, too
			}
			if record.HasID {
				s.name = output.AppendText(s.name[:0], record.ID)
				s.meet(s.name, record)
			}
			name, inFile := file.Place(position)
			s.name = append(output.AppendText(s.name[:0], name), ':')
			s.name = strconv.AppendInt(s.name, inFile, 10)
			s.meet(s.name, record)
		}
	}
	return nil
}

// meet keeps the text of a document by that name if it is wanted.
func (s *search) meet(name []byte, record corpus.Record) {
	if _, wanted := s.met[string(name)]; !wanted {
		return
	}
	s.met[string(name)]++
	var text strings.Builder
	for _, part := range record.Texts {
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.Write(part[:min(len(part), max(s.most-text.Len(), 0))])
	}
	s.texts[string(name)] = text.String()
}
