package webtext

import (
	"bytes"
	"slices"
)

// Marks are hashes of what a copy of a page keeps if its words are other ones: ascending, distinct, and each with its
// [MarkKind]. Only a page that may ask for a password has marks.
type Marks []uint32

// MarkKind is what a mark is made from.
type MarkKind int

// The kinds of marks.
const (
	TagMark   MarkKind = iota // four start tags in a row
	ClassMark                 // the same with their classes, if any has one
	FieldMark                 // a field of a form: its name and type
	AssetMark                 // the file name of a picture, a script or a style sheet
	MarkKinds
)

// KindOf returns the kind of a mark.
func KindOf(mark uint32) MarkKind { return MarkKind(mark % uint32(MarkKinds)) }

const mostMarks = 1 << 12

type marking struct {
	marks Marks
	last  [2][markupShingle]uint64 // tags, and tags with classes
	tags  int
	// unclassed counts the tags since the last one with a class.
	unclassed int
}

func (m *marking) reset() { *m = marking{marks: m.marks[:0], unclassed: markupShingle} }

func (m *marking) add(kind MarkKind, hash uint64) {
	if len(m.marks) < mostMarks {
		m.marks = append(m.marks, uint32(mixed(hash))*uint32(MarkKinds)+uint32(kind))
	}
}

func (m *marking) tag(name, class []byte) {
	tag := hashOf(offset, name)
	m.tags++
	m.unclassed++
	if len(class) > 0 {
		m.unclassed = 0
	}
	for kind, hash := range [...]uint64{TagMark: tag, ClassMark: hashOf(tag^'.', class)} {
		last := &m.last[kind]
		copy(last[:], last[1:])
		last[markupShingle-1] = hash
		if m.tags < markupShingle || MarkKind(kind) == ClassMark && m.unclassed >= markupShingle {
			continue
		}
		shingle := uint64(0)
		for _, hash := range last {
			shingle = mixed(shingle ^ hash)
		}
		m.add(MarkKind(kind), shingle)
	}
}

func (m *marking) field(name, kind []byte) { m.add(FieldMark, hashOf(hashOf(offset, name)^'=', kind)) }

func (m *marking) asset(address []byte) {
	if at := bytes.IndexAny(address, "?#"); at >= 0 {
		address = address[:at]
	}
	file := address[bytes.LastIndexByte(address, '/')+1:]
	if len(file) > 0 && !bytes.HasPrefix(address, []byte("data:")) {
		m.add(AssetMark, hashOf(offset, file))
	}
}

func (m *marking) finish(isWanted bool) Marks {
	if !isWanted {
		return nil
	}
	slices.Sort(m.marks)
	return slices.Compact(m.marks)
}
