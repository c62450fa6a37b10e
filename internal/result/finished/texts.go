package finished

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

// Texts finds documents in the input of the job by the names that its rows call them, id or path:position, and returns
// their texts; of several text fields the texts come one after the other. Names that are not there are not in the map,
// nor is an id that more than one document has: rows call those by path:position.
//
// It reads the whole input, and holds the texts that it finds. It is an error when a file of the input cannot be read,
// or when its documents are features and not texts.
func (f *Folder) Texts(ctx context.Context, names []string) (map[string]string, error) {
	return f.TextsUpTo(ctx, names, math.MaxInt)
}

// TextsUpTo is [Folder.Texts], but holds at most the given number of bytes of each text.
func (f *Folder) TextsUpTo(ctx context.Context, names []string, most int) (map[string]string, error) {
	if f.Summary.Config.Features != "" {
		return nil, errors.New("the documents have features and no texts")
	}
	texts, met := map[string]string{}, map[string]int{}
	err := f.Find(ctx, names, func(found *Found) error {
		met[found.Name]++
		texts[found.Name] = found.Text(most)
		return nil
	})
	for name, times := range met {
		if times > 1 {
			delete(texts, name)
		}
	}
	if err != nil {
		return nil, err
	}
	return texts, nil
}

// Found is a document of the input, valid until the next one.
type Found struct {
	// Name is the wanted name that it has.
	Name string
	// ID is its id as rows write it, empty if it has none. Ref is path:position.
	ID, Ref string
	// URL and Date say from where and when a web archive has fetched it, as rows write them; empty if that is not
	// known.
	URL, Date string
	// Portion and Position say where the record is, and Raw is the record as the file has it.
	Portion  documents.Portion
	Position int64
	Raw      []byte
	// Record is its content. Its Others are the values of the fields of within and across, in this order, of those that
	// the job has.
	Record corpus.Record
}

// Text returns the text, at most the given number of bytes of it. Of several text fields the texts come one after the
// other.
func (d *Found) Text(most int) string {
	var text strings.Builder
	for _, part := range d.Record.Texts {
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.Write(part[:min(len(part), max(most-text.Len(), 0))])
	}
	return text.String()
}

// Find visits the documents of the input, and of the reference, that have one of the names, id, path:position or URL,
// in document order. Several documents may have an id or a URL. It reads the whole input. It is an error when a file of
// that cannot be read.
func (f *Folder) Find(ctx context.Context, names []string, visit func(*Found) error) error {
	return f.find(ctx, names, false, visit)
}

// FindRefs is [Folder.Find] for names that are all path:position. It reads only the files that they name.
func (f *Folder) FindRefs(ctx context.Context, refs []string, visit func(*Found) error) error {
	return f.find(ctx, refs, true, visit)
}

func (f *Folder) find(ctx context.Context, names []string, areRefs bool, visit func(*Found) error) error {
	config := f.Summary.Config
	fields, _ := config.TextFields()
	var others []string
	for _, field := range []string{config.Within, config.Across} {
		if field != "" {
			others = append(others, field)
		}
	}
	reading := documents.Reading{
		Fields:      corpus.Fields{ID: config.IDField, Texts: fields, Features: config.Features, Others: others},
		MaxDocument: int64(config.MaxDocument),
		TextForm:    config.TextFormat,
		PageText:    config.HTMLText,
		Dialect:     config.Dialect(),
		Charset:     config.Encoding,
	}
	s := search{limits: reading.LineLimits(), wanted: reading.Wanted(), names: map[string]bool{}, visit: visit}
	for _, name := range names {
		s.names[name] = true
	}
	files, err := listFiles(ctx, &config, s.wanted)
	if err != nil {
		return err
	}
	s.decoder = formats.NewDecoder(s.wanted)
	for number := range files {
		if areRefs && !s.mayHave(&files[number]) {
			continue
		}
		if err := s.read(ctx, &files[number], number); err != nil {
			return err
		}
	}
	return nil
}

func listFiles(ctx context.Context, c *job.Config, wanted corpus.Wanted) ([]corpus.File, error) {
	options := corpus.Options{
		Format:       c.Format,
		Charset:      c.Encoding,
		Include:      c.Include,
		Exclude:      c.Exclude,
		PrefersTexts: c.Code != (sketch.Code{}),
	}
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

type search struct {
	wanted       corpus.Wanted
	decoder      *formats.Decoder
	limits       corpus.Limits
	names        map[string]bool
	visit        func(*Found) error
	id, ref, url []byte
}

// mayHave reports whether one of the names, which are path:position, is of a file or of a group of files.
func (s *search) mayHave(file *corpus.File) bool {
	paths := map[string]bool{}
	for _, one := range file.All() {
		paths[quoting.Text(one.Name)] = true
	}
	for name := range s.names {
		if paths[name[:max(strings.LastIndexByte(name, ':'), 0)]] {
			return true
		}
	}
	return false
}

func (s *search) read(ctx context.Context, file *corpus.File, number int) error {
	limits := s.limits
	limits.Window = corpus.MaxWindow
	for batch, err := range formats.Batches(*file, number, limits, s.wanted) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("look for texts: %w", err)
		}
		found := Found{Portion: documents.Portion{File: file, Batch: batch}}
		for position, raw := range batch.Records() {
			record, err := s.decoder.Decode(file, &batch, position, raw)
			if err != nil {
				continue // a reject of the job, too
			}
			found.Position, found.Raw, found.Record = position, raw, record
			if err := s.meet(&found); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *search) meet(found *Found) error {
	s.id = s.id[:0]
	if found.Record.HasID {
		s.id = quoting.AppendText(s.id, found.Record.ID)
	}
	name, inFile := found.Portion.File.Place(found.Position)
	s.ref = append(quoting.AppendText(s.ref[:0], name), ':')
	s.ref = strconv.AppendInt(s.ref, inFile, 10)
	s.url = quoting.AppendText(s.url[:0], found.Record.URL[:min(len(found.Record.URL), records.MostURLBytes)])
	byRef, byURL := s.names[string(s.ref)], len(s.url) > 0 && s.names[string(s.url)]
	if !byRef && !byURL && !(found.Record.HasID && s.names[string(s.id)]) {
		return nil
	}
	found.ID, found.Ref = string(s.id), string(s.ref)
	found.URL, found.Date = documents.CaptureOf(&found.Record)
	if byRef {
		found.Name = found.Ref
		if err := s.visit(found); err != nil {
			return err
		}
	}
	if found.ID != found.Ref && found.Record.HasID && s.names[found.ID] {
		found.Name = found.ID
		if err := s.visit(found); err != nil {
			return err
		}
	}
	if byURL && found.URL != found.ID && found.URL != found.Ref {
		found.Name = found.URL
		return s.visit(found)
	}
	return nil
}
