// Package sources says where the documents of a corpus come from, and counts how much of each source is in the others.
package sources

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Number is the number of a source, from 0, below Most.
type Number uint8

// Most is the largest number of sources of a job. The input and the reference are bounded each.
const (
	Most          = MostInput + MostReference
	MostInput     = 100
	MostReference = 28
)

// Source is a file, a folder or a value of a field, or the rest if a corpus has more of them than are told apart.
type Source struct {
	// Name is the value, or the path below the folder that all files of the corpus have in common.
	Name string
	// Files is the number of its files, 0 for a value.
	Files     int
	Reference bool
}

// File is what the division of a corpus depends on.
type File struct {
	// Path has slashes between its elements.
	Path string
	// Bytes is about how many bytes of text the file holds.
	Bytes int64
	// IsDocument says that the file is one document. Such a file is no source, but its folder is.
	IsDocument bool
}

// Division divides the files of a corpus into sources.
type Division struct {
	// Sources are ordered by name. What is left of too many comes last.
	Sources []Source

	common  int // length of the path that all files have in common
	depth   int // number of elements behind it that name a source
	numbers map[string]Number
}

// Divide divides files into at most most sources, which is 2 or more. Their paths, below the folder that all of them
// have in common, are cut as deep as that allows: a source is a file where there are few, else a folder. If even the
// first elements of the paths are too many, the sources are those with the most bytes, and one for all others.
func Divide(files iter.Seq[File], most int) *Division {
	d := &Division{common: commonFolder(files), depth: 1}
	found, isDeepest := d.count(files, most)
	for len(found) <= most && !isDeepest {
		deeper := *d
		deeper.depth++
		more, deepest := deeper.count(files, most)
		if len(more) > most {
			break
		}
		d.depth, found, isDeepest = deeper.depth, more, deepest
	}
	d.number(found, most)
	return d
}

// commonFolder returns the length of the longest folder, with its slash, that all paths begin with.
func commonFolder(files iter.Seq[File]) int {
	common, isFirst := "", true
	for file := range files {
		switch {
		case isFirst:
			common, isFirst = folderOf(file.Path), false
		case !strings.HasPrefix(file.Path, common):
			n := 0
			for n < min(len(common), len(file.Path)) && common[n] == file.Path[n] {
				n++
			}
			common = folderOf(common[:n])
		}
	}
	return len(common)
}

func folderOf(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// name returns the name of a file's source, and whether a deeper cut gives no other.
func (d *Division) name(file File) (name string, isDeepest bool) {
	rest := file.Path[d.common:]
	if file.IsDocument {
		rest = strings.TrimSuffix(folderOf(rest), "/")
	}
	if rest == "" {
		return ".", true
	}
	end := 0
	for range d.depth {
		slash := strings.IndexByte(rest[end:], '/')
		if slash < 0 {
			return rest, true
		}
		end += slash + 1
	}
	return rest[:end-1], false
}

type extent struct {
	files int
	bytes int64
}

// count returns the sources by name, and whether a deeper cut gives no others. It may stop if there are more than most,
// except at the first depth.
func (d *Division) count(files iter.Seq[File], most int) (found map[string]*extent, isDeepest bool) {
	found, isDeepest = map[string]*extent{}, true
	for file := range files {
		name, deepest := d.name(file)
		isDeepest = isDeepest && deepest
		of := found[name]
		if of == nil {
			of = &extent{}
			found[name] = of
		}
		of.files++
		of.bytes += file.Bytes
		if d.depth > 1 && len(found) > most {
			break
		}
	}
	return found, isDeepest
}

func (d *Division) number(found map[string]*extent, most int) {
	d.numbers = make(map[string]Number, len(found))
	names := slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(cmp.Compare(found[b].bytes, found[a].bytes), strings.Compare(a, b))
	})
	var others []string
	if len(names) > most {
		names, others = names[:most-1], names[most-1:]
	}
	slices.Sort(names)
	for i, name := range names {
		d.numbers[name] = Number(i)
		d.Sources = append(d.Sources, Source{Name: name, Files: found[name].files})
	}
	if len(others) == 0 {
		return
	}
	rest := Source{Name: othersName(int64(len(others)))}
	for _, name := range others {
		d.numbers[name] = Number(len(names))
		rest.Files += found[name].files
	}
	d.Sources = append(d.Sources, rest)
}

