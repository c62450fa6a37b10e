package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"mirrorbeam.dev/internal/input/corpus"
)

func init() {
	bulk := objects(corpus.Definition{
		Format:  corpus.Bulk,
		Name:    "bulk",
		Help:    "bulk requests of Elasticsearch: a line of an action, and a line of its document",
		Endings: []string{".bulk"},
		Begins:  bulkAction.Match,
		Source: func(l corpus.Limits, _ corpus.Wanted) corpus.Source {
			return newFramedSource(l, corpus.Bulk, new(bulkFraming))
		},
	}, "the document")
	objects, cutter, annotator := bulk.Decoder, bulk.Cutter, bulk.Annotator
	bulk.Decoder = func(w corpus.Wanted) corpus.Decoder { return bulkDecoder{objects(w)} }
	bulk.FieldNames = func(w corpus.Wanted, header, record []byte) []string {
		return jsonNames(w, header, documentIn(record))
	}
	bulk.Cutter = func(w corpus.Wanted) corpus.Cutter { return bulkCutter{cutter(w)} }
	bulk.Annotator = func(w corpus.Wanted) corpus.Annotator { return bulkAnnotator{annotator(w)} }
	corpus.Register(bulk)
}

// bulkAction matches the line of an action. One that deletes has no document.
var bulkAction = regexp.MustCompile(`^\{\s*"(index|create|update|delete)"\s*:\s*\{[^{}]*\}\s*\}\s*\r?\n`)

func documentIn(record []byte) []byte {
	_, document, _ := bytes.Cut(record, []byte("\n"))
	return document
}

type bulkFraming struct {
	skips bool // the current line is the rest of a reject
}

func (f *bulkFraming) begin(_ *framedSource, content []byte) (header []byte, used int, err error) {
	f.skips = false
	return nil, len(content) - len(bytes.TrimPrefix(content, []byte(corpus.ByteOrderMark))), nil
}

func (f *bulkFraming) frame(s *framedSource, b *corpus.Batch, data []byte) (end int) {
	start := s.start(data)
	for end < len(data) {
		at := end
		first := nextByte(data, at, '\n') + 1
		isAction := bulkAction.Match(data[at:min(first, len(data))])
		hasDocument := isAction && !bytes.Contains(data[at:min(first, len(data))], []byte(`"delete"`))
		last := first
		if hasDocument && first <= len(data) {
			last = nextByte(data, first, '\n') + 1
		}
		isWhole, isLong := last <= len(data), int64(len(data)-at) > s.limits.Line
		switch {
		case !isWhole && !s.stream.Ended && !isLong:
			return at
		case f.skips:
			f.skips = first > len(data)
			end = min(first, len(data))
			continue
		case !isWhole && s.stream.IsCut:
			return len(data) // the fault of the stream stands for this pair
		case isLong && !isWhole, int64(last-at) > s.limits.Line:
			s.reject(start+int64(at),
				corpus.TooLong("pair of lines", int64(min(last, len(data))-at), s.limits.Line, s.limits.Setting()))
			f.skips = !isWhole
		case hasDocument && first < len(data):
			b.Frames = append(b.Frames, corpus.Frame{Position: start + int64(at), Start: at, End: min(last, len(data))})
		case !isAction && corpus.IsBlank(data[at:min(first, len(data))]), isAction && !hasDocument:
		default:
			s.reject(start+int64(at), "the line is no action with a document after it")
			if s.stream.Ended && last >= len(data) {
				s.cutShort()
			}
		}
		end = min(last, len(data))
	}
	return end
}

// bulkDecoder decodes pairs. A document without an id has the id of its action.
type bulkDecoder struct{ objects corpus.Decoder }

func (d bulkDecoder) Decode(header, record []byte) (corpus.Record, error) {
	r, err := d.objects.Decode(header, documentIn(record))
	if err != nil || r.HasID {
		return r, err
	}
	var action map[string]struct {
		ID json.RawMessage `json:"_id"`
	}
	line, _, _ := bytes.Cut(record, []byte("\n"))
	if err := json.Unmarshal(line, &action); err != nil {
		return r, fmt.Errorf("the action: %w", err)
	}
	for _, of := range action {
		var text string
		switch {
		case json.Unmarshal(of.ID, &text) == nil:
			r.ID = []byte(text)
		case json.Unmarshal(of.ID, new(json.Number)) == nil:
			r.ID, r.IsInteger = of.ID, corpus.IsInteger(of.ID)
		}
	}
	r.HasID = len(r.ID) > 0
	return r, nil
}

// bulkCutter cuts stretches out of documents, and leaves their actions as they are.
type bulkCutter struct{ objects corpus.Cutter }

func (c bulkCutter) Cut(b, header, record []byte, cuts []corpus.Cut) ([]byte, error) {
	document := documentIn(record)
	return c.objects.Cut(append(b, record[:len(record)-len(document)]...), header, document, cuts)
}

// bulkAnnotator adds fields at the end of documents, where records end.
type bulkAnnotator struct{ corpus.Annotator }

func (a bulkAnnotator) Clash(header, record []byte) string {
	return a.Annotator.Clash(header, documentIn(record))
}
