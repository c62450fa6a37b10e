package formats

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// noPartition is the value that Hive gives to a folder of records without a value.
const noPartition = "__HIVE_DEFAULT_PARTITION__"

// folderValues are the values of fields that the folders of a file name, as Hive does:
// lang=de/date=2024-01-01/part-0.parquet. The field split has the value that the name of the file says, unless a folder
// does.
type folderValues struct {
	fields []string
	path   string   // of the last file
	values [][]byte // of it; nil: none
	filled [][]byte
}

// fill returns the values of a record, with the values of its folders where it lacks its own.
func (f *folderValues) fill(others [][]byte, path string) [][]byte {
	if path != f.path {
		f.path, f.values = path, make([][]byte, len(f.fields))
		for i, field := range f.fields {
			if field == splitField {
				f.values[i] = splitOf(path)
			}
		}
		elements := strings.Split(filepath.ToSlash(path), "/")
		for _, element := range elements[:len(elements)-1] {
			name, value, isNamed := strings.Cut(element, "=")
			if !isNamed || value == noPartition {
				continue
			}
			if decoded, err := url.PathUnescape(value); err == nil {
				value = decoded
			}
			for i, field := range f.fields {
				if field == name {
					f.values[i] = []byte(value)
				}
			}
		}
	}
	if !slices.ContainsFunc(f.values, func(value []byte) bool { return value != nil }) {
		return others
	}
	f.filled = append(f.filled[:0], others...)
	for i, value := range f.filled {
		if value == nil {
			f.filled[i] = f.values[i]
		}
	}
	return f.filled
}