// Number returns the number of the source of a file, which must be one of those that were divided.
func (d *Division) Number(file File) Number {
	name, _ := d.name(file)
	return d.numbers[name]
}

// Corpus is one of the two corpora of a job. Each has sources of its own.
type Corpus uint8

const (
	Input Corpus = iota
	Reference
	Corpora // how many there are
)

// CorpusOf returns the corpus of a document.
func CorpusOf(isReference bool) Corpus {
	if isReference {
		return Reference
	}
	return Input
}

func (c Corpus) most() int {
	if c == Reference {
		return MostReference
	}
	return MostInput
}

// Value is a value of a field that makes the documents that have it a source.
type Value struct {
	Hash      uint64
	Name      string
	Documents int64
}

// compare orders values: the one with the most documents first, equal ones by name.
func (v Value) compare(other Value) int {
	return cmp.Or(cmp.Compare(other.Documents, v.Documents), strings.Compare(v.Name, other.Name),
		cmp.Compare(v.Hash, other.Hash))
}

// Others are the values that are not among the leading ones.
type Others struct {
	Values, Documents int64
}

// Leading finds the values of a field that most documents of a corpus have. However many values it sees, it takes
// little memory. The order in which it sees them does not matter.
type Leading struct {
	of     Corpus
	values []Value
	others Others
}

// LeadingOf returns a Leading without values.
func LeadingOf(corpus Corpus) *Leading { return &Leading{of: corpus} }

// Add takes in a value and all documents that have it.
func (l *Leading) Add(v Value) {
	if l.values = append(l.values, v); len(l.values) >= 2*l.of.most() {
		l.cut(l.of.most())
	}
}

// AddOthers takes in the values that another Leading has left out.
func (l *Leading) AddOthers(others Others) {
	l.others.Values += others.Values
	l.others.Documents += others.Documents
}

// Cut returns the leading values, as many as a corpus may have sources, and what is known of the others.
func (l *Leading) Cut() ([]Value, Others) {
	l.cut(l.of.most())
	return l.values, l.others
}

func (l *Leading) cut(most int) {
	slices.SortFunc(l.values, Value.compare)
	for len(l.values) > most {
		last := len(l.values) - 1
		l.AddOthers(Others{Values: 1, Documents: l.values[last].Documents})
		l.values = l.values[:last]
	}
}

// Choice says which values of a field are sources.
type Choice struct {
	// Sources are the sources of the reference and then the sources of the input, each ordered by name. The documents
	// with all other values are the last source of their corpus.
	Sources   []Source
	Documents Tally
	// Numbers holds the sources by the hashes of their values. Rest is the source of all other documents.
	Numbers [Corpora]map[uint64]Number
	Rest    [Corpora]Number
}

// Choose makes the leading values of both corpora sources, and one source of each for all other values.
func Choose(leading [Corpora]*Leading) *Choice {
	c := &Choice{}
	for _, corpus := range []Corpus{Reference, Input} {
		c.choose(leading[corpus])
	}
	return c
}

func (c *Choice) choose(l *Leading) {
	values, others := l.Cut()
	if others.Values > 0 {
		l.cut(l.of.most() - 1)
		values, others = l.values, l.others
	}
	slices.SortFunc(values, func(a, b Value) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Hash, b.Hash))
	})
	c.Numbers[l.of] = make(map[uint64]Number, len(values))
	for _, v := range values {
		c.Numbers[l.of][v.Hash] = c.add(l.of, v.Name, v.Documents)
	}
	if others.Values > 0 {
		c.Rest[l.of] = c.add(l.of, othersName(others.Values), others.Documents)
	}
}

func (c *Choice) add(of Corpus, name string, documents int64) Number {
	number := Number(len(c.Sources))
	c.Sources = append(c.Sources, Source{Name: name, Reference: of == Reference})
	c.Documents.Add(number, documents)
	return number
}

// Number returns the source of the documents of a corpus that have a value, given its hash.
func (c *Choice) Number(of Corpus, hash uint64) Number {
	if number, isOne := c.Numbers[of][hash]; isOne {
		return number
	}
	return c.Rest[of]
}

func othersName(n int64) string { return fmt.Sprintf("(%d others)", n) }
