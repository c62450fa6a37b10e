package arrowfile

import (
	"fmt"
	"slices"
	"strings"

	"mirrorbeam/internal/read/parquetfile"
)

// kind is the type of a field, by its number in the schemas of Arrow.
type kind int

const (
	isNull          kind  = 1
	isInt           kind  = 2
	isFloat         kind  = 3
	isBinary        kind  = 4
	isText          kind  = 5
	isBool          kind  = 6
	isDate          kind  = 8
	isTimestamp     kind  = 10
	isList          kind  = 12
	isStruct        kind  = 13
	isUnion         kind  = 14
	isFixedList     kind  = 16
	isMap           kind  = 17
	isLargeBinary   kind  = 19
	isLargeText     kind  = 20
	isLargeList     kind  = 21
	isRunEndEncoded kind  = 22
	isBinaryView    kind  = 23
	isTextView      kind  = 24
	isListView      kind  = 25
	isLargeListView kind  = 26
	newest                = isLargeListView
	mostDepth             = 32 // of fields in fields
	noDictionary    int64 = -1
)

// field is a field of a schema.
type field struct {
	name     string
	kind     kind
	bits     int  // of a number
	unsigned bool // of a whole number
	unit     int  // of a time: 10 to the power of minus three times the unit, in seconds; of a date 0 for days
	size     int  // elements of a list of a fixed size
	isZoned  bool // a time, which is in UTC
	isDense  bool // a union
	children []*field

	dictionary    int64 // its number; noDictionary for none
	indexBits     int
	unsignedIndex bool
	isWanted      bool // [Reader.Column] was asked for it
}

// isWidth reports whether a whole number may have that number of bits.
func isWidth(bits int) bool { return slices.Contains([]int{8, 16, 32, 64}, bits) }

// fieldsOf reads the fields of a table, in the vector of that number.
func fieldsOf(t table, number, depth int) (fields []*field, err error) {
	if depth > mostDepth {
		return nil, fmt.Errorf("%w: its fields are nested more than %d deep", errMetadata, mostDepth)
	}
	at, n := t.vector(number, 4)
	for i := range n {
		f, err := fieldOf(t.buffer.table(at+4*i), depth)
		if err != nil {
			return nil, err
		}
		if fields = append(fields, f); t.buffer.isBad {
			return nil, errMetadata
		}
	}
	return fields, nil
}

func fieldOf(t table, depth int) (*field, error) {
	f := &field{name: t.text(0), kind: kind(t.int8(2)), dictionary: noDictionary}
	of, _ := t.table(3)
	f.measure(of)
	if encoding, isEncoded := t.table(4); isEncoded {
		index, _ := encoding.table(1)
		f.dictionary, f.indexBits, f.unsignedIndex = encoding.int64(0), 32, false
		if index.buffer != nil {
			f.indexBits, f.unsignedIndex = index.int32(0), index.int8(1) == 0
		}
	}
	var err error
	f.children, err = fieldsOf(t, 5, depth+1)
	if err == nil && (f.kind < isNull || f.kind > newest || f.isList() && len(f.children) != 1) {
		err = fmt.Errorf("field %.64q is of a type that is not known: %w", f.name, errMetadata)
	}
	return f, err
}

// measure reads how wide the values of a field are. A width that no writer makes is none.
func (f *field) measure(of table) {
	switch f.kind {
	case isInt:
		f.bits, f.unsigned = of.int32(0), of.int8(1) == 0
	case isFloat:
		if precision := of.int16(0, 0); precision >= 0 && precision <= 2 {
			f.bits = 16 << precision
		}
	case isDate:
		f.unit = of.int16(0, 1)
		f.bits = 32 << (f.unit & 1)
	case isTimestamp:
		f.unit, f.bits, f.isZoned = of.int16(0, 0), 64, of.text(1) != ""
	case isUnion:
		f.isDense = of.int16(0, 0) == 1
	case isFixedList:
		f.size = of.int32(0)
	}
}

func (f *field) isList() bool {
	return slices.Contains([]kind{isList, isLargeList, isFixedList}, f.kind) && f.dictionary == noDictionary
}

// isScalar reports whether a value of the field is read. One of type null is never there.
func (f *field) isScalar() bool {
	switch f.kind {
	case isNull, isText, isLargeText, isTextView, isBinary, isLargeBinary, isBinaryView, isBool:
		return true
	case isInt:
		return isWidth(f.bits)
	case isFloat:
		return f.bits == 32 || f.bits == 64
	case isDate:
		return f.unit == 0 || f.unit == 1
	case isTimestamp:
		return f.unit >= 0 && f.unit <= 3
	}
	return false
}

// buffers returns how many buffers a field has itself, in metadata of version 5. Views have more: the batch says how many.
func (f *field) buffers() int {
	if f.dictionary != noDictionary {
		return 2
	}
	switch f.kind {
	case isNull, isRunEndEncoded:
		return 0
	case isStruct, isFixedList:
		return 1
	case isUnion:
		if f.isDense {
			return 2
		}
		return 1
	case isBinary, isText, isLargeBinary, isLargeText, isListView, isLargeListView:
		return 3
	}
	return 2
}

func (f *field) isView() bool {
	return (f.kind == isBinaryView || f.kind == isTextView) && f.dictionary == noDictionary
}

// Column is a column whose values are wanted: a field, within structs perhaps.
type Column struct {
	structs []*field // around it, from the outermost
	leaf    *field   // a value or a list of values
}

// Column finds the column of a path, such as content.body. It returns a *[parquetfile.FieldError] if there is none.
func (r *Reader) Column(path string) (Column, error) {
	fields, c := r.fields, Column{}
	for rest := path; ; {
		i := slices.IndexFunc(fields, func(f *field) bool { return f.name == rest })
		if i >= 0 && (fields[i].kind != isStruct || fields[i].dictionary != noDictionary) {
			c.leaf = fields[i]
			return c, c.want(path)
		}
		i = slices.IndexFunc(fields, func(f *field) bool { return f.kind == isStruct && strings.HasPrefix(rest, f.name+".") })
		if i < 0 {
			return c, &parquetfile.FieldError{Path: path, There: paths(r.fields, "")}
		}
		c.structs = append(c.structs, fields[i])
		rest, fields = rest[len(fields[i].name)+1:], fields[i].children
	}
}

// IsList reports whether a row has any number of values. AreNumbers reports whether its values are whole numbers.
func (c Column) IsList() (isList, areNumbers bool) {
	value := c.leaf
	if isList = c.leaf.isList(); isList {
		value = c.leaf.children[0]
	}
	return isList, value.kind == isInt
}

// want notes that a column is wanted. It refuses one whose values are not read.
func (c Column) want(path string) error {
	value := c.leaf
	if value.isList() {
		value = value.children[0]
	}
	if !value.isScalar() || value.dictionary != noDictionary && !isWidth(value.indexBits) {
		return &parquetfile.FileError{Reason: fmt.Sprintf("field %.64q has values of a type that is not read: make texts or numbers of them", path)}
	}
	value.isWanted = true
	return nil
}

// paths returns the names of the columns.
func paths(fields []*field, before string) (all []string) {
	for _, f := range fields {
		if f.kind == isStruct {
			all = append(all, paths(f.children, before+f.name+".")...)
		} else {
			all = append(all, before+f.name)
		}
	}
	return all
}
