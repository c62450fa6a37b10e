package clusters

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/schema/output"
)

// BenchmarkPairRows writes the pairs of a cluster of pages that are made by one template: their ids are long, and many
// of their figures are the same. Its figure is nanoseconds a row.
func BenchmarkPairRows(b *testing.B) {
	const n = 400
	var members []records.Member
	var edges []records.Edge[records.Number]
	for i := range n {
		id := fmt.Sprintf("documentation/java-17:api/java.base/java/io/class-use/Stream%04d.html", i*i%9973)
		members = append(members, records.Member{Ref: at(1, int64(i)), Size: size(i), Id: id})
		for j := i + 1; j < n; j++ {
			shared := min(size(i), size(j)) - uint32(i^j)%8
			edges = append(edges, edge(records.Number(i), records.Number(j), shared, size(i)+size(j)-shared))
		}
	}
	s := shardOf(layoutOf(b), members, edges)
	for _, format := range []output.Format{output.JSONL, output.Parquet} {
		b.Run(string(format), func(b *testing.B) {
			folder := b.TempDir()
			for b.Loop() {
				w, err := output.NewPairRows(folder, output.File{Name: "pairs", Output: "pairs"}, format,
					output.SetPair, output.Names{})
				if err != nil {
					b.Fatal(err)
				}
				if err := s.PairRows(output.SetPair, w.Write); err != nil {
					b.Fatal(err)
				}
				file, err := w.Close()
				if err != nil {
					b.Fatal(err)
				}
				if err := os.Remove(filepath.Join(folder, file.Temporary)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(edges)), "ns/row")
		})
	}
}

// size is the number of shingles of a page.
func size(i int) uint32 { return 120 + uint32(i%16) }
