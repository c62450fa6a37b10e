package results

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"

	"mirrorbeam/internal/corpus"
)

// The outputs that can be read back.
const (
	Clusters = "clusters"
	Pairs    = "pairs"
)

// Member is a row of clusters: a document in a cluster.
type Member struct {
	Cluster    string  `json:"cluster"`
	ID         string  `json:"id"`
	Ref        string  `json:"ref"`
	Kept       bool    `json:"kept"`
	Similarity float64 `json:"similarity"`
	Size       int     `json:"size"`
	Reference  bool    `json:"reference"`
}

// Pair is a row of pairs: a verified edge.
type Pair struct {
	// A and B are the names of the documents, valid until the next row.
	A, B      []byte
	Jaccard   float64
	Identical bool
}

// Members gives the rows of clusters in their order, an error last.
func (f *Folder) Members(ctx context.Context) iter.Seq2[Member, error] {
	return rows(ctx, f, Clusters, func(line []byte) (m Member, err error) {
		err = json.Unmarshal(line, &m)
		return m, err
	})
}

// Pairs gives the rows of pairs in their order, an error last.
func (f *Folder) Pairs(ctx context.Context) iter.Seq2[Pair, error] {
	return rows(ctx, f, Pairs, parsePair)
}

// rows gives the rows of an output, shard by shard.
func rows[T any](ctx context.Context, f *Folder, name string, parse func([]byte) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for _, file := range f.files {
			if file.Output != name {
				continue
			}
			number := 0
			for line, err := range corpus.Lines(ctx, f.path(file)) {
				if err != nil {
					yield(none, err)
					return
				}
				number++
				row, err := parse(line)
				if err != nil {
					yield(none, fmt.Errorf("%s:%d is no row of %s: %w", f.path(file), number, name, err))
					return
				}
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// parsePair reads a row of pairs. Rows as the job writes them, with names that
// need no escapes, are taken apart by their fixed order of fields, in a tenth of
// the time that JSON in general takes.
func parsePair(line []byte) (Pair, error) {
	if pair, ok := parsePlainPair(line); ok {
		return pair, nil
	}
	var row struct {
		A, B      string
		Jaccard   float64
		Identical bool
	}
	err := json.Unmarshal(line, &row)
	return Pair{[]byte(row.A), []byte(row.B), row.Jaccard, row.Identical}, err
}

// parsePlainPair reads a row in the job's order of fields, if it is one.
func parsePlainPair(line []byte) (pair Pair, ok bool) {
	rest := line
	if pair.A, rest, ok = cutPlainString(rest, `{"a":"`); !ok {
		return pair, false
	}
	if pair.B, rest, ok = cutPlainString(rest, `,"b":"`); !ok {
		return pair, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"jaccard":`)); !ok {
		return pair, false
	}
	number, rest, ok := bytes.Cut(rest, []byte{','})
	if !ok || !bytes.HasPrefix(rest, []byte(`"containment_a":`)) {
		return pair, false
	}
	var err error
	pair.Jaccard, err = strconv.ParseFloat(string(number), 64)
	pair.Identical = bytes.HasSuffix(rest, []byte(`,"identical":true}`))
	return pair, err == nil
}

// cutPlainString takes a string without escapes that begins after start.
func cutPlainString(b []byte, start string) (content, rest []byte, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte(start))
	end := bytes.IndexByte(b, '"')
	if !ok || end < 0 || bytes.IndexByte(b[:end], '\\') >= 0 {
		return nil, nil, false
	}
	return b[:end], b[end+1:], true
}
