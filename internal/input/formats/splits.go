package formats

import (
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// splitField is the name of the field that holds the split of a data set, as its hub names it: by files such as
// train-00000-of-00010.parquet.
const splitField = "split"

// shard matches the name of a part of a split. The parts of data sets that were saved are called data.
var shard = regexp.MustCompile(`^([A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*)-\d{5}-of-\d{5}(?:-[^.]*)?\.`)

// splitNames are the usual splits, each with the words by which names of files and folders say it.
var splitNames = map[string][]string{
	"train":      {"train", "training"},
	"validation": {"validation", "valid", "val", "dev"},
	"test":       {"test", "testing", "eval", "evaluation"},
}

// splitOf returns the split that the name of a file, or else its nearest folder with one, says; nil: none does.
func splitOf(file string) []byte {
	file = filepath.ToSlash(file)
	if parts := shard.FindStringSubmatch(path.Base(file)); parts != nil && parts[1] != "data" {
		return []byte(parts[1])
	}
	for rest := file; rest != "." && rest != "/" &&
		rest != ""; rest = strings.TrimSuffix(rest[:len(rest)-len(path.Base(rest))], "/") {
		words := strings.FieldsFunc(strings.ToLower(path.Base(rest)), func(r rune) bool { return !unicode.IsLetter(r) })
		var found []string
		for name, said := range splitNames {
			if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(said, word) }) {
				found = append(found, name)
			}
		}
		if len(found) == 1 {
			return []byte(found[0])
		}
	}
	return nil
}

// noPartition is the value that Hive gives to a folder of records without a value.
const noPartition = "__HIVE_DEFAULT_PARTITION__"

// folderValues are the values of fields that the folders of a file name, as Hive does:
// lang=de/date=2024-01-01/part-0.parquet. The field split has the value in the file's name, unless a folder has one.
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
