package documents

import (
	"unicode/utf8"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/quoting"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/read/sources"
)

// valueCounts counts documents by the value that is their source.
type valueCounts map[valueKey]*valueCount

type valueKey struct {
	hash   uint64
	corpus sources.Corpus
}

type valueCount struct {
	name      []byte
	documents int64
}

// mostValues is the number of values that a task counts before it writes the counts.
const mostValues = 1 << 14

// add counts a document, given its value and the hash of it.
func (c valueCounts) add(key valueKey, value []byte) {
	count := c[key]
	if count == nil {
		count = &valueCount{name: valueName(value)}
		c[key] = count
	}
	count.documents++
}

func (c valueCounts) addAll(other valueCounts) {
	for key, more := range other {
		if count := c[key]; count != nil {
			count.documents += more.documents
		} else {
			c[key] = more
		}
	}
}

// write writes the counts to the shards of their hashes, and forgets them.
func (c valueCounts) write(run *runfile.Writer, shardOf func(hash uint64) int) error {
	for key, count := range c {
		err := records.WriteSourceCount(run, records.SourceCounts, shardOf(key.hash), records.SourceCount{
			Hash: key.hash, Documents: count.documents, Corpus: key.corpus, Name: count.name,
		})
		if err != nil {
			return err
		}
	}
	clear(c)
	return nil
}

// The names of documents without a value, and of those whose value is empty.
const (
	noValue    = "(none)"
	emptyValue = `""`
)

// mostNameBytes is the length of the longest value that is shown in full.
const mostNameBytes = 128

// valueName returns a value as tables show it, nil for none.
func valueName(value []byte) []byte {
	switch {
	case value == nil:
		return []byte(noValue)
	case len(value) == 0:
		return []byte(emptyValue)
	case len(value) <= mostNameBytes:
		return quoting.AppendText(nil, value)
	}
	end := mostNameBytes
	for end > mostNameBytes-utf8.UTFMax && !utf8.RuneStart(value[end]) {
		end--
	}
	return append(quoting.AppendText(nil, value[:end]), "…"...)
}
