package formats

import (
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

// splitOf returns the split that the name of a file, or else one of its folders, says, the nearest first; nil: none
// does.
func splitOf(file string) []byte {
	file = filepath.ToSlash(file)
	if parts := shard.FindStringSubmatch(path.Base(file)); parts != nil && parts[1] != "data" {
		return []byte(parts[1])
	}
	for rest := file; rest != "." && rest != "/" &&
		rest != ""; rest = strings.TrimSuffix(rest[:len(rest)-len(path.Base(rest))], "/") {
		words := strings.FieldsFunc(strings.ToLower(path.Base(rest)), func(r rune) bool { return !unicode.IsLetter(r) })
		for name, said := range splitNames {
			if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(said, word) }) &&
				isOnlySplit(words, name) {
				return []byte(name)
			}
		}
	}
	return nil
}

func isOnlySplit(words []string, name string) bool {
	for other, said := range splitNames {
		if other != name && slices.ContainsFunc(words, func(word string) bool { return slices.Contains(said, word) }) {
			return false
		}
	}
	return true
}
