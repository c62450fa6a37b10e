package parquetfile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mirrorbeam.dev/internal/input/parquetfile"
)

// content is what a file holds: the values of each column by path and row.
type content map[string][][]string

// expected reads testdata/expected.json, in which the script that makes the files says what it has put into them.
func expected(t testing.TB) map[string]content {
	t.Helper()
	raw := map[string]json.RawMessage{}
	unmarshal(t, readFile(t, "expected.json"), &raw)
	files := map[string]content{}
	for name, text := range raw {
		var same string
		if json.Unmarshal(text, &same) == nil {
			text = raw[same]
		}
		var c content
		unmarshal(t, text, &c)
		files[name] = c
	}
	return files
}

func unmarshal(t testing.TB, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	bytes, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// open opens the bytes of a file.
func open(data []byte) (*parquetfile.File, error) {
	return parquetfile.Open(bytes.NewReader(data), int64(len(data)))
}

func mustOpen(t testing.TB, data []byte) *parquetfile.File {
	t.Helper()
	file, err := open(data)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// contentOf reads all columns of a file, with buffers of the given size.
func contentOf(file *parquetfile.File, atLeast int, paths ...string) (content, error) {
	if paths == nil {
		for _, field := range file.Fields() {
			paths = append(paths, field.Path)
		}
	}
	columns, err := file.Columns(paths...)
	if err != nil {
		return nil, err
	}
	c := content{}
	for _, path := range paths {
		c[path] = [][]string{}
	}
	row := int64(0)
	for group := range file.Groups() {
		if file.Groups()[group].First != row {
			return nil, errors.New("a row group does not begin where the one before ends")
		}
		cursor := columns.Read(group)
		defer cursor.Close()
		for {
			buffer, err := cursor.Append(nil, atLeast)
			if err == io.EOF {
				break
			}
			if err != nil {
				return c, err
			}
			for number, cells := range parquetfile.Rows(buffer, len(paths)) {
				if number != row {
					return nil, errors.New("rows are not numbered one by one")
				}
				row++
				for i, cell := range cells {
					values := []string{}
					for value := range cell.All() {
						values = append(values, string(value))
					}
					c[paths[i]] = append(c[paths[i]], values)
				}
			}
		}
	}
	if row != file.Rows() {
		return nil, errors.New("rows are missing")
	}
	return c, nil
}

// TestRead reads files of pyarrow and DuckDB: all codecs, both versions of pages, the delta encodings, dictionaries,
// nested columns, many row groups and none.
func TestRead(t *testing.T) {
	files := expected(t)
	if len(files) < 13 {
		t.Fatalf("only %d files", len(files))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t.Run(name, func(t *testing.T) {
			for _, atLeast := range []int{1, 100, 1 << 20} {
				got, err := contentOf(mustOpen(t, readFile(t, name)), atLeast)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(files[name], got); diff != "" {
					t.Errorf("content (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestProjection reads some columns, in any order, one of them twice, by either of its paths.
func TestProjection(t *testing.T) {
	const name = "zstd-v2.parquet"
	file := mustOpen(t, readFile(t, name))
	want := expected(t)[name]
	paths := []string{"text", "id", "meta.n.score"}
	got, err := contentOf(file, 1<<10, paths...)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if diff := cmp.Diff(want[path], got[path]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	for _, path := range []string{"tags", "tags.list.element"} {
		got, err := contentOf(file, 1, path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want["tags"], got[path]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	columns, err := file.Columns("id")
	if err != nil {
		t.Fatal(err)
	}
	both, err := file.Columns("id", "tags")
	if err != nil {
		t.Fatal(err)
	}
	if one, two := columns.Bytes(0), both.Bytes(0); one <= 0 || one >= two {
		t.Errorf("a column has %d bytes, and with another one %d", one, two)
	}
}

// TestNullIsNotEmpty tells a null from an empty string.
func TestNullIsNotEmpty(t *testing.T) {
	columns, err := mustOpen(t, readFile(t, "none-v1.parquet")).Columns("text")
	if err != nil {
		t.Fatal(err)
	}
	cursor := columns.Read(0)
	defer cursor.Close()
	buffer, err := cursor.Append(nil, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for number, cells := range parquetfile.Rows(buffer, 1) {
		value, known := cells[0].Value()
		if number == 3 && known {
			t.Errorf("a null is %q", value)
		}
		if number == 4 && (!known || len(value) != 0) {
			t.Errorf("an empty string is %q, %v", value, known)
		}
	}
}

func TestFields(t *testing.T) {
	want := []parquetfile.Field{
		{Path: "id", Type: "string"},
		{Path: "text", Type: "string"},
		{Path: "meta.lang", Type: "string"},
		{Path: "meta.n.score", Type: "double"},
		{Path: "tags", Type: "string", Repeated: true},
	}
	if diff := cmp.Diff(want, mustOpen(t, readFile(t, "zstd-v1.parquet")).Fields()); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	types := map[string]string{}
	for _, field := range mustOpen(t, readFile(t, "types.parquet")).Fields() {
		types[field.Path] = field.Type
	}
	for path, want := range map[string]string{
		"int8":         "int8",
		"int32":        "int32",
		"uint64":       "uint64",
		"float16":      "float16",
		"float64":      "double",
		"bool":         "boolean",
		"date":         "date",
		"micros":       "timestamp",
		"time32":       "time",
		"decimal":      "decimal(9,3)",
		"large_binary": "binary",
		"fixed":        "binary(4)",
		"nothing":      "null",
		"uuid":         "uuid",
		"labels.value": "string",
		"dotted.name":  "string",
	} {
		if types[path] != want {
			t.Errorf("%s has the type %q, want %q", path, types[path], want)
		}
	}
}

// TestMissingField names the fields that are there.
func TestMissingField(t *testing.T) {
	file := mustOpen(t, readFile(t, "zstd-v1.parquet"))
	for path, want := range map[string]string{
		"content": `no field "content"; there are "id", "text", "meta.lang", "meta.n.score", "tags"`,
		"meta":    `no field "meta"; there are "meta.lang", "meta.n.score"`,
	} {
		_, err := file.Columns("id", path)
		var missing *parquetfile.FieldError
		if !errors.As(err, &missing) || err.Error() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

// TestRefused names what is refused, and why.
func TestRefused(t *testing.T) {
	whole := readFile(t, "zstd-v1.parquet")
	longFooter := slices.Clone(whole)
	copy(longFooter[len(longFooter)-8:], "\xff\xff\xff\x7f")
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"encrypted":        {readFile(t, "encrypted.parquet"), "encrypted"},
		"encrypted column": {readFile(t, "encrypted-column.parquet"), "encrypted"},
		"empty":            {nil, "no Parquet file"},
		"garbage":          {bytes.Repeat([]byte("garbage "), 1000), "no Parquet file"},
		"truncated":        {whole[:len(whole)-1], "cut short"},
		"halved":           {whole[:len(whole)/2], "cut short"},
		"without footer":   {[]byte("PAR1PAR1"), "no Parquet file"},
		"empty footer":     {[]byte("PAR1\x00\x00\x00\x00PAR1"), "the footer is damaged"},
		"lying footer":     {longFooter, "the footer cannot have 2147483647 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := open(test.data)
			if err == nil {
				_, err = file.Columns("id", "text")
			}
			var fault *parquetfile.FileError
			if !errors.As(err, &fault) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}
