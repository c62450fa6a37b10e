package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errShort = errors.New("it ends too early")

// walker walks over a structure of Thrift's compact protocol, without decoding it. The decoder of the library believes
// the lengths of lists and strings and allocates them at once; what the walker has passed is safe to decode.
type walker struct {
	bytes []byte
	at    int
	// items is how many elements of lists, sets and maps may still come.
	items int
}

// structLength returns the length of the structure at the start of b, whose lists have at most the given number of elements
// together. The error is errShort if b ends before the structure.
func structLength(b []byte, items int) (int, error) {
	w := walker{bytes: b, items: items}
	err := w.structure(maxDepth)
	return w.at, err
}

// Types of the compact protocol.
const (
	thriftStop = iota
	thriftTrue
	thriftFalse
	thriftInt8
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
	thriftUUID
)

func (w *walker) structure(depth int) error {
	for {
		header, err := w.byte()
		if err != nil {
			return err
		}
		kind := header & 0xf
		if kind == thriftStop {
			return nil
		}
		if header>>4 == 0 { // the number of the field follows
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		if kind == thriftTrue || kind == thriftFalse {
			continue
		}
		if err := w.value(kind, depth); err != nil {
			return err
		}
	}
}

// value passes over a value outside a field. There a truth value takes a byte.
func (w *walker) value(kind byte, depth int) error {
	switch kind {
	case thriftTrue, thriftFalse, thriftInt8:
		return w.skip(1)
	case thriftInt16, thriftInt32, thriftInt64:
		_, err := w.varint()
		return err
	case thriftDouble:
		return w.skip(8)
	case thriftUUID:
		return w.skip(16)
	case thriftBinary:
		length, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(length)
	}
	if depth == 0 {
		return fmt.Errorf("structures are nested more than %d deep", maxDepth)
	}
	switch kind {
	case thriftList, thriftSet:
		return w.list(depth - 1)
	case thriftMap:
		return w.pairs(depth - 1)
	case thriftStruct:
		return w.structure(depth - 1)
	}
	return fmt.Errorf("type %d is not of the Thrift protocol", kind)
}

func (w *walker) list(depth int) error {
	header, err := w.byte()
	if err != nil {
		return err
	}
	size := uint64(header >> 4)
	if size == 0xf {
		if size, err = w.varint(); err != nil {
			return err
		}
	}
	return w.elements(size, depth, header&0xf)
}

func (w *walker) pairs(depth int) error {
	size, err := w.varint()
	if err != nil || size == 0 {
		return err
	}
	kinds, err := w.byte()
	if err != nil {
		return err
	}
	return w.elements(size, depth, kinds>>4, kinds&0xf)
}

// elements passes over a number of elements. Each has a value of each kind.
func (w *walker) elements(size uint64, depth int, kinds ...byte) error {
	if size > uint64(w.items) {
		return errors.New("its lists have too many elements")
	}
	w.items -= int(size)
	for range size {
		for _, kind := range kinds {
			if err := w.value(kind, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) byte() (byte, error) {
	if w.at == len(w.bytes) {
		return 0, errShort
	}
	w.at++
	return w.bytes[w.at-1], nil
}

func (w *walker) varint() (uint64, error) {
	value, length := binary.Uvarint(w.bytes[w.at:])
	switch {
	case length == 0:
		return 0, errShort
	case length < 0:
		return 0, errors.New("a number has more than 64 bits")
	}
	w.at += length
	return value, nil
}

func (w *walker) skip(length uint64) error {
	if length > uint64(len(w.bytes)-w.at) {
		return errShort
	}
	w.at += int(length)
	return nil
}
