// Package packed is the binary codec of records whose speed does not depend on a layout by hand: their declaration is
// the layout. A record is the values of its fields, in their order. Unsigned numbers take the bytes of their type,
// little-endian, and so do floats. Signed numbers and lengths are varints. A list, a text or a map has its length in
// front, and what a pointer leads to has a byte in front that is 0 for nil. Fields that are not exported are left out.
package packed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

var isTime = reflect.TypeFor[time.Time]()

// Append appends the record to which a pointer leads.
func Append(b []byte, record any) []byte { return appendValue(b, reflect.ValueOf(record).Elem()) }

func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint8:
		return append(b, byte(v.Uint()))
	case reflect.Uint16:
		return binary.LittleEndian.AppendUint16(b, uint16(v.Uint()))
	case reflect.Uint32:
		return binary.LittleEndian.AppendUint32(b, uint32(v.Uint()))
	case reflect.Uint64:
		return binary.LittleEndian.AppendUint64(b, v.Uint())
	case reflect.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float()))
	case reflect.String:
		return append(appendLength(b, v), v.String()...)
	case reflect.Slice:
		return appendElements(appendLength(b, v), v)
	case reflect.Array:
		return appendElements(b, v)
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, 0)
		}
		return appendValue(append(b, 1), v.Elem())
	case reflect.Map:
		return appendMap(appendLength(b, v), v)
	case reflect.Struct:
		if v.Type() == isTime {
			text, _ := v.Interface().(time.Time).MarshalBinary() // it has no error: the offsets of zones are small
			return append(binary.AppendUvarint(b, uint64(len(text))), text...)
		}
		for i := range v.NumField() {
			if field := v.Field(i); field.CanInterface() {
				b = appendValue(b, field)
			}
		}
		return b
	}
	panic(fmt.Sprintf("no record has a %s", v.Type()))
}

func appendLength(b []byte, v reflect.Value) []byte { return binary.AppendUvarint(b, uint64(v.Len())) }

func appendElements(b []byte, v reflect.Value) []byte {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return append(b, v.Bytes()...)
	}
	for i := range v.Len() {
		b = appendValue(b, v.Index(i))
	}
	return b
}

func appendMap(b []byte, v reflect.Value) []byte {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
	for _, key := range keys {
		b = appendValue(appendValue(b, key), v.MapIndex(key))
	}
	return b
}

// ErrDamaged says that bytes are no record of the type that is read.
var ErrDamaged = errors.New("a record is damaged")

// Next reads the first record into the one to which a pointer leads, which is empty, and returns the bytes of the
// others. Lists of bytes alias the bytes that are read.
func Next(b []byte, record any) (rest []byte, err error) {
	r := reader{b: b}
	if r.read(reflect.ValueOf(record).Elem()); r.isDamaged {
		return nil, ErrDamaged
	}
	return r.b, nil
}

// reader takes values off the bytes. When they are damaged, it goes on with values of 0.
type reader struct {
	b         []byte
	isDamaged bool
}

// take takes n bytes, or none if there are fewer.
func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.isDamaged, r.b = true, nil
		return nil
	}
	taken := r.b[:n:n]
	r.b = r.b[n:]
	return taken
}

func (r *reader) number(n int) uint64 {
	var b [8]byte
	copy(b[:], r.take(n))
	return binary.LittleEndian.Uint64(b[:])
}

// length takes the length of a list, whose elements take a byte or more.
func (r *reader) length() int {
	n, size := binary.Uvarint(r.b)
	if size <= 0 || n > uint64(len(r.b)-size) {
		r.isDamaged, r.b = true, nil
		return 0
	}
	r.b = r.b[size:]
	return int(n)
}

func (r *reader) signed() int64 {
	n, size := binary.Varint(r.b)
	r.isDamaged = r.isDamaged || size <= 0
	r.take(max(size, 0))
	return n
}

func (r *reader) read(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.number(1) == 1)
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		v.SetInt(r.signed())
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.number(int(v.Type().Size())))
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(r.number(8)))
	case reflect.String:
		v.SetString(string(r.take(r.length())))
	case reflect.Slice:
		r.readList(v, r.length())
	case reflect.Array:
		r.readElements(v)
	case reflect.Pointer:
		if r.number(1) == 1 {
			v.Set(reflect.New(v.Type().Elem()))
			r.read(v.Elem())
		}
	case reflect.Map:
		r.readMap(v, r.length())
	case reflect.Struct:
		if v.Type() == isTime {
			err := v.Addr().Interface().(*time.Time).UnmarshalBinary(r.take(r.length()))
			r.isDamaged = r.isDamaged || err != nil
			return
		}
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				r.read(field)
			}
		}
	}
}

func (r *reader) readList(v reflect.Value, n int) {
	switch {
	case n == 0:
	case v.Type().Elem().Kind() == reflect.Uint8:
		v.SetBytes(r.take(n))
	default:
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		r.readElements(v)
	}
}

func (r *reader) readElements(v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		copy(v.Bytes(), r.take(v.Len()))
		return
	}
	for i := range v.Len() {
		r.read(v.Index(i))
	}
}

func (r *reader) readMap(v reflect.Value, n int) {
	if n == 0 {
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), n))
	for range n {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		r.read(key)
		r.read(value)
		v.SetMapIndex(key, value)
	}
}
