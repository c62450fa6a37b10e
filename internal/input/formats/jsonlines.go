package formats

import (
	"bytes"
	"encoding/json"
	"fmt"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/util/quoting"
)

func init() {
	corpus.Register(objects(corpus.Definition{
		Format:  corpus.JSONLines,
		Name:    "jsonl",
		IsLines: true,
		Endings: []string{".jsonl", ".ndjson", ".json", ".jsonlines", ".ldjson"},
		Source:  func(l corpus.Limits, _ corpus.Wanted) corpus.Source { return corpus.NewReader(l) },
	}, "the line"))
}

// objects completes the definition of a format whose records are objects of JSON. Name is what a record is called.
func objects(d corpus.Definition, name string) corpus.Definition {
	d.HasFields, d.Charset, d.FieldNames = true, corpus.MarkedCharset, jsonNames
	d.Decoder = func(w corpus.Wanted) corpus.Decoder {
		decoder := corpus.NewJSONDecoder(w.Fields)
		decoder.LimitFeatures(w.MaxFeatures)
		decoder.Call(name)
		return jsonDecoder{decoder}
	}
	d.Cutter = func(w corpus.Wanted) corpus.Cutter { return corpus.NewJSONCutter(w.Fields) }
	d.Annotator = func(w corpus.Wanted) corpus.Annotator {
		columns := corpus.ColumnsNamed(w.Columns)
		var names []string
		for _, column := range columns {
			names = append(names, column.Name)
		}
		return &jsonAnnotator{corpus.NewKeyFinder(names), columns}
	}
	return d
}

type jsonDecoder struct{ objects *corpus.JSONDecoder }

func (d jsonDecoder) Decode(_, record []byte) (corpus.Record, error) { return d.objects.Decode(record) }

// mostDeep is how many objects a field that is named may be in.
const mostDeep = 2

func jsonNames(_ corpus.Wanted, _, line []byte) []string { return jsonNamesIn(line, "", 0) }

func jsonNamesIn(object []byte, above string, deep int) (names []string) {
	var fields map[string]json.RawMessage
	if bytes.HasPrefix(object, []byte("[")) { // of a list of objects, the first one
		_ = json.NewDecoder(bytes.NewReader(bytes.TrimLeft(object[1:], " \t\r\n"))).Decode(&fields)
	} else if json.Unmarshal(object, &fields) != nil {
		return nil
	}
	for name, value := range fields {
		names = append(names, above+name)
		if deep < mostDeep {
			names = append(names, jsonNamesIn(value, above+name+".", deep+1)...)
		}
	}
	return names
}

// wrapped says how to get at the records of a file that is one object with a list of them in a field, or in a field of
// a field; empty: there is no such list.
func wrapped(line []byte) string {
	if path := listIn(line, ""); path != "" {
		return fmt.Sprintf(": %q is a list of objects; if these are the records, give --records %s", path, path)
	}
	return ""
}

// listIn returns the path of a list of objects in an object, the longest of several; empty: there is none.
func listIn(content []byte, above string) (path string) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(content, &fields) != nil {
		return ""
	}
	longest := 0
	for name, value := range fields {
		found := above + name
		switch list, isList := bytes.CutPrefix(value, []byte("[")); {
		case isList && !bytes.HasPrefix(bytes.TrimLeft(list, " \t\r\n"), []byte("{")):
			continue
		case !isList && above == "":
			if found = listIn(value, name+"."); found == "" {
				continue
			}
		case !isList:
			continue
		}
		if len(value) > longest || len(value) == longest && found < path {
			path, longest = found, len(value)
		}
	}
	return path
}

type jsonAnnotator struct {
	keys    corpus.KeyFinder
	columns []corpus.Column
}

func (j *jsonAnnotator) Clash(_, line []byte) string { return j.keys.Find(line) }

func (*jsonAnnotator) Header(b, _ []byte) []byte { return b }

func (j *jsonAnnotator) Record(b, line []byte, a corpus.Annotation) []byte {
	end := bytes.LastIndexByte(line, '}')
	b = append(b, line[:end]...)
	for _, column := range j.columns {
		b = append(append(append(b, `,"`...), column.Name...), `":`...)
		value := column.Of(&a)
		if name, is := value.(corpus.DocumentName); is {
			b = appendName(b, string(name), a.HasIntegers)
		} else {
			b = fmt.Append(b, value)
		}
	}
	return append(b, line[end:]...)
}

func appendName(b []byte, name string, isInteger bool) []byte {
	switch {
	case name == "":
		return append(b, "null"...)
	case isInteger:
		return append(b, name...)
	}
	return quoting.AppendQuoted(b, name)
}
