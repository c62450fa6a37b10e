// Package formats reads the documents of a corpus from files of all known formats.
//
// A format is a [corpus.Definition], in a file of its own. It has a [corpus.Source], which cuts a file into records,
// and a [corpus.Decoder], which takes the document out of a record. One goroutine reads a file, and many decode. So
// slow work belongs in the decoder.
package formats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/parquetfile"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/util/panics"
	"mirrorbeam.dev/internal/util/setting"
)

// Prepare prepares the files of a listing for the cut into splits. It joins files that are one document each into
// groups, and looks up where others can be cut. It is an error if one of these lacks the wanted fields.
func Prepare(ctx context.Context, files []corpus.File, wanted corpus.Wanted) ([]corpus.File, error) {
	files = slices.Clone(files)
	if err := Cut(ctx, files, wanted); err != nil {
		return nil, err
	}
	if _, unread := corpus.CutUnread(files); len(unread) > 0 {
		return nil, corpus.Unreadable(unread)
	}
	return corpus.Group(files), nil
}

// Cut looks up where files can be cut that are not cut at lines. A file that cannot be read, or does not have the
// wanted fields, gets its Fault.
func Cut(ctx context.Context, files []corpus.File, wanted corpus.Wanted) error {
	ReadLists(files, wanted.Records)
	return eachOf(ctx, len(files), func(i int) (err error) {
		file := &files[i]
		parts := file.Format.Definition().Parts
		if parts == nil || file.Unlisted || file.Recalled || file.Unopened {
			return nil
		}
		if file.Parts, err = parts(file, wanted.Of(file)); corpus.IsOfFile(err) {
			file.Fault, err = corpus.FaultText(file.Path, err), nil
		}
		return err
	})
}

// ReadLists makes files be read as JSON if records are in lists there: an object with a list may be a line.
func ReadLists(files []corpus.File, records string) {
	for i := range files {
		if records != "" && files[i].Format == corpus.JSONLines && !files[i].Recalled {
			files[i].Format = corpus.JSON
		}
	}
}

// opened is how many files are opened at a time. Each waits for the disk or the network.
const opened = 64

// eachOf looks at a number of files side by side, until one has an error. It returns the error of the context, or of
// the first file that has one.
func eachOf(ctx context.Context, files int, look func(i int) error) error {
	group, going := errgroup.WithContext(ctx)
	group.SetLimit(opened)
	faults := make([]error, files)
	for i := 0; i < files && going.Err() == nil; i++ {
		group.Go(func() error {
			faults[i] = look(i)
			return faults[i]
		})
	}
	_ = group.Wait() // its error is one of the faults
	return cmp.Or(ctx.Err(), cmp.Or(faults...))
}

// Reader reads stretches of files of any format. It is a [corpus.Source] whose files may differ in format.
type Reader struct {
	limits  corpus.Limits
	wanted  corpus.Wanted
	sources map[kind]corpus.Source
	current corpus.Source
}

// kind is what files have in common whose records are read alike.
type kind struct {
	format      corpus.Format
	isReference bool
}

// NewReader returns a reader without a file.
func NewReader(limits corpus.Limits, wanted corpus.Wanted) *Reader {
	return &Reader{limits: limits, wanted: wanted, sources: map[kind]corpus.Source{}}
}

// Reset goes on to another stretch.
func (r *Reader) Reset(file corpus.File, s corpus.Stretch) error {
	of := kind{file.Format, file.Reference}
	source, known := r.sources[of]
	if !known {
		definition := file.Format.Definition()
		if definition.Source == nil {
			return fmt.Errorf("open input %s: the %v is not read in this version", file.Path, file.Format)
		}
		source = definition.Source(r.limits, r.wanted.Of(&file))
		r.sources[of] = source
	}
	r.current = source
	return source.Reset(file, s)
}

// Next reads the next batch of the stretch.
func (r *Reader) Next(buffer []byte) (corpus.Batch, error) { return r.current.Next(buffer) }

func (r *Reader) Close() error {
	var faults []error
	for _, source := range r.sources {
		faults = append(faults, source.Close())
	}
	return errors.Join(faults...)
}

