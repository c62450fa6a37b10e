package formats

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/warc"
	"mirrorbeam.dev/internal/input/webtext"
)

func init() {
	corpus.Register(corpus.Definition{
		Format:   corpus.WARC,
		Name:     "warc",
		Help:     "web archives",
		Endings:  []string{".warc", ".wet", ".arc"},
		Magics:   []string{"WARC/", "filedesc://"},
		HasPages: true,
		Source: func(l corpus.Limits, _ corpus.Wanted) corpus.Source {
			return &warcSource{limits: l, stream: l.Stream()}
		},
		Decoder: func(w corpus.Wanted) corpus.Decoder {
			return &warcDecoder{
				parser: warc.Parser{Limit: w.MaxDocument, AsShown: w.AsShown},
				text:   newPageText(w, w.PageText),
				fields: w.Fields.Others,
			}
		},
		Writer: func(c corpus.Copy) corpus.RecordWriter { return memberWriter{c} },
	})
}

// memberWriter compresses each record by itself, since readers of web archives seek single records.
type memberWriter struct{ out corpus.Copy }

func (m memberWriter) Write(_ string, record []byte) error {
	if err := m.out.Row(record); err != nil {
		return err
	}
	return m.out.EndMember()
}

func (memberWriter) Close() error { return nil }

type warcSource struct {
	limits corpus.Limits
	stream corpus.Stream
	reader *warc.Reader
	number int
	next   int64 // position behind the last frame
	ended  bool
}

func (w *warcSource) Reset(file corpus.File, s corpus.Stretch) error {
	if err := w.stream.Reset(file, s.Start, w.limits.Window); err != nil {
		return err
	}
	options := warc.Options{Limit: w.limits.Line, Start: s.Start, Hold: w.stream.Hold}
	if file.Compression == corpus.None {
		options.End = file.Size
	} else {
		options.Member = w.stream.Member
	}
	w.reader, w.number, w.next, w.ended = warc.NewReader(&w.stream, options), s.File, 0, false
	return nil
}

func (w *warcSource) Next(buffer []byte) (corpus.Batch, error) {
	b := corpus.Batch{File: w.number, Format: corpus.WARC, Data: buffer[:0]}
	for len(b.Data) < corpus.BatchBytes && !w.ended {
		frame, err := w.reader.Next()
		fault, isFault := errors.AsType[*corpus.Fault](err)
		switch {
		case err == io.EOF:
			w.ended = true
		case isFault:
			w.ended = fault.Last
			b.Rejects = append(b.Rejects, corpus.Reject{
				Position: w.next,
				Message:  fault.Message,
				Warning:  fault.Warning,
				Damage:   true,
			})
		case err != nil:
			return corpus.Batch{}, err
		case frame.Fault != "":
			b.Rejects = append(b.Rejects, corpus.Reject{Position: frame.Position, Message: frame.Fault, Damage: true})
			w.next = frame.Position + 1
		default:
			start := len(b.Data)
			b.Data = append(b.Data, frame.Raw...)
			b.Frames = append(b.Frames, corpus.Frame{Position: frame.Position, Start: start, End: len(b.Data)})
			w.next = frame.Position + 1
		}
	}
	if len(b.Frames) == 0 && len(b.Rejects) == 0 {
		return corpus.Batch{}, w.stream.End()
	}
	return b, nil
}

func (w *warcSource) Close() error { return w.stream.Close() }

type warcDecoder struct {
	parser warc.Parser
	text   pageText
	fields []string // other fields
	others [][]byte
}

// Decode returns the text of a page. The id of the record is the id of the document. Of a redirect, which is passed
// over, it returns the other fields.
func (d *warcDecoder) Decode(_, raw []byte) (corpus.Record, error) {
	record, err := d.parser.Parse(raw)
	if err != nil {
		return corpus.Record{URL: record.URL, Date: record.Date}, err
	}
	if record.Use != warc.Document {
		passed := corpus.Record{}
		if len(record.Location) > 0 {
			passed.Others = d.readOthers(&record, pageOf(&record), nil)
		}
		return passed, corpus.PassedOver(record.Use.String())
	}
	page := pageOf(&record)
	texts := d.text.of(page)
	title := d.text.extractor.Title
	record.Payload = d.text.extractor.Source
	id := bytes.TrimSuffix(bytes.TrimPrefix(record.ID, []byte("<")), []byte(">"))
	return corpus.Record{
		ID:     id,
		HasID:  len(id) > 0,
		Texts:  texts,
		Others: d.readOthers(&record, page, title),
		URL:    record.URL,
		Date:   record.Date,
		Title:  title,
	}, nil
}

