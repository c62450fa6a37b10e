package corpus

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Fields names the fields of a record, to the letter. Where fields hold fields, as in JSON, content.body is the field
// body of the field content, or the field of that whole name.
type Fields struct {
	// ID is the field of the document's id; empty: documents have none.
	ID string
	// Texts are the fields of the document's text. Of several, some may be missing or null in a line, but not all.
	Texts []string
	// Features is the field of the document's features; where it is not empty, documents have features instead of
	// texts, or next to them if Beside is set. A document with texts may have no features.
	Features string
	Beside   bool
	Others   []string
	// Items are the fields of text of documents of a reference; empty: they have the same as others.
	Items []string `json:",omitempty"`
	// Given says how the text field holds a fingerprint, if it does.
	Given Given `json:",omitzero"`
}

// Of returns what is wanted of the documents of a file.
func (w Wanted) Of(file *File) Wanted {
	if file != nil && file.Reference && len(w.Fields.Items) > 0 {
		w.Fields.Texts = w.Fields.Items
	}
	return w
}

// HasTexts reports whether documents have texts, with features next to them or not.
func (f *Fields) HasTexts() bool { return f.Beside || f.Features == "" }

// Record is what a line says of its document. Its slices are parts of the line or of the decoder, and valid as long.
type Record struct {
	// ID is the id: the content of a string, or a number digit by digit.
	ID []byte
	// HasID is false where the id is missing, null, NaN or empty.
	HasID bool
	// IsInteger says that the id is a whole number, as [IsInteger] has it, and no string of digits.
	IsInteger bool
	// Texts holds the texts, unescaped, in the order of [Fields]; empty for one that is missing or null. Bytes that are
	// not UTF-8 are left as they are in the line.
	Texts    [][]byte
	Features []Feature
	// TextKind is what the first text is in the record. SimHash is the fingerprint that it stands for, if [Fields] says
	// that texts do; its words are as sketch has them.
	TextKind ValueKind
	SimHash  []uint64
	// Others holds the values of the other fields, in the order of [Fields]: a string without its quotes, all else as
	// it is in the line. It is nil for a field that is missing, null or NaN, and not nil for an empty string.
	Others [][]byte
	// URL and Date say from where and when a web archive has fetched the record, as they stand there; empty for other
	// formats. They are known of some records that are no documents, too.
	URL, Date []byte
	// Title is the title of a web page without its numbers; empty for what is no web page.
	Title []byte
}

// IsInteger reports whether a text is a whole number of 64 bits with its sign, in the only way to write it: without a
// plus, leading zeros or -0.
func IsInteger(text []byte) bool {
	if len(text) == 0 || len(text) > len("-9223372036854775808") || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return false
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	var own [24]byte
	return err == nil && bytes.Equal(strconv.AppendInt(own[:0], n, 10), text)
}

// JSONDecoder takes id and text out of JSON lines. It is not for concurrent use.
//
// It reads each line to its end as encoding/json does: half a surrogate pair becomes U+FFFD, nesting deeper than 10,000
// is an error. It is more lenient in two ways: strings may contain control characters, and NaN, Infinity and -Infinity
// are values, as Python writes them. It is stricter in two: field names are matched to the letter, and a wanted field
// that occurs twice is an error.
type JSONDecoder struct {
	scanner  scanner
	name     []byte  // unescaped field name
	id       *wanted // nil: documents have none
	texts    []wanted
	features *wanted // nil: documents have texts only
	beside   bool    // documents have texts, whether they have features or not
	isGiven  bool    // the text is a fingerprint, and may be a number
	keeps    bool    // lines stay as they are
	others   []wanted
	all      []*wanted
	repeated string // the first wanted field that the line has twice
	top      scope

	reader    FeatureReader // of the features
	textsOut  [][]byte
	othersOut [][]byte
}

type wanted struct {
	name   string
	field  field
	buffer []byte // its content where it had to be unescaped
	isText bool   // a list of strings is one text
	isOnce bool   // it is not looked for in the objects of a list
}

type scope struct {
	names  []string // of the wanted fields, in the order of wanted
	wanted []*wanted
	inner  map[string]*scope // objects that hold wanted fields, by name
}

func (s *scope) add(name string, w *wanted) {
	s.names, s.wanted = append(s.names, name), append(s.wanted, w)
	outer, rest, isPath := strings.Cut(name, ".")
	if !isPath || outer == "" || rest == "" {
		return
	}
	if s.inner == nil {
		s.inner = map[string]*scope{}
	}
	if s.inner[outer] == nil {
		s.inner[outer] = &scope{}
	}
	s.inner[outer].add(rest, w)
}

