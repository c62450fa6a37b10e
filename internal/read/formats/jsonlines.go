package formats

import (
	"bytes"
	"encoding/json"
	"strconv"

	"mirrorbeam/internal/ground/quoting"
	"mirrorbeam/internal/read/corpus"
)

func init() {
	corpus.Register(objects(corpus.Definition{
		Format: corpus.JSONLines, Name: "jsonl", IsLines: true,
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
	d.Annotator = func(corpus.Wanted) corpus.Annotator {
		return &jsonAnnotator{corpus.KeyFinder{Names: corpus.AnnotationFields}}
	}
	return d
}

// jsonDecoder decodes objects of JSON, which have no header.
type jsonDecoder struct{ objects *corpus.JSONDecoder }

func (d jsonDecoder) Decode(_, record []byte) (corpus.Record, error) { return d.objects.Decode(record) }

// jsonNames returns the names of the fields of a line, and of the fields inside them.
func jsonNames(_ corpus.Wanted, _, line []byte) (names []string) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(line, &fields) != nil {
		return nil
	}
	for name, value := range fields {
		names = append(names, name)
		var inner map[string]json.RawMessage
		if bytes.HasPrefix(value, []byte("{")) && json.Unmarshal(value, &inner) == nil {
			for below := range inner {
				names = append(names, name+"."+below)
			}
		}
	}
	return names
}

// jsonAnnotator adds fields at the end of an object.
type jsonAnnotator struct{ keys corpus.KeyFinder }

func (j *jsonAnnotator) Clash(_, line []byte) string { return j.keys.Find(line) }

func (*jsonAnnotator) Header(b, _ []byte) []byte { return b }

func (*jsonAnnotator) Record(b, line []byte, a corpus.Annotation) []byte {
	end := bytes.LastIndexByte(line, '}')
	b = append(append(b, line[:end]...), `,"cluster":`...)
	b = appendName(b, a.Cluster, a.HasIntegers)
	b = strconv.AppendInt(append(b, `,"cluster_size":`...), a.Size, 10)
	b = strconv.AppendBool(append(b, `,"kept":`...), a.Kept)
	b = appendName(append(b, `,"kept_id":`...), a.KeptID, a.HasIntegers)
	return append(b, line[end:]...)
}

// appendName appends a name, or null if it is empty.
func appendName(b []byte, name string, isInteger bool) []byte {
	switch {
	case name == "":
		return append(b, "null"...)
	case isInteger:
		return append(b, name...)
	}
	return quoting.AppendQuoted(b, name)
}