// Batches yields the batches of a whole file. Number is the number of the file in the input. If the file
// cannot be read to its end, the last pair is an error.
func Batches(file corpus.File, number int, limits corpus.Limits, wanted corpus.Wanted) iter.Seq2[corpus.Batch, error] {
	return func(yield func(corpus.Batch, error) bool) {
		reader := NewReader(limits, wanted)
		defer reader.Close()
		if err := reader.Reset(file, file.Whole(number)); err != nil {
			yield(corpus.Batch{}, err)
			return
		}
		for {
			batch, err := reader.Next(nil)
			if err == io.EOF || !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

// Decoder takes documents out of records of any format. It is not for concurrent use.
type Decoder struct {
	wanted   corpus.Wanted
	decoders map[kind]corpus.Decoder
	name     []byte     // name of a file that is a document
	pages    []pageText // for the fields of records, by number
	texts    [][]byte   // of these pages
	others   [][]byte
	folders  folderValues
}

// NewDecoder returns a decoder of records.
func NewDecoder(wanted corpus.Wanted) *Decoder {
	return &Decoder{
		wanted:   wanted,
		decoders: map[kind]corpus.Decoder{},
		folders:  folderValues{fields: wanted.Fields.Others},
	}
}

// Decode reads the record at a position of a batch, as [corpus.Decoder] says. A file that is one document has its name
// as its id. Other fields that a record lacks have the values that folders give, as in lang=de/a.jsonl. For a stream of
// lines, File may be nil.
//
// If the program panics over the record, the error is a [*panics.Error].
func (d *Decoder) Decode(file *corpus.File, batch *corpus.Batch, position int64,
	record []byte,
) (content corpus.Record, err error) {
	err = panics.Over("read", func() (err error) {
		content, err = d.decode(file, batch, position, record)
		return err
	})
	if panics.Of(err) != nil {
		*d = *NewDecoder(d.wanted)
	}
	return content, err
}

func (d *Decoder) decode(file *corpus.File, batch *corpus.Batch, position int64, record []byte) (corpus.Record, error) {
	of := kind{batch.Format, file != nil && file.Reference}
	decoder, known := d.decoders[of]
	if !known {
		decoder = batch.Format.Definition().Decoder(d.wanted.Of(file))
		d.decoders[of] = decoder
	}
	content, err := decoder.Decode(batch.Header, record)
	if err == nil && !d.wanted.Fields.HasTexts() && !batch.Format.HasFields() {
		return corpus.Record{}, fmt.Errorf("the format %v has no fields, so there is no field %.64q of features",
			batch.Format, d.wanted.Fields.Features)
	}
	if err == nil && d.wanted.Fields.Given.Bits > 0 {
		if err := d.wanted.Fields.Given.Read(&content, d.wanted.Fields.Texts[0]); err != nil {
			return corpus.Record{}, err
		}
	}
	if err == nil && d.wanted.TextForm == webtext.HTML && batch.Format.HasFields() {
		d.readPages(&content)
	}
	if err == nil && batch.Format.IsWhole() {
		name, _ := file.Place(position)
		content.ID, content.HasID = append(d.name[:0], name...), true
		d.name = content.ID
	}
	if _, isPassed := errors.AsType[corpus.PassedOver](err); file != nil && len(content.Others) > 0 &&
		(err == nil || isPassed) {
		content.Others = d.folders.fill(content.Others, file.At(position).Path)
	}
	return content, err
}

// readPages takes the texts out of pages in fields of a record. The first page may supply fields that it lacks.
func (d *Decoder) readPages(content *corpus.Record) {
	d.texts, d.others = d.texts[:0], append(d.others[:0], content.Others...)
	for i, page := range content.Texts {
		if i == len(d.pages) {
			d.pages = append(d.pages, newPageText(d.wanted, d.wanted.PageText))
		}
		d.texts = append(d.texts, d.pages[i].of(webtext.Page{Content: page})[0])
	}
	if len(content.Texts) > 0 {
		content.Title = d.pages[0].extractor.Title
	}
	for i, field := range d.wanted.Fields.Others {
		if d.others[i] == nil && len(content.Texts) > 0 {
			page := webtext.Page{Content: content.Texts[0]}
			d.others[i] = d.pages[0].value(field, page, d.pages[0].extractor.Source, content.Title, nil)
		}
	}
	content.Texts, content.Others = d.texts, d.others
}

const probedRecords = 1000

// Probe looks for the wanted fields in the first records of some files. It returns an error, with the names of the
// existing fields, if none of these files has them, or not all texts. It ignores files that cannot be read: their
// faults are found later.
func Probe(files []corpus.File, wanted corpus.Wanted, limits corpus.Limits) error {
	if len(wanted.Fields.Texts) < 2 {
		return probeOne(files, wanted, limits)
	}
	for _, field := range wanted.Fields.Texts {
		if err := ProbeText(files, field, wanted, limits); err != nil {
			return err
		}
	}
	return nil
}

// ProbeText looks for one field of text, as Probe does.
func ProbeText(files []corpus.File, field string, wanted corpus.Wanted, limits corpus.Limits) error {
	wanted.Fields = corpus.Fields{Texts: []string{field}}
	if err := probeOne(files, wanted, limits); err != nil {
		return err
	}
	for _, number := range probed(len(files)) {
		parts := files[number].Format.Definition().Parts
		if parts == nil {
			break
		}
		_, err := parts(&files[number], wanted)
		if missing, is := errors.AsType[*parquetfile.FieldError](err); !is {
			break
		} else if number == len(files)-1 {
			return fmt.Errorf("%s: %w", files[number].Path, missing)
		}
	}
	return nil
}

func probeOne(files []corpus.File, wanted corpus.Wanted, limits corpus.Limits) error {
	var first error
	for _, number := range probed(len(files)) {
		fault := probe(files[number], number, wanted, limits)
		if fault == nil {
			return nil
		}
		if first == nil {
			first = fmt.Errorf("%s: %w", files[number].Path, fault)
		}
	}
	return first
}

func probed(n int) []int {
	if n == 0 {
		return nil
	}
	numbers := []int{0, n / 2, n - 1}
	return slices.Compact(numbers)
}

func probe(file corpus.File, number int, wanted corpus.Wanted, limits corpus.Limits) error {
	fieldNames := file.Format.Definition().FieldNames
	if fieldNames == nil {
		return nil // no record of such a file lacks a field, or all do and its footer has told it
	}
	decoder := NewDecoder(wanted)
	seen, advice, list := 0, "", ""
	names := map[string]bool{}
	for batch, err := range Batches(file, number, limits, wanted) {
		if missing, is := errors.AsType[*parquetfile.FieldError](err); is {
			return missing
		}
		if err != nil {
			return nil
		}
		for position, record := range batch.Records() {
			if batch.IsBlank(record) {
				continue
			}
			_, err := decoder.Decode(&file, &batch, position, record)
			if twice, is := errors.AsType[RepeatedName](err); is {
				return twice
			}
			if _, isMissing := errors.AsType[corpus.MissingField](err); !isMissing {
				return nil
			}
			_ = panics.Over("read", func() error { // the names of other records do
				for _, name := range fieldNames(wanted, batch.Header, record) {
					names[name] = true
				}
				advice, list = adviceOn(wanted, &batch, record, seen, advice), cmp.Or(list, wrapped(record))
				return nil
			})
			if seen++; seen == probedRecords {
				break
			}
		}
		if seen == probedRecords {
			break
		}
	}
	if seen == 0 {
		return nil
	}
	fault := noField(wanted.Fields, seen, names)
	if seen > 1 {
		list = "" // the records are objects of their own
	}
	if advice = cmp.Or(advice, list); advice != "" {
		fault = advised(fault.Error() + advice)
	}
	return fault
}

type advised string

func (a advised) Error() string { return string(a) }

// WithAdvice adds to an error of [Probe] what to do, unless it says that itself. Likely is the field that is probably
// meant, empty if none is.
func WithAdvice(err error, likely string) error {
	if errors.As(err, new(advised)) || errors.As(err, new(RepeatedName)) {
		return err
	}
	if likely == "" {
		return setting.Errorf("%w: name the field with {text_field}", err)
	}
	return setting.Errorf("%w: name the field, probably with {text_field} %s", err, likely)
}

// titleLines is in how many records the header of a table is looked for.
const titleLines = 20

// adviceOn returns a better advice, if the record that comes behind some others names the wanted texts: what was taken
// for the header is a title.
func adviceOn(wanted corpus.Wanted, batch *corpus.Batch, record []byte, before int, advice string) string {
	if len(batch.Header) == 0 || advice != "" || before >= titleLines || len(wanted.Fields.Texts) == 0 {
		return advice
	}
	names := batch.Format.Definition().FieldNames(wanted, record, nil)
	if !slices.Contains(names, wanted.Fields.Texts[0]) {
		return ""
	}
	return fmt.Sprintf(": a record further down names it: give --skip-lines %d", before+1)
}

func noField(fields corpus.Fields, records int, names map[string]bool) error {
	wanted := fields.Texts
	if fields.Features != "" && !fields.Beside {
		wanted = []string{fields.Features}
	}
	first := "the first record"
	if records > 1 {
		first = fmt.Sprintf("the first %d records", records)
	}
	if len(names) == 0 {
		return fmt.Errorf("no field %s in %s, nor any other", quoted(wanted), first)
	}
	return fmt.Errorf("no field %s in %s; there are %s", quoted(wanted), first, quoted(slices.Sorted(maps.Keys(names))))
}

// Annotatable looks whether records of files can get the wanted columns. It is an error if a file has a format without
// fields, or if it has a field of one of the names already. Of Parquet and CSV it looks at all files, of JSON lines at
// the first records of some: the faults of unreadable files, and of records further down, are found later.
func Annotatable(ctx context.Context, files []corpus.File, wanted corpus.Wanted, limits corpus.Limits) error {
	looked := probed(len(files))
	return eachOf(ctx, len(files), func(i int) error {
		if files[i].Reference || files[i].Format.IsLines() && !slices.Contains(looked, i) {
			return nil
		}
		if err := annotatable(&files[i], i, wanted, limits); err != nil {
			name, _ := files[i].Place(0) // texts of a folder have no path of their own
			return fmt.Errorf("%s: %w", cmp.Or(files[i].Path, name), err)
		}
		return nil
	})
}

func annotatable(file *corpus.File, number int, wanted corpus.Wanted, limits corpus.Limits) error {
	definition := file.Format.Definition()
	switch {
	case definition.Annotatable != nil:
		return definition.Annotatable(file, wanted)
	case definition.Annotator == nil:
		return fmt.Errorf("records of the format %v have no fields, so no column can be added", file.Format)
	}
	annotator, seen := definition.Annotator(wanted), 0
	for batch, err := range Batches(*file, number, limits, wanted) {
		if err != nil {
			return nil
		}
		for _, record := range batch.Records() {
			name := ""
			_ = panics.Over("annotated", func() error { // the stage that annotates reports it
				name = annotator.Clash(batch.Header, record)
				return nil
			})
			if name != "" {
				return fmt.Errorf("there is a field %s already, which would be added; rename it", name)
			}
			if seen++; seen == probedRecords || len(batch.Header) > 0 { // a header tells for all records
				return nil
			}
		}
	}
	return nil
}

// Cuttable looks whether stretches can be cut out of the texts of files. It is an error if a file, other than one of a
// reference, has a format that does not allow it.
func Cuttable(ctx context.Context, files []corpus.File, wanted corpus.Wanted) error {
	return eachOf(ctx, len(files), func(i int) error {
		file, definition := &files[i], files[i].Format.Definition()
		switch {
		case file.Reference:
		case definition.Cuttable != nil:
			if err := definition.Cuttable(file, wanted); err != nil {
				return fmt.Errorf("%s: %w", file.Path, err)
			}
		case definition.Cutter == nil:
			name, _ := file.Place(0)
			return fmt.Errorf("%s: nothing can be cut out of texts of the format %v: its texts are mixed with markup; "+
				"write them to JSON lines first", name, file.Format)
		}
		return nil
	})
}
