package output

import (
	"fmt"
	"testing"
)

// BenchmarkCodecs appends rows as lines of JSON, and parses these lines. Its figure is nanoseconds a row.
func BenchmarkCodecs(b *testing.B) {
	var pairs []Pair
	var members []Member
	var removals []Removal
	for i := range 1000 {
		name := fmt.Sprintf("document-%09d", i)
		similarity := float64(i%100) / 100
		pairs = append(pairs, Pair{
			A:            name,
			B:            name + "x",
			Jaccard:      similarity,
			ContainmentA: float64(i%7) / 7,
			ContainmentB: float64(i%9) / 9,
			Exact:        true,
		})
		members = append(members, Member{
			Cluster:    name,
			ID:         name,
			Ref:        name,
			Similarity: similarity,
			Size:       10,
			Least:      0.5,
			Mean:       0.75,
		})
		removals = append(removals, Removal{ID: name, Ref: name, Cluster: name, KeptID: name, Similarity: similarity})
	}
	b.Run("pair", func(b *testing.B) { benchmarkCodec(b, pairs) })
	b.Run("member", func(b *testing.B) { benchmarkCodec(b, members) })
	b.Run("removal", func(b *testing.B) { benchmarkCodec(b, removals) })
}

func benchmarkCodec[T interface {
	AppendJSON(b []byte, names Names) []byte
}](b *testing.B, rows []T) {
	b.Run("append", func(b *testing.B) {
		var line []byte
		for i := 0; b.Loop(); i++ {
			line = rows[i%len(rows)].AppendJSON(line[:0], Names{})
		}
	})
	b.Run("parse", func(b *testing.B) {
		lines := make([][]byte, len(rows))
		for i := range lines {
			line := rows[i].AppendJSON(nil, Names{})
			lines[i] = line[:len(line)-1]
		}
		var row T
		for i := 0; b.Loop(); i++ {
			if err := parseRow(lines[i%len(lines)], &row); err != nil {
				b.Fatal(err)
			}
		}
	})
}