// NewJSONDecoder returns a decoder for lines with these fields.
func NewJSONDecoder(f Fields) *JSONDecoder {
	d := &JSONDecoder{beside: f.HasTexts(), isGiven: f.Given.Bits > 0, reader: FeatureReader{Field: f.Features}}
	if f.Features != "" {
		d.features = &wanted{name: f.Features, isOnce: true}
		d.all = append(d.all, d.features)
	}
	if d.beside {
		d.texts = make([]wanted, len(f.Texts))
		for i, name := range f.Texts {
			d.texts[i].name, d.texts[i].isText = name, true
			d.all = append(d.all, &d.texts[i])
		}
	}
	if f.ID != "" {
		d.id = &wanted{name: f.ID, isOnce: true}
		d.all = append(d.all, d.id)
	}
	d.others = make([]wanted, len(f.Others))
	for i, name := range f.Others {
		d.others[i].name = name
		d.all = append(d.all, &d.others[i])
	}
	for _, w := range d.all {
		d.top.add(w.name, w)
	}
	return d
}

// Call sets what a line is called in messages.
func (d *JSONDecoder) Call(name string) { d.scanner.name = name }

// LimitFeatures sets how many features a document may have; 0: any number.
func (d *JSONDecoder) LimitFeatures(most int) { d.reader.Most = most }

type field struct {
	kind    kind
	content []byte
	begin   int  // where its value begins in the line
	isList  bool // its content is joined
}

func (f *field) isNone() bool { return f.kind == missing || f.kind == null }

// Decode reads one line. The error says in a few words, without file and position, why the line is no document.
func (d *JSONDecoder) Decode(line []byte) (Record, error) {
	if err := d.scan(line); err != nil {
		return Record{}, err
	}
	return d.record()
}

func (d *JSONDecoder) scan(line []byte) error {
	d.dropLargeBuffers()
	d.repeated = ""
	for _, w := range d.all {
		w.field = field{}
	}
	s := &d.scanner
	s.line = line
	i := s.space(0)
	if s.peek(i) != '{' {
		k, i := s.value(i)
		if i < 0 || s.end(i) < 0 {
			return s.err()
		}
		return fmt.Errorf("%s is %v, not an object", s.called(), k)
	}
	if i = d.object(i, &d.top); i < 0 || s.end(i) < 0 {
		return s.err()
	}
	return nil
}

// object reads the object at i and keeps what is wanted of it.
func (d *JSONDecoder) object(i int, of *scope) int {
	s := &d.scanner
	if i = s.space(i + 1); s.peek(i) == '}' {
		return i + 1
	}
	for {
		if i = d.field(i, of); i < 0 {
			return -1
		}
		switch s.peek(i) {
		case ',':
			i = s.space(i + 1)
		case '}':
			return i + 1
		default:
			return s.fail(i, "neither a comma nor a closing bracket after a value")
		}
	}
}

// field reads one field of an object, with the white space behind it, and keeps
// it if it is wanted.
func (d *JSONDecoder) field(i int, of *scope) int {
	s := &d.scanner
	name, i := s.key(i, &d.name)
	if i < 0 {
		return -1
	}
	var first *wanted
	for n, w := range of.wanted {
		if string(name) != of.names[n] {
			continue
		}
		if first != nil { // the field is wanted for more than one thing
			w.field = first.field
			continue
		}
		first = w
		d.begin(w)
		start := i
		w.field.begin = i
		if s.peek(i) == '"' {
			w.field.kind = text
			buffer := &w.buffer
			if len(s.line) > keepBytes && !d.keeps {
				buffer = nil // a copy would take as much memory as the line, and no other wanted value holds this one
			}
			w.field.content, i = s.text(i, buffer)
		} else if w.field.kind, i = s.value(i); i >= 0 {
			w.field.content = s.line[start:i:i]
		}
		if i >= 0 && w.isText && w.field.kind == array {
			d.join(start, i, w)
		}
		if i < 0 {
			return -1
		}
	}
	if first == nil {
		inner := of.inner[string(name)]
		if inner != nil {
			for _, w := range inner.wanted {
				d.begin(w)
			}
		}
		switch {
		case inner != nil && s.peek(i) == '{':
			i = d.object(i, inner)
		case inner != nil && s.peek(i) == '[':
			i = d.list(i, inner)
		default:
			_, i = s.value(i)
		}
		if i < 0 {
			return -1
		}
	}
	return s.space(i)
}

func (d *JSONDecoder) begin(w *wanted) {
	if w.field.kind != missing {
		d.repeated = cmp.Or(d.repeated, w.name)
	}
	w.field = field{}
}

type joined struct {
	text  []byte
	count int
	other kind // of what is neither a string nor null
	isNil bool // something is null
}

func (j *joined) add(k kind, content []byte) {
	switch k {
	case missing:
	case null:
		j.isNil = true
	case text:
		j.text = AppendJoined(j.text, content, j.count == 0)
		j.count++
	default:
		j.other = k
	}
}

func (j *joined) field(begin int) field {
	switch {
	case j.other != missing:
		return field{kind: j.other, begin: begin}
	case j.count > 0:
		return field{kind: text, content: j.text, begin: begin, isList: true}
	case j.isNil:
		return field{kind: null}
	}
	return field{}
}

