package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/setting"
)

// Order is the order of a list.
type Order string

// The orders. Clusters go by their documents, and documents by the bytes of their texts; the largest comes first. By
// similarity the least comes first: the similarity of a document to the one that is kept for it, and of a cluster the
// least of these.
const (
	AutoOrder    Order = "auto" // BySize for clusters, and the order of the results for documents
	BySize       Order = "size"
	BySimilarity Order = "similarity"
	ByID         Order = "id"
)

// Page is a part of a list.
type Page struct {
	Order Order
	// Offset is how many items to leave out, and Limit how many to list after these; both are at least 0.
	Offset, Limit int
}

func cut[T any](p Page, all []T) []T {
	from := min(p.Offset, len(all))
	return all[from:min(from+p.Limit, len(all))]
}

// Clusters is a list of clusters.
type Clusters struct {
	Folder string `json:"folder"`
	// Of is the number of all clusters.
	Of       int64              `json:"of"`
	Offset   int                `json:"offset"`
	Clusters []finished.Cluster `json:"clusters"`
}

// ListClusters lists clusters. It reads the rows once, and holds only the clusters up to the end of the page.
func ListClusters(ctx context.Context, f *finished.Folder, p Page) (*Clusters, error) {
	if err := f.Need(output.Clusters); err != nil {
		return nil, err
	}
	list := &Clusters{Folder: f.Path, Of: 0, Offset: p.Offset}
	first := graphs.NewLeast(p.Offset+p.Limit, func(a, b finished.Cluster) int {
		switch p.Order {
		case BySimilarity:
			return cmp.Or(cmp.Compare(a.Least, b.Least), cmp.Compare(a.Name, b.Name))
		case ByID:
			return cmp.Compare(a.Name, b.Name)
		}
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.Name, b.Name))
	})
	for c, err := range f.Clusters(ctx, func(*output.Member) {}) {
		if err != nil {
			return nil, err
		}
		list.Of++
		first.Add(c)
	}
	list.Clusters = append([]finished.Cluster{}, cut(p, first.Items)...)
	return list, nil
}

// Members is a list of the documents of a cluster.
type Members struct {
	Folder string `json:"folder"`
	finished.Cluster
	Offset    int      `json:"offset"`
	Documents []Listed `json:"documents"`
	// Notes say what cannot be told, and why.
	Notes []string `json:"notes,omitempty"`
}

// Listed is a document of a cluster, with its text if that was read.
type Listed struct {
	ID   string `json:"id"`
	Ref  string `json:"ref"`
	URL  string `json:"url,omitempty"`
	Date string `json:"date,omitempty"`
	Kept bool   `json:"kept"`
	// Similarity is that to the document that is kept for it, 1 for a kept one.
	Similarity float64 `json:"similarity"`
	Reference  bool    `json:"reference,omitempty"`
	// Bytes is the length of the text, and Text its beginning, nil and empty if it was not read.
	Bytes *int64 `json:"bytes,omitempty"`
	Text  string `json:"text,omitempty"`
}

const (
	// autoBytes is the size of an input that is read without being asked for.
	autoBytes = 1 << 30
	beginning = 240
)

// ListMembers lists documents of the cluster that has the name, or that has a document of that id, ref or URL. It holds
// the rows of the cluster. Sizes and beginnings of texts come from the input: with withTexts or, if that is nil, if the
// input has at most 1 GB.
func ListMembers(ctx context.Context, f *finished.Folder, name string, p Page, withTexts *bool) (*Members, error) {
	if err := f.Need(output.Clusters); err != nil {
		return nil, err
	}
	cluster, err := clusterOf(ctx, f, rowName(name))
	if err != nil {
		return nil, err
	}
	list := &Members{Folder: f.Path, Offset: p.Offset}
	for m, err := range f.ClusterRows(ctx, cluster) {
		if err != nil {
			return nil, err
		}
		list.Add(&m)
		list.Documents = append(list.Documents, Listed{
			ID:         m.ID,
			Ref:        m.Ref,
			URL:        m.URL,
			Date:       m.Date,
			Kept:       m.Kept,
			Similarity: m.Similarity,
			Reference:  m.Reference,
		})
	}
	isRead := f.Summary.Counts.Bytes+f.Summary.Counts.ReferenceBytes <= autoBytes
	if withTexts != nil {
		isRead = *withTexts
	} else if !isRead {
		list.Notes = append(list.Notes, "Texts are not shown, since the input is large: --texts yes reads it again.")
	}
	if p.Order == BySize {
		if !isRead {
			return nil, setting.Errorf(
				"the results do not have the sizes of texts: read the input again with --texts yes, " +
					"or choose another order")
		}
		if err := list.read(ctx, f, list.Documents, 0); err != nil {
			return nil, err
		}
	}
	list.sort(p.Order)
	list.Documents = append([]Listed{}, cut(p, list.Documents)...)
	if isRead {
		if err := list.read(ctx, f, list.Documents, beginning); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			list.Notes = append(list.Notes,
				"Texts are not shown: the input cannot be read from here: "+setting.Text(err, setting.Flag))
		}
	}
	return list, nil
}

func clusterOf(ctx context.Context, f *finished.Folder, name string) (string, error) {
	all := namesakes{given: name}
	for m, err := range f.MembersNaming(ctx, name) {
		if err != nil {
			return "", err
		}
		if m.Cluster == name {
			return name, nil
		}
		all.add(m)
	}
	found := all.best()
	if len(found) == 0 {
		return "", fmt.Errorf("no cluster, and no document in one, is called %s", name)
	}
	for _, m := range found[1:] {
		// Captures of a page that are all in one cluster name it.
		if len(all.named) > 0 || m.Cluster != found[0].Cluster {
			return "", all.ambiguous()
		}
	}
	return found[0].Cluster, nil
}

func (l *Members) sort(order Order) {
	slices.SortStableFunc(l.Documents, func(a, b Listed) int {
		switch order {
		case BySimilarity:
			return cmp.Compare(a.Similarity, b.Similarity)
		case ByID:
			return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Ref, b.Ref))
		case BySize:
			return cmp.Compare(lengthOf(&b), lengthOf(&a))
		}
		return 0
	})
}

func lengthOf(m *Listed) int64 {
	if m.Bytes == nil {
		return -1
	}
	return *m.Bytes
}

// read reads the texts of some documents: their lengths, and at most the given number of bytes.
func (l *Members) read(ctx context.Context, f *finished.Folder, some []Listed, most int) error {
	places := map[string]int{}
	var refs []string
	for i := range some {
		places[some[i].Ref] = i
		refs = append(refs, some[i].Ref)
	}
	return f.Find(ctx, refs, true, func(d *finished.Found) error {
		m := &some[places[d.Ref]]
		length := int64(0)
		for _, text := range d.Record.Texts {
			length += int64(len(text))
		}
		m.Bytes = &length
		if m.Text = d.Text(most); len(m.Text) == most {
			m.Text = strings.TrimRightFunc(m.Text, func(r rune) bool { return r == utf8.RuneError })
		}
		return nil
	})
}
