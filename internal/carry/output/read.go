package output

import (
	"context"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strconv"
	"strings"

	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/read/parquetfile"
)

// Read gives the rows of a file of an output in their order, whatever its format. Lines of JSON that isWanted refuses are not
// parsed and left out; nil wants all. An error comes last: it may be a fault of the file, a line that is no row, or the end of
// the context.
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

// leavesOf lists the columns of a row.
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
				return setList(row.Field(field.Index[0]), cell, true, func(element reflect.Value) reflect.Value { return element })
			}
		default:
			for inner := range of.Elem().Fields() {
				part := leaf{path: name + "." + inner.Tag.Get("parquet"), optional: one.optional}
				part.set = func(row reflect.Value, cell parquetfile.Cell) error {
					return setList(row.Field(field.Index[0]), cell, inner.Index[0] == 0, func(element reflect.Value) reflect.Value {
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

// setList sets the elements of a list, or one field of each, from a cell. The first column of a list says how long it is.
func setList(list reflect.Value, cell parquetfile.Cell, isFirst bool, part func(element reflect.Value) reflect.Value) error {
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
func eachOfGroup[T any](ctx context.Context, of string, cursor *parquetfile.Cursor, leaves []leaf, visit func(T) bool) (more bool, err error) {
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
