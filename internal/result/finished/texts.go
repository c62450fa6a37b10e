package finished

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

// Texts finds documents in the input of the job by the names that its rows call them, id or path:position, and returns
// their texts; of several text fields the texts come one after the other. Names that are not there are not in the map,
// nor is an id that more than one document has: rows call those by path:position.
//
// It reads the whole input, and holds the texts that it finds, of each at most the given number of bytes. It is an
// error when a file of the input cannot be read, or when its documents are features and not texts.
func (f *Folder) Texts(ctx context.Context, names []string, most int) (map[string]string, error) {
	if f.Summary.Config.Features != "" {
		return nil, errors.New("the documents have features and no texts")
	}
	texts, met := map[string]string{}, map[string]int{}
	err := f.Find(ctx, names, false, func(found *Found) error {
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
	// URL and Date are from where and when a web archive fetched it, as rows have them; empty if unknown.
	URL, Date string
	// Portion and Position say where the record is, and Raw is the record as the file has it.
	Portion  documents.Portion
	Position int64
	Raw      []byte
	// Record is its content. Its Others are the values of the fields of within and across, in this order, of those that
	// the job has.
	Record corpus.Record
}

// Text returns the text, or several joined, up to the given number of bytes.
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
// in document order. Several documents may have an id or a URL. It reads the whole input or, where all names are
// path:position, only the files that they name. It is an error when a file of that cannot be read.
func (f *Folder) Find(ctx context.Context, names []string, areRefs bool, visit func(*Found) error) error {
	config := f.Summary.Config
	s := newSearch(&config)
	s.names, s.visit = map[string]bool{}, visit
	for _, name := range names {
		s.names[name] = true
	}
	files, err := listFiles(ctx, &config, s.wanted)
	if err != nil {
		return err
	}
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

// newSearch returns a search for documents of a job that has no names yet.
func newSearch(config *job.Config) *search {
	reading := config.Sketching(corpus.MaxWindow).Reading
	reading.DocumentBytes, reading.Fields.Beside, reading.Fields.Items = 0, false, nil
	for _, field := range []string{config.Within, config.Across} {
		if field != "" {
			reading.Fields.Others = append(reading.Fields.Others, field)
		}
	}
	wanted := reading.Wanted()
	return &search{limits: reading.LineLimits(), wanted: wanted, decoder: formats.NewDecoder(wanted)}
}

// isInOneGo reports whether the record at a position is read together with a stretch of the file before it: a file that
// can be read from any byte is always read some way on.
func isInOneGo(file *corpus.File, stretch corpus.Stretch, position int64) bool {
	return file.IsWhole() || position < stretch.End || file.IsCut() && position < stretch.End+corpus.BatchBytes
}

// TextsAt returns the texts of documents in the files of a job, up to most bytes of each. It reads the parts of files
// that have them, in document order, unless a part has more bytes of text than are left of the budget. The map lacks
// documents that were not found or not read.
func TextsAt(
	ctx context.Context, config *job.Config, files []corpus.File, refs []docref.Ref, most int, budget int64,
) (map[docref.Ref]string, error) {
	texts, s := map[docref.Ref]string{}, newSearch(config)
	refs = slices.Compact(slices.Sorted(slices.Values(refs)))
	reader := formats.NewReader(s.limits, s.wanted)
	defer reader.Close()
	for len(refs) > 0 {
		number := refs[0].File()
		file := &files[number]
		stretch, size := file.Around(number, refs[0].Position())
		n := 1
		for n < len(refs) && refs[n].File() == number && isInOneGo(file, stretch, refs[n].Position()) {
			if file.IsCut() {
				stretch.End = refs[n].Position() + 1
			}
			n++
		}
		wanted := refs[:n]
		if refs = refs[n:]; size > budget {
			continue
		}
		budget -= size
		err := reader.Reset(*file, stretch)
		for err == nil && len(wanted) > 0 && ctx.Err() == nil {
			var batch corpus.Batch
			if batch, err = reader.Next(nil); err != nil {
				break // the end, or a file that is no longer there
			}
			for position, raw := range batch.Records() {
				if len(wanted) == 0 || position != wanted[0].Position() {
					continue
				}
				if record, err := s.decoder.Decode(file, &batch, position, raw); err == nil {
					texts[wanted[0]] = (&Found{Record: record}).Text(most)
				}
				wanted = wanted[1:]
			}
		}
	}
	return texts, ctx.Err()
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
	files := input.Files
	if len(c.Reference) > 0 {
		reference, err := corpus.List(ctx, c.Reference, options)
		if err != nil {
			return nil, setting.Errorf("{reference}: %w", err)
		}
		if files, err = corpus.WithReference(reference.Files, files); err != nil {
			return nil, err
		}
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
	for batch, err := range formats.Batches(*file, number, s.limits, s.wanted) {
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
