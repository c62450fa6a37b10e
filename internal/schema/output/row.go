package output

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/parquetfile"
	"mirrorbeam.dev/internal/storage"
)

//go:generate go run mirrorbeam.dev/scripts/rowgen

// Row is a struct whose tags name its fields in JSON and its columns in Parquet, in their order. Strings in it are
// texts as [quoting.Text] returns them. Its methods are generated: rowgen says what the tags mean.
type Row interface {
	// AppendJSON appends the row as a line of JSON, which encoding/json reads back.
	AppendJSON(b []byte, names Names) []byte
}

// AppendRow appends a row as a line of JSON, which encoding/json reads back.
func AppendRow(b []byte, row Row) []byte { return row.AppendJSON(b, Names{}) }

// plainRow is a row that reads lines as its AppendJSON writes them, in a fraction of the time that JSON in general
// takes. It reports false for any other line. A text that was in the row before is used again.
type plainRow interface{ parsePlain(line []byte) bool }

// parseRow reads a line of JSON into a row, which may hold another one.
func parseRow[T any](line []byte, row *T) error {
	if plain, is := any(row).(plainRow); is && plain.parsePlain(line) {
		return nil
	}
	*row = *new(T)
	return json.Unmarshal(line, row)
}

// plainLine takes the fields of a line one after the other. It is not ok if one of them is missing.
type plainLine struct {
	rest []byte
	ok   bool
}

// take takes what a field begins with, if it is there.
func (l *plainLine) take(start string) bool {
	if len(l.rest) < len(start) || string(l.rest[:len(start)]) != start {
		return false
	}
	l.rest = l.rest[len(start):]
	return true
}

// text takes a string without escapes that begins after start. It is often the last one.
func (l *plainLine) text(start, last string) string {
	l.ok = l.ok && l.take(start)
	end := bytes.IndexByte(l.rest, '"')
	if l.ok = l.ok && end >= 0 && bytes.IndexByte(l.rest[:end], '\\') < 0; !l.ok {
		return ""
	}
	content := l.rest[:end]
	if l.rest = l.rest[end+1:]; string(content) == last {
		return last
	}
	return string(content)
}

// name takes the name of a document, a string without escapes or a whole number, that begins after start. It is often
// the last one.
func (l *plainLine) name(start, last string) string {
	if l.ok = l.ok && l.take(start); l.ok && len(l.rest) > 0 && l.rest[0] == '"' {
		return l.text(`"`, last)
	}
	end := max(bytes.IndexAny(l.rest, ",}"), 0)
	if l.ok = l.ok && corpus.IsInteger(l.rest[:end]); !l.ok {
		return ""
	}
	content := l.rest[:end]
	if l.rest = l.rest[end:]; string(content) == last {
		return last
	}
	return string(content)
}

// digits takes the characters of a number that begins after start.
func (l *plainLine) digits(start string) []byte {
	if l.ok = l.ok && l.take(start); !l.ok {
		return nil
	}
	end := 0
	for end < len(l.rest) && l.rest[end] != ',' && l.rest[end] != '}' {
		end++
	}
	digits := l.rest[:end]
	l.rest = l.rest[end:]
	return digits
}

// number takes a number that begins after start.
func (l *plainLine) number(start string) float64 {
	x, err := strconv.ParseFloat(string(l.digits(start)), 64)
	l.ok = l.ok && err == nil
	return x
}

// integer takes a whole number that begins after start.
func (l *plainLine) integer(start string) int64 {
	n, err := strconv.ParseInt(string(l.digits(start)), 10, 64)
	l.ok = l.ok && err == nil
	return n
}

func (l *plainLine) flag(start string) bool {
	l.ok = l.ok && l.take(start)
	is := l.take("true")
	l.ok = l.ok && (is || l.take("false"))
	return is
}

// end reports whether the line ends here, and all fields were there.
func (l *plainLine) end() bool { return l.ok && string(l.rest) == "}" }

// known are the figures that tasks have to hand.
var known = sync.Pool{New: func() any { return new(figures) }}

// figures holds some numbers as rows have them, each at a place that its bits tell. The numbers of rows of documents
// that are much alike repeat, and to look one up takes less time than to find its digits again.
type figures [1 << figuresBits]figure

const figuresBits = 10

// figure is the bits of a number and its text, which is empty if there is no number yet.
type figure struct {
	bits   uint64
	length uint8
	text   [23]byte
}

// append appends a number and holds it in the place of another one.
func (f *figures) append(b []byte, x float64) []byte {
	const spread = 0x9e3779b97f4a7c15 // a bit that differs makes the highest bits of the product differ
	bits := math.Float64bits(x)
	held := &f[bits*spread>>(64-figuresBits)]
	if held.bits == bits && held.length > 0 {
		return append(b, held.text[:held.length]...)
	}
	start := len(b)
	b = AppendFloat(b, x)
	if text := b[start:]; len(text) <= len(held.text) {
		held.bits, held.length = bits, uint8(copy(held.text[:], text))
	}
	return b
}

// AppendFloat appends x, which is finite, in as few digits as tell it from its neighbours.
func AppendFloat(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'f', -1, 64) }

