package finished

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/read/parquetfile"
)

// The outputs that can be read back.
const (
	Clusters = "clusters"
	Pairs    = "pairs"
	Rejects  = "rejects"
)

// Member is a row of clusters: a document in a cluster.
type Member struct {
	Cluster    string  `json:"cluster"`
	ID         string  `json:"id"`
	Ref        string  `json:"ref"`
	Kept       bool    `json:"kept"`
	Similarity float64 `json:"similarity"`
	Size       int     `json:"size"`
	// Least and Mean are the smallest and the mean similarity of the removed documents of the cluster.
	Least     float64 `json:"least"`
	Mean      float64 `json:"mean"`
	Reference bool    `json:"reference"`
}

// Pair is a row of pairs: a verified edge.
type Pair struct {
	// A and B are the names of the documents, valid until the next row.
	A, B    []byte
	Jaccard float64
	// JaccardWhole is the similarity by all shingles, if the job has left common ones out, or else 0.
	JaccardWhole float64
	// ContainmentA and ContainmentB are the shares of the one document that the other has.
	ContainmentA, ContainmentB float64
	// Hamming is the number of bits in which fingerprints differ, if these were compared.
	Hamming int
	// Exact is false if the numbers are estimates.
	Exact     bool
	Identical bool
}

// Reject is a row of rejects: a record that was not read as a document.
type Reject = output.Reject

// Members gives the rows of clusters in their order, an error last.
func (f *Folder) Members(ctx context.Context) iter.Seq2[Member, error] {
	return rows(ctx, f, Clusters, reading[Member]{parseMember, memberColumns, takeMember})
}

// Pairs gives the rows of pairs in their order, an error last. If fingerprints were compared by their distance, the
// similarity is 0.
func (f *Folder) Pairs(ctx context.Context) iter.Seq2[Pair, error] {
	r := reading[Pair]{parsePair, pairColumns, takePair}
	switch config := &f.Summary.Config; {
	case config.Scorer().IsDistance:
		r = reading[Pair]{parsePair, hammingColumns, takeHammingPair}
	case !config.CommonLaw().IsOff():
		r = reading[Pair]{parsePair, partialColumns, takePartialPair}
	}
	return rows(ctx, f, Pairs, r)
}

// Rejects gives the rows of rejects in their order, an error last.
func (f *Folder) Rejects(ctx context.Context) iter.Seq2[Reject, error] {
	return rows(ctx, f, Rejects, reading[Reject]{parseReject, rejectColumns, takeReject})
}

// reading is how the rows of an output are read: lines of JSON, or columns of Parquet.
type reading[T any] struct {
	parse   func(line []byte) (T, error)
	columns []string
	take    func(cells []parquetfile.Cell) (T, error)
}

// rows gives the rows of an output, shard by shard, an error last.
func rows[T any](ctx context.Context, f *Folder, name string, r reading[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, file := range f.files {
			if file.Output != name {
				continue
			}
			path := f.path(file)
			all := parsed(path, name, corpus.Lines(ctx, path), r.parse)
			if strings.HasSuffix(path, "."+string(output.Parquet)) {
				all = parsed(path, name, output.Cells(ctx, path, r.columns...), r.take)
			}
			for row, err := range all {
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// parsed gives the rows of one file, given what each is to be parsed from.
func parsed[R, T any](path, name string, all iter.Seq2[R, error], parse func(R) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		number := 0
		for raw, err := range all {
			var row T
			if number++; err == nil {
				if row, err = parse(raw); err != nil {
					err = fmt.Errorf("%s:%d is no row of %s: %w", path, number, name, err)
				}
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// parseMember reads a row of clusters. Rows as the job writes them, with names that need no escapes, are taken apart by their
// fixed order of fields, in a fraction of the time that JSON in general takes.
func parseMember(line []byte) (m Member, err error) {
	if m, ok := parsePlainMember(line); ok {
		return m, nil
	}
	err = json.Unmarshal(line, &m)
	return m, err
}

// parsePlainMember reads a row of clusters in the job's order of fields, if it is one.
func parsePlainMember(line []byte) (m Member, ok bool) {
	rest := line
	for _, field := range []struct {
		start string
		value *string
	}{
		{`{"cluster":"`, &m.Cluster}, {`,"id":"`, &m.ID}, {`,"ref":"`, &m.Ref},
	} {
		var content []byte
		if content, rest, ok = cutPlainString(rest, field.start); !ok {
			return m, false
		}
		*field.value = string(content)
	}
	if rest, m.Kept = bytes.CutPrefix(rest, []byte(`,"kept":true`)); !m.Kept {
		if rest, ok = bytes.CutPrefix(rest, []byte(`,"kept":false`)); !ok {
			return m, false
		}
	}
	var size float64
	for _, field := range []struct {
		start string
		value *float64
	}{
		{`,"similarity":`, &m.Similarity}, {`,"size":`, &size}, {`,"least":`, &m.Least},
	} {
		if *field.value, rest, ok = cutNumber(rest, field.start); !ok {
			return m, false
		}
	}
	m.Size = int(size)
	if rest, m.Reference = bytes.CutSuffix(rest, []byte(`,"reference":true}`)); !m.Reference {
		rest = bytes.TrimSuffix(rest, []byte{'}'})
	}
	rest, ok = bytes.CutPrefix(rest, []byte(`,"mean":`))
	mean, err := strconv.ParseFloat(string(rest), 64)
	m.Mean = mean
	return m, ok && err == nil
}

// parseReject reads a row of rejects.
func parseReject(line []byte) (r Reject, err error) {
	err = json.Unmarshal(line, &r)
	return r, err
}

// parsePair reads a row of pairs. Rows as the job writes them, with names that
// need no escapes, are taken apart by their fixed order of fields, in a tenth of
// the time that JSON in general takes.
func parsePair(line []byte) (Pair, error) {
	if pair, ok := parsePlainPair(line); ok {
		return pair, nil
	}
	var row struct {
		A, B         string
		Jaccard      float64
		ContainmentA float64 `json:"containment_a"`
		ContainmentB float64 `json:"containment_b"`
		JaccardWhole float64 `json:"jaccard_whole"`
		Hamming      int
		Exact        bool
		Identical    bool
	}
	err := json.Unmarshal(line, &row)
	return Pair{
		[]byte(row.A), []byte(row.B), row.Jaccard, row.JaccardWhole, row.ContainmentA, row.ContainmentB, row.Hamming, row.Exact, row.Identical,
	}, err
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
	for _, field := range []struct {
		start string
		value *float64
	}{
		{`,"jaccard":`, &pair.Jaccard}, {`,"containment_a":`, &pair.ContainmentA}, {`,"containment_b":`, &pair.ContainmentB},
	} {
		if *field.value, rest, ok = cutNumber(rest, field.start); !ok {
			return pair, false
		}
	}
	if whole, after, is := cutNumber(rest, `,"jaccard_whole":`); is {
		pair.JaccardWhole, rest = whole, after
	}
	if pair.Exact = bytes.HasPrefix(rest, []byte(`,"exact":true`)); !pair.Exact && !bytes.HasPrefix(rest, []byte(`,"exact":false`)) {
		return pair, false
	}
	pair.Identical = bytes.HasSuffix(rest, []byte(`,"identical":true}`))
	return pair, true
}

// cutNumber takes a number that begins after start and has a comma behind it.
func cutNumber(b []byte, start string) (number float64, rest []byte, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte(start))
	end := bytes.IndexByte(b, ',')
	if !ok || end < 0 {
		return 0, nil, false
	}
	number, err := strconv.ParseFloat(string(b[:end]), 64)
	return number, b[end:], err == nil
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