// AppendJoined appends one of several strings that are a text together. All formats join the strings of a list so.
func AppendJoined(b, content []byte, isFirst bool) []byte {
	if !isFirst {
		b = append(b, '\n')
	}
	return append(b, content...)
}

// join makes one text of the well-formed list from begin to end if it holds only strings, null and such lists.
func (d *JSONDecoder) join(begin, end int, w *wanted) {
	s := &d.scanner
	all := joined{isNil: true}
	for i := begin; i < end && all.other == missing; {
		switch s.line[i] {
		case '[', ']', ',', ' ', '\t', '\n', '\r':
			i++
		case '"':
			var content []byte
			content, i = s.text(i, &w.buffer)
			all.add(text, content)
		case 'n':
			i += len("null")
		default:
			return // it stays a list
		}
	}
	w.field = all.field(begin)
}

// list reads the list at i, and keeps of the objects in it, and in lists in it, what is wanted.
func (d *JSONDecoder) list(i int, of *scope) int {
	s := &d.scanner
	begin := i
	_, end := s.value(i)
	if end < 0 {
		return -1
	}
	all := make([]joined, len(of.wanted))
	for i < end {
		switch s.line[i] {
		case '[', ']', ',', ' ', '\t', '\n', '\r':
			i++
		case '{':
			for _, w := range of.wanted {
				w.field = field{}
			}
			if i = d.object(i, of); i < 0 {
				return -1
			}
			for n, w := range of.wanted {
				all[n].add(w.field.kind, w.field.content)
			}
		default:
			_, i = s.scalar(i)
		}
	}
	for n, w := range of.wanted {
		if w.field = all[n].field(begin); w.isOnce {
			w.field = field{}
		}
	}
	return end
}

func (d *JSONDecoder) record() (Record, error) {
	var r Record
	var err error
	if d.repeated != "" {
		return r, fmt.Errorf("field %.64q occurs twice: leave one of them", d.repeated)
	}
	if d.beside {
		if r.Texts, err = d.readTexts(); err != nil {
			return r, err
		}
		if d.texts[0].field.kind == number {
			r.TextKind = NumberValue
		}
	}
	if d.features != nil && !(d.beside && d.features.field.isNone()) {
		if d.features.field.kind == missing {
			return r, MissingField(
				fmt.Sprintf("field %.64q is missing: a document needs an array or an object of features there",
					d.features.name))
		}
		if r.Features, err = d.reader.read(d.features.field.kind, d.features.field.content); err != nil {
			return r, err
		}
	}
	if len(d.others) > 0 {
		r.Others = d.readOthers()
	}
	if d.id == nil {
		return r, nil
	}
	switch id := &d.id.field; id.kind {
	case missing, null, notFinite:
	case text, number:
		if r.HasID = len(id.content) > 0; r.HasID {
			r.ID, r.IsInteger = id.content, id.kind == number && IsInteger(id.content)
		}
	default:
		return Record{}, fmt.Errorf("field %.64q is %v: an id is a string or a number", d.id.name, id.kind)
	}
	return r, nil
}

func (d *JSONDecoder) readTexts() ([][]byte, error) {
	d.textsOut = d.textsOut[:0]
	found := false
	for i := range d.texts {
		w := &d.texts[i]
		switch {
		case w.field.kind == text, w.field.kind == number && d.isGiven:
			found = true
		case len(d.texts) == 1 && w.field.kind == missing:
			return nil, MissingField(fmt.Sprintf("field %.64q is missing: a document needs a string there", w.name))
		case len(d.texts) == 1 && w.field.kind == null:
			return nil, NoText(fmt.Sprintf("field %.64q is null: a document needs a string there", w.name))
		case len(d.texts) == 1 || w.field.kind != missing && w.field.kind != null:
			return nil, fmt.Errorf("field %.64q is %v: a document needs a string there", w.name, w.field.kind)
		default:
			w.field.content = nil
		}
		d.textsOut = append(d.textsOut, w.field.content)
	}
	if !found {
		return nil, MissingField(
			fmt.Sprintf(
				"field %.64q is %v, and so are the other text fields: a document needs a string in one of them",
				d.texts[0].name, d.texts[0].field.kind))
	}
	return d.textsOut, nil
}

func (d *JSONDecoder) readOthers() [][]byte {
	d.othersOut = d.othersOut[:0]
	for i := range d.others {
		value := d.others[i].field.content
		if kind := d.others[i].field.kind; kind == missing || kind == null || kind == notFinite {
			value = nil
		}
		d.othersOut = append(d.othersOut, value)
	}
	return d.othersOut
}

func (d *JSONDecoder) dropLargeBuffers() {
	for _, w := range d.all {
		dropLarge(&w.buffer)
	}
	for _, buffer := range []*[]byte{&d.name, &d.scanner.skip} {
		dropLarge(buffer)
	}
	d.reader.dropLarge()
}

func dropLarge(buffer *[]byte) {
	if cap(*buffer) > keepBytes {
		*buffer = nil
	}
}
