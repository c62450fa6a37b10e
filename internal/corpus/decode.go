package corpus

import "fmt"

// Fields names the fields of a JSON line. Names are matched exactly, letter
// case included, at the top level of the object only.
type Fields struct {
	// ID is the field of the document's id; empty: documents have none.
	ID string
	// Text is the field of the document's text; required.
	Text string
}

// Record is what a line says of its document. Its slices are parts of the
// line or of the decoder, and valid until either is used again.
type Record struct {
	// ID is the id: the content of a string, or a number digit by digit.
	ID []byte
	// HasID is false where the id is missing, null, NaN or empty.
	HasID bool
	// Text is the text, unescaped. Bytes that are not UTF-8 are left as they
	// are in the line. It may be empty.
	Text []byte
}

// Decoder takes id and text out of JSON lines. It is not for concurrent use.
//
// It reads each line to its end and takes what encoding/json takes, and reads
// it alike: of a repeated field the last one counts, half a surrogate pair
// becomes U+FFFD, nesting deeper than 10,000 is an error. It is more lenient
// in two ways, for documents' sake: control characters may stand in strings
// as they are, and NaN, Infinity and -Infinity are values, as Python writes
// them. It is stricter in one: the name of a field is matched to the letter.
type Decoder struct {
	fields  Fields
	scanner scanner
	name    []byte // unescaped field name
	id      []byte // unescaped id
	text    []byte // unescaped text
}

// NewDecoder returns a decoder for lines with these fields.
func NewDecoder(f Fields) *Decoder { return &Decoder{fields: f} }

// field is a wanted field as far as the line has been read.
type field struct {
	kind    kind
	content []byte
}

// Decode reads one line. The error says in a few words why the line is no
// document, for a reader who knows its file and position: the JSON is
// malformed, the value is no object, the text is missing or no string, or the
// id is neither a string nor a number.
func (d *Decoder) Decode(line []byte) (Record, error) {
	d.dropLargeBuffers()
	s := &d.scanner
	s.line = line
	id, text, err := d.object(s.space(0))
	if err != nil {
		return Record{}, err
	}
	return d.record(id, text)
}

// object reads the whole line, which must be an object, and returns the last
// id and text in it.
func (d *Decoder) object(i int) (id, content field, err error) {
	s := &d.scanner
	if s.peek(i) != '{' {
		k, i := s.value(i)
		if i < 0 || s.end(i) < 0 {
			return id, content, s.err()
		}
		return id, content, fmt.Errorf("the line is %v, not an object", k)
	}
	i = s.space(i + 1)
	if s.peek(i) == '}' {
		i++
	} else {
		for more := true; more; {
			if i = d.field(i, &id, &content); i < 0 {
				return id, content, s.err()
			}
			switch s.peek(i) {
			case ',':
				i = s.space(i + 1)
			case '}':
				i++
				more = false
			default:
				s.fail(i, "neither a comma nor a closing bracket after a value")
				return id, content, s.err()
			}
		}
	}
	if s.end(i) < 0 {
		return id, content, s.err()
	}
	return id, content, nil
}

// field reads one field, with the white space behind it, and keeps it if it
// is wanted.
func (d *Decoder) field(i int, id, content *field) int {
	s := &d.scanner
	name, i := s.key(i, &d.name)
	if i < 0 {
		return -1
	}
	isText := string(name) == d.fields.Text
	isID := string(name) == d.fields.ID && d.fields.ID != ""
	if !isText && !isID {
		_, i = s.value(i)
	} else {
		buffer := &d.text
		if !isText {
			buffer = &d.id
		}
		var value field
		start := i
		if s.peek(i) == '"' {
			value.kind = text
			value.content, i = s.text(i, buffer)
		} else if value.kind, i = s.value(i); i >= 0 {
			value.content = s.line[start:i:i]
		}
		if isText {
			*content = value
		}
		if isID {
			*id = value
		}
	}
	if i < 0 {
		return -1
	}
	return s.space(i)
}

// record checks the types of the wanted fields.
func (d *Decoder) record(id, content field) (Record, error) {
	if content.kind != text {
		return Record{}, fmt.Errorf("field %.64q is %v: a document needs a string there", d.fields.Text, content.kind)
	}
	r := Record{Text: content.content}
	switch id.kind {
	case missing, null, notFinite:
	case text, number:
		if r.HasID = len(id.content) > 0; r.HasID {
			r.ID = id.content
		}
	default:
		return Record{}, fmt.Errorf("field %.64q is %v: an id is a string or a number", d.fields.ID, id.kind)
	}
	return r, nil
}

// dropLargeBuffers frees what a huge line left behind.
func (d *Decoder) dropLargeBuffers() {
	for _, buffer := range []*[]byte{&d.name, &d.id, &d.text, &d.scanner.skip} {
		if cap(*buffer) > keepBytes {
			*buffer = nil
		}
	}
}
