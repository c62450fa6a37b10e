package finished

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/schema/output"
)

// TestClusters: each cluster comes once, behind its rows, and what comes after a fault is not given.
func TestClusters(t *testing.T) {
	f, err := Open(writeFolder(t, output.JSONL, ""))
	if err != nil {
		t.Fatal(err)
	}
	var rows []byte
	for _, row := range []output.Member{
		{Cluster: "a", ID: "a", Kept: true, Size: 3, Least: .5, Mean: .75},
		{Cluster: "a", ID: "b", Size: 3, Least: .5, Mean: .75},
		{Cluster: "a", ID: "c", Kept: true, Size: 3, Least: .5, Mean: .75},
		{Cluster: "d", ID: "d", Kept: true, Size: 2, Least: 1, Mean: 1},
		{Cluster: "d", ID: "e", Size: 2, Least: 1, Mean: 1},
	} {
		rows = row.AppendJSON(rows, output.Names{})
	}
	read := func(content []byte) (seen []string, all []Cluster, err error) {
		if err := os.WriteFile(filepath.Join(f.Path, output.ShardName(output.Clusters, 0, 1, output.JSONL)), content,
			0o666); err != nil {
			t.Fatal(err)
		}
		for c, err := range f.Clusters(t.Context(), func(m *output.Member) { seen = append(seen, m.ID) }) {
			if err != nil {
				return seen, all, err
			}
			seen, all = append(seen, "end of "+c.Name), append(all, c)
		}
		return seen, all, nil
	}
	a, d := Cluster{Name: "a", Size: 3, Kept: 2, Least: .5, Mean: .75}, Cluster{
		Name:  "d",
		Size:  2,
		Kept:  1,
		Least: 1,
		Mean:  1,
	}
	seen, all, err := read(rows)
	if want := []string{"a", "b", "c", "end of a", "d", "e", "end of d"}; err != nil || !slices.Equal(seen, want) ||
		!slices.Equal(all, []Cluster{a, d}) {
		t.Errorf("%v, %v, error %v", seen, all, err)
	}
	if _, all, err := read(append(rows, "no row\n"...)); err == nil || !slices.Equal(all, []Cluster{a}) {
		t.Errorf("with a fault: %v, error %v", all, err)
	}
	if _, all, err := read(nil); err != nil || len(all) > 0 {
		t.Errorf("without rows: %v, error %v", all, err)
	}
}
