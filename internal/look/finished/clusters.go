package finished

import (
	"context"
	"iter"

	"mirrorbeam/internal/carry/output"
)

// Cluster is what the rows of a cluster say of it.
type Cluster struct {
	Name string `json:"name"`
	// Size is the number of its documents, and Kept the number of those that stay.
	Size int `json:"size"`
	Kept int `json:"kept"`
	// Least and Mean are the smallest and the mean similarity of its removed documents.
	Least float64 `json:"least"`
	Mean  float64 `json:"mean"`
}

// Add takes in a row of the cluster.
func (c *Cluster) Add(row *output.Member) {
	c.Name, c.Size, c.Least, c.Mean = row.Cluster, int(row.Size), row.Least, row.Mean
	if row.Kept {
		c.Kept++
	}
}

// Clusters gives the clusters of a run in the order of their rows, an error last. It holds no rows: see sees each of them, those
// of a cluster before the cluster is given.
func (f *Folder) Clusters(ctx context.Context, see func(*output.Member)) iter.Seq2[Cluster, error] {
	return func(yield func(Cluster, error) bool) {
		var c Cluster
		for row, err := range f.Members(ctx) {
			if err != nil {
				yield(Cluster{}, err)
				return
			}
			if c.Size > 0 && c.Name != row.Cluster {
				if !yield(c, nil) {
					return
				}
				c = Cluster{}
			}
			c.Add(&row)
			see(&row)
		}
		if c.Size > 0 {
			yield(c, nil)
		}
	}
}
