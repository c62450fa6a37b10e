package formats

import (
	"errors"
	"slices"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/parquetfile"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/util/panics"
)

// sampledRecords is how many records tell which fields a file has, and how long their texts are.
const sampledRecords = 100

const noSuchField = "\x00"

// Sample is the first records of a file, which tell which fields it has. It is read once.
type Sample struct {
	file   corpus.File
	wanted corpus.Wanted
	limits corpus.Limits
	// records are the records themselves; nil: the file has columns.
	records []sampledRecord
}

type sampledRecord struct {
	batch    corpus.Batch // with its header
	position int64
	content  []byte
}

// NewSample reads the first records of a file. What cannot be read has none.
func NewSample(file corpus.File, wanted corpus.Wanted, limits corpus.Limits) *Sample {
	s := &Sample{file: file, wanted: wanted, limits: limits}
	if definition := file.Format.Definition(); definition.HasFields && definition.FieldNames != nil {
		s.records = s.read(noSuchField)
	}
	return s
}

func (s *Sample) read(field string) (records []sampledRecord) {
	wanted := s.wanted
	wanted.Fields, wanted.TextForm = corpus.Fields{Texts: []string{field}}, webtext.Plain
	for batch, err := range Batches(s.file, 0, s.limits, wanted) {
		if err != nil {
			break
		}
		header := slices.Clone(batch.Header)
		for position, record := range batch.Records() {
			if batch.IsBlank(record) {
				continue
			}
			one := sampledRecord{batch, position, slices.Clone(record)}
			one.batch.Data, one.batch.Frames, one.batch.Header = nil, nil, header
			if records = append(records, one); len(records) == sampledRecords {
				return records
			}
		}
	}
	return records
}

// FieldNames returns the names of the fields, and of fields in them.
func (s *Sample) FieldNames() (names []string) {
	definition := s.file.Format.Definition()
	if definition.HasFields && definition.FieldNames == nil {
		wanted := s.wanted
		wanted.Fields = corpus.Fields{Texts: []string{noSuchField}}
		_, err := definition.Parts(&s.file, wanted)
		if missing, is := errors.AsType[*parquetfile.FieldError](err); is {
			return missing.There
		}
		return nil
	}
	for _, record := range s.records {
		_ = panics.Over("read", func() error { // the names of other records do
			names = append(names, definition.FieldNames(s.wanted, record.batch.Header, record.content)...)
			return nil
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TextBytes returns how many bytes of text a field has in the mean; -1: no record has a text there, not even an empty
// one.
func (s *Sample) TextBytes(field string) int {
	records, wanted := s.records, s.wanted
	wanted.Fields, wanted.TextForm = corpus.Fields{Texts: []string{field}}, webtext.Plain
	if records == nil {
		records = s.read(field)
	}
	sum, decoder := -1, NewDecoder(wanted)
	for _, record := range records {
		if content, err := decoder.Decode(&s.file, &record.batch, record.position, record.content); err == nil {
			sum = max(sum, 0) + len(content.Texts[0])
		}
	}
	if sum <= 0 {
		return sum
	}
	return (sum + len(records) - 1) / len(records)
}

// ListOfRecords returns the field with a list of objects of a file that is one object of JSON; empty: there is none.
func (s *Sample) ListOfRecords() string {
	if s.file.Format != corpus.JSON && s.file.Format != corpus.JSONLines || len(s.records) != 1 {
		return ""
	}
	return listIn(s.records[0].content, "")
}
