package finished

import (
	"bytes"
	"context"
	"iter"
	"slices"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/quoting"
)

// Rows gives the rows of an output in their order, an error last.
func Rows[T any](ctx context.Context, f *Folder, name string) iter.Seq2[T, error] {
	return rows[T](ctx, f, name, nil, nil)
}

// groupField is in each row of a site in a group, and in no other: in a string, the quotation marks would be escaped.
var groupField = []byte(`"group":`)

// GroupedSites yields the rows of sites in a group of mirrors, an error last. It parses no other lines.
func (f *Folder) GroupedSites(ctx context.Context) iter.Seq2[output.Site, error] {
	isGrouped := func(line []byte) bool { return bytes.Contains(line, groupField) }
	return rows(ctx, f, output.Sites, isGrouped, func(s *output.Site) bool { return s.Group != "" })
}

// MembersNaming gives the rows of clusters that have one of the names in a field: rows of a document, which has the
// name as its id, its ref or its URL, and rows of a cluster. It is many times as fast as [Rows] for lines of
// JSON. An error comes last.
func (f *Folder) MembersNaming(ctx context.Context, names ...string) iter.Seq2[output.Member, error] {
	isNamed, isWanted := naming(names)
	return rows(ctx, f, output.Clusters, isNamed, func(m *output.Member) bool {
		return isWanted(m.Cluster, m.ID, m.Ref, m.URL)
	})
}

// ClusterRows gives the rows of one cluster, an error last. It reads no further than the cluster.
func (f *Folder) ClusterRows(ctx context.Context, name string) iter.Seq2[output.Member, error] {
	return func(yield func(output.Member, error) bool) {
		found := int64(0)
		for m, err := range f.MembersNaming(ctx, name) {
			if err == nil && m.Cluster != name {
				continue
			}
			if found++; !yield(m, err) || err != nil || found == m.Size {
				return
			}
		}
	}
}

// RemovalsNaming gives the rows of removed whose document has one of the names as its id or ref, an error last.
func (f *Folder) RemovalsNaming(ctx context.Context, names ...string) iter.Seq2[output.Removal, error] {
	isNamed, isWanted := naming(names)
	return rows(ctx, f, output.Removed, isNamed, func(r *output.Removal) bool { return isWanted(r.ID, r.Ref) })
}

// naming returns two functions. The first reports whether a line has one of the names in it, the second whether one of
// some fields is a name.
func naming(names []string) (isNamed func(line []byte) bool, isWanted func(fields ...string) bool) {
	all := make(map[string]bool, len(names))
	var quoted [][]byte
	for _, name := range names {
		all[name] = true
		quoted = append(quoted, quoting.AppendQuoted(nil, name))
		if corpus.IsInteger([]byte(name)) {
			quoted = append(quoted, []byte(":"+name+",")) // as integers are written
		}
	}
	isNamed = func(line []byte) bool {
		return slices.ContainsFunc(quoted, func(name []byte) bool { return bytes.Contains(line, name) })
	}
	return isNamed, func(fields ...string) bool {
		return slices.ContainsFunc(fields, func(field string) bool { return field != "" && all[field] })
	}
}

// rows yields the wanted rows of an output, all if wanted is nil, an error last. It skips lines that mayBe refuses.
func rows[T any](ctx context.Context, f *Folder, name string, mayBe func(line []byte) bool,
	isWanted func(*T) bool,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, path := range f.Paths(name) {
			for row, err := range output.Read[T](ctx, path, name, mayBe) {
				if err == nil && isWanted != nil && !isWanted(&row) {
					continue
				}
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// Cluster is what the rows of a cluster say of it.
type Cluster struct {
	Name string `json:"name"`
	// URL and Date say from where and when a web archive has fetched its first document, and are empty otherwise.
	URL  string `json:"url,omitempty"`
	Date string `json:"date,omitempty"`
	// Size is the number of its documents, and Kept the number of those that stay.
	Size int `json:"size"`
	Kept int `json:"kept"`
	// Least and Mean are the smallest and the mean similarity of its removed documents.
	Least float64 `json:"least"`
	Mean  float64 `json:"mean"`
}

// Add takes in a row of the cluster.
func (c *Cluster) Add(row *output.Member) {
	if c.Size == 0 {
		c.URL, c.Date = row.URL, row.Date
	}
	c.Name, c.Size, c.Least, c.Mean = row.Cluster, int(row.Size), row.Least, row.Mean
	if row.Kept {
		c.Kept++
	}
}

// Clusters gives the clusters of a run in the order of their rows, an error last. It holds no rows: see sees each of
// them, all rows of a cluster before the cluster.
func (f *Folder) Clusters(ctx context.Context, see func(*output.Member)) iter.Seq2[Cluster, error] {
	return func(yield func(Cluster, error) bool) {
		var c Cluster
		for row, err := range Rows[output.Member](ctx, f, output.Clusters) {
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