// Read gives the rows of a file of an output in their order, whatever its format. Lines of JSON that isWanted refuses
// are not parsed and left out; nil wants all. An error comes last: it may be a fault of the file, a line that is no
// row, or the end of the context.
func Read[T any](ctx context.Context, path, of string, isWanted func(line []byte) bool) iter.Seq2[T, error] {
	if strings.HasSuffix(path, "."+string(Parquet)) {
		return func(yield func(T, error) bool) {
			more := true
			err := eachRow(ctx, path, of, func(row T) bool {
				more = yield(row, nil)
				return more
			})
			if err != nil && more {
				yield(*new(T), fmt.Errorf("read %s: %w", path, err))
			}
		}
	}
	return func(yield func(T, error) bool) {
		number, row := 0, new(T)
		for line, err := range corpus.Lines(ctx, path) {
			if number++; err == nil && isWanted != nil && !isWanted(line) {
				continue
			}
			if err == nil {
				if err = parseRow(line, row); err != nil {
					err = fmt.Errorf("%s:%d is no row of %s: %w", path, number, of, err)
				}
			}
			if err != nil {
				yield(*new(T), err)
				return
			}
			if !yield(*row, nil) {
				return
			}
		}
	}
}

type leaf struct {
	path string
	// optional says that rows of some kinds lack it.
	optional bool
	// set sets the field of a row from a cell.
	set func(row reflect.Value, cell parquetfile.Cell) error
}

func leavesOf(row reflect.Type) (all []leaf) {
	for field := range row.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
		if name == "-" {
			continue
		}
		one := leaf{path: name, optional: strings.HasSuffix(field.Tag.Get("json"), ",omitempty")}
		switch of := field.Type; {
		case of.Kind() != reflect.Slice:
			one.set = func(row reflect.Value, cell parquetfile.Cell) error {
				value, _ := cell.Value()
				return setValue(row.Field(field.Index[0]), value)
			}
		case of.Elem().Kind() != reflect.Struct:
			one.set = func(row reflect.Value, cell parquetfile.Cell) error {
				return setList(row.Field(field.Index[0]), cell, true, func(element reflect.Value) reflect.Value {
					return element
				})
			}
		default:
			for inner := range of.Elem().Fields() {
				part := leaf{path: name + "." + inner.Tag.Get("parquet"), optional: one.optional}
				part.set = func(row reflect.Value, cell parquetfile.Cell) error {
					return setList(row.Field(field.Index[0]), cell, inner.Index[0] == 0,
						func(element reflect.Value) reflect.Value {
							return element.Field(inner.Index[0])
						})
				}
				all = append(all, part)
			}
			continue
		}
		all = append(all, one)
	}
	return all
}

// setList sets the elements of a list, or one field of each, from a cell. The first column of a list says how long it
// is.
func setList(
	list reflect.Value, cell parquetfile.Cell, isFirst bool, part func(element reflect.Value) reflect.Value,
) error {
	if isFirst && cell.Len() > 0 {
		list.Set(reflect.MakeSlice(list.Type(), cell.Len(), cell.Len()))
	}
	if list.Len() != cell.Len() {
		return fmt.Errorf("a list has columns of %d and %d values", list.Len(), cell.Len())
	}
	i := 0
	for value := range cell.All() {
		if err := setValue(part(list.Index(i)), value); err != nil {
			return err
		}
		i++
	}
	return nil
}

func setValue(field reflect.Value, text []byte) error {
	switch field.Kind() {
	case reflect.String:
		field.SetString(string(text))
	case reflect.Bool:
		field.SetBool(string(text) == "true")
	case reflect.Int64:
		x, err := strconv.ParseInt(string(text), 10, 64)
		field.SetInt(x)
		return err
	case reflect.Float64:
		x, err := strconv.ParseFloat(string(text), 64)
		field.SetFloat(x)
		return err
	}
	return nil
}

// readBytes is about how many bytes of rows of Parquet are held.
const readBytes = 1 << 20

// eachRow visits the rows of a file of Parquet until visit returns false.
func eachRow[T any](ctx context.Context, path, of string, visit func(T) bool) error {
	handle, err := storage.Open(path)
	if err != nil {
		return err
	}
	defer handle.Close() // a file that was only read
	info, err := handle.Stat()
	if err != nil {
		return err
	}
	file, err := parquetfile.Open(handle, info.Size)
	if err != nil {
		return err
	}
	var leaves []leaf
	var names []string
	for _, one := range leavesOf(reflect.TypeFor[T]()) {
		if _, err := file.Field(one.path); err != nil && one.optional {
			continue
		}
		leaves, names = append(leaves, one), append(names, one.path)
	}
	columns, err := file.Columns(names...)
	if err != nil {
		return err
	}
	for group := range file.Groups() {
		if more, err := eachOfGroup(ctx, of, columns.Read(group), leaves, visit); err != nil || !more {
			return err
		}
	}
	return nil
}

// eachOfGroup visits the rows of a row group, and reports whether visit wants more.
func eachOfGroup[T any](
	ctx context.Context, of string, cursor *parquetfile.Cursor, leaves []leaf, visit func(T) bool,
) (more bool, err error) {
	defer cursor.Close()
	var buffer []byte
	row := new(T)
	value := reflect.ValueOf(row).Elem()
	for {
		buffer, err = cursor.Append(buffer[:0], readBytes)
		if err == io.EOF {
			return true, nil
		} else if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return false, err
		}
		for number, cells := range parquetfile.Rows(buffer, len(leaves)) {
			*row = *new(T)
			for i, one := range leaves {
				if err := one.set(value, cells[i]); err != nil {
					return false, fmt.Errorf("row %d is no row of %s: column %s: %w", number+1, of, one.path, err)
				}
			}
			if !visit(*row) {
				return false, nil
			}
		}
	}
}