// readOthers returns the values of the other fields. A record has the fields url, date, site, which is the host of the
// url, [PasswordInput], [Language], [Markup], [Canonical] and [TitleWords].
func (d *warcDecoder) readOthers(r *warc.Record, page webtext.Page, title []byte) [][]byte {
	d.others = d.others[:0]
	for _, field := range d.fields {
		var value []byte
		switch {
		case field == "url":
			value = r.URL
		case field == "date":
			value = r.Date
		case field == "site":
			if address, err := url.Parse(string(r.URL)); err == nil {
				value = []byte(strings.ToLower(address.Hostname()))
			}
		case field == Canonical && len(r.Location) > 0:
			value = destination(r)
		default:
			value = d.text.value(field, page, r.Payload, title, r.Languages)
		}
		if len(value) == 0 {
			value = nil
		}
		d.others = append(d.others, value)
	}
	return d.others
}

func pageOf(r *warc.Record) webtext.Page {
	return webtext.Page{Content: r.Payload, MediaType: r.MediaType, Charset: r.Charset}
}

func destination(r *warc.Record) []byte {
	from, err := url.Parse(string(r.URL))
	if err != nil {
		return nil
	}
	to, err := from.Parse(string(r.Location))
	if err != nil {
		return nil
	}
	return []byte(to.String())
}

// PageText is the text field of a page with its whole text. If it is not wanted, the first field has that.
const PageText = "text"

// elements are the elements of the other text fields of a page.
var elements = map[string][]string{"title": webtext.TitleElements, "headings": webtext.HeadingElements}

// PageTexts are the text fields of a page that users may name.
var PageTexts = append(slices.Sorted(maps.Keys(elements)), PageText)

// pageText takes the texts of a page for the text fields of a record.
type pageText struct {
	extractor webtext.Extractor
	text      []byte
	fields    []string
	texts     [][]byte
	contents  webtext.Contents
	packed    []byte // the contents as a value
}

func newPageText(w corpus.Wanted, mode webtext.Mode) pageText {
	return pageText{
		extractor: webtext.Extractor{Mode: mode, AsShown: w.AsShown},
		fields:    w.Fields.Texts,
		texts:     make([][]byte, max(len(w.Fields.Texts), 1)),
	}
}

// of returns the text fields for a page, which are valid until the next call.
func (p *pageText) of(page webtext.Page) [][]byte {
	if cap(p.text) > corpus.LongLine {
		p.text = nil // a huge page shall not weigh on the rest of a job
	}
	text, isText := p.extractor.Text(page)
	if !isText {
		p.text = p.extractor.Append(p.text[:0], page)
		text = p.text
	}
	whole := max(slices.Index(p.fields, PageText), 0)
	for i := range p.texts {
		if i != whole {
			p.texts[i] = p.texts[i][:0]
			if names := elements[p.fields[i]]; names != nil && !isText {
				p.texts[i] = p.extractor.AppendInside(p.texts[i], page, names)
			}
		}
	}
	p.texts[whole] = text
	return p.texts
}

const (
	PasswordInput = "password_input"
	// Language is the code of the language of the page in ISO 639, such as "en", if the page or its archive says so.
	Language = "language"
	// Canonical is the address that the page names as its original, or the target of a redirect.
	Canonical  = "canonical"
	TitleWords = "title_words"
	// Markup is a sketch of the markup of the page, see [webtext.AppendMarkup].
	Markup = "markup_sketch"
	// Contents is all that the page contains, seen or not, see [webtext.Contents.Append].
	Contents = "page_contents"
)

// PageFields are the fields of a web page that users may name; ArchiveFields are added for a page of an archive.
var (
	PageFields    = []string{Canonical, Language, PasswordInput, TitleWords}
	ArchiveFields = []string{"date", "site", "url"}
)

// value returns the value of a field that a page has, nil if it has none. Page is that page in UTF-8, with its frames,
// and title its title. Found are the languages that an archive has found: what a page says of itself counts more.
func (p *pageText) value(field string, of webtext.Page, page, title, found []byte) (value []byte) {
	switch field {
	case Contents:
		p.extractor.Contents(&p.contents, of)
		p.packed = p.contents.Append(p.packed[:0])
		value = p.packed
	case PasswordInput:
		if webtext.HasPasswordInput(page) {
			value = []byte("true")
		}
	case Language:
		value = []byte(cmp.Or(webtext.Language(page), webtext.BaseLanguage(found)))
	case Markup:
		value = webtext.AppendMarkup(nil, page)
	case Canonical:
		value = webtext.Canonical(page)
	case TitleWords:
		value = title
	}
	if len(value) == 0 {
		return nil
	}
	return value
}
