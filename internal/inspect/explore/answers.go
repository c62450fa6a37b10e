package explore

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/inspect/difference"
	"mirrorbeam.dev/internal/inspect/explain"
	"mirrorbeam.dev/internal/inspect/recut"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
)

const (
	// rowsPerPage is how many rows of a list an answer has.
	rowsPerPage = 50
	// mostOffset bounds how far a list can be paged: each page is read from the first row on.
	mostOffset = 1_000_000
	// mostEdges is how many pairs of a cluster an answer has.
	mostEdges = 2000
)

// wholeTexts is how much of two texts is compared.
func wholeTexts() difference.Extent { return difference.Extent{Bytes: 1 << 20, Passages: 1000} }

// request is what the page asks for.
type request struct{ *http.Request }

func (r request) text(name string) string { return r.URL.Query().Get(name) }

// page is the part of a list that is asked for.
func (r request) page() explain.Page {
	offset, _ := strconv.Atoi(r.text("offset"))
	return explain.Page{
		Order:  explain.Order(cmp.Or(r.text("order"), string(explain.AutoOrder))),
		Offset: min(max(offset, 0), mostOffset),
		Limit:  rowsPerPage,
	}
}

// Run is what the page shows of the whole run.
type Run struct {
	Folder string `json:"folder"`
	// Has names the outputs that the run has written.
	Has []string `json:"has"`
	// Unit is jaccard, containment or bits: what pairs are compared by.
	Unit      string          `json:"unit"`
	Threshold float64         `json:"threshold"`
	Counts    findings.Counts `json:"counts"`
	Sources   []sources.Row   `json:"sources"`
	// Command makes results at another threshold, with the threshold at its end.
	Command string `json:"command"`
}

func (s *Server) run(request) (any, error) {
	f, c := s.folder, &s.folder.Summary.Config
	r := Run{
		Folder:    f.Path,
		Has:       []string{},
		Unit:      "jaccard",
		Threshold: c.Threshold,
		Counts:    f.Summary.Counts,
		Sources:   f.Summary.Sources,
		Command:   s.recut,
	}
	switch scorer := c.Scorer(); {
	case scorer.IsDistance:
		r.Unit = "bits"
	case !scorer.HasClusters:
		r.Unit = "containment"
	}
	for _, name := range []string{output.Clusters, output.Pairs, output.Removed} {
		if f.Has(name) {
			r.Has = append(r.Has, name)
		}
	}
	return r, nil
}

func (s *Server) clusters(r request) (any, error) {
	return explain.ListClusters(r.Context(), s.folder, r.page())
}

func (s *Server) cluster(r request) (any, error) {
	return explain.ListMembers(r.Context(), s.folder, r.text("name"), r.page(), nil)
}

// List is a part of a list of rows.
type List[T any] struct {
	// Of is the number of all rows that are wanted.
	Of     int64 `json:"of"`
	Offset int   `json:"offset"`
	Rows   []T   `json:"rows"`
}

// documents lists the documents of clusters whose ids, refs or addresses have some text.
func (s *Server) documents(r request) (any, error) {
	if err := s.folder.Need(output.Clusters); err != nil {
		return nil, err
	}
	wanted, p := strings.ToLower(r.text("q")), r.page()
	list := List[output.Member]{Offset: p.Offset, Rows: []output.Member{}}
	for m, err := range finished.Rows[output.Member](r.Context(), s.folder, output.Clusters) {
		if err != nil {
			return nil, err
		}
		if !anyHas(wanted, m.ID, m.Ref, m.URL) {
			continue
		}
		if list.Of++; list.Of > int64(p.Offset) && len(list.Rows) < p.Limit {
			list.Rows = append(list.Rows, m)
		}
	}
	return list, nil
}

func anyHas(wanted string, names ...string) bool {
	for _, name := range names {
		if strings.Contains(strings.ToLower(name), wanted) {
			return true
		}
	}
	return false
}

// pairs lists the pairs of a document or of a cluster if one is named, or all that have some text in a name. The least
// alike come first.
func (s *Server) pairs(r request) (any, error) {
	if err := s.folder.Need(output.Pairs); err != nil {
		return nil, err
	}
	p, wanted := r.page(), strings.ToLower(r.text("q"))
	isWanted := func(a, b string) bool { return anyHas(wanted, a, b) }
	if ref := r.text("document"); ref != "" {
		id := r.text("id")
		isOf := func(name string) bool { return name == ref || name != "" && name == id }
		isWanted = func(a, b string) bool { return isOf(a) || isOf(b) }
	}
	if name := r.text("cluster"); name != "" {
		p.Limit = mostEdges
		members, err := s.names(r.Context(), name)
		if err != nil {
			return nil, err
		}
		isWanted = func(a, b string) bool { return members[a] && members[b] }
	}
	alike := s.alike()
	first := graphs.NewLeast(p.Offset+p.Limit, func(a, b output.Pair) int {
		return cmp.Or(cmp.Compare(alike(&a), alike(&b)), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	list := List[output.Pair]{Offset: p.Offset}
	for pair, err := range finished.Rows[output.Pair](r.Context(), s.folder, output.Pairs) {
		if err != nil {
			return nil, err
		}
		if isWanted(pair.A, pair.B) {
			list.Of++
			first.Add(pair)
		}
	}
	list.Rows = append([]output.Pair{}, first.Items[min(p.Offset, len(first.Items)):]...)
	return list, nil
}

// names returns what pairs may call the documents of a cluster: their ids, or refs where an id is not theirs alone.
func (s *Server) names(ctx context.Context, cluster string) (map[string]bool, error) {
	names := map[string]bool{}
	for m, err := range s.folder.ClusterRows(ctx, cluster) {
		if err != nil {
			return nil, err
		}
		names[m.ID], names[m.Ref] = true, true
	}
	return names, nil
}

// alike returns a measure of pairs that grows with their likeness.
func (s *Server) alike() func(*output.Pair) float64 {
	switch scorer := s.folder.Summary.Config.Scorer(); {
	case scorer.IsDistance:
		return func(p *output.Pair) float64 { return -float64(p.Hamming) }
	case !scorer.HasClusters:
		return func(p *output.Pair) float64 { return max(p.ContainmentA, p.ContainmentB) }
	}
	return func(p *output.Pair) float64 { return p.Jaccard }
}

// Compared are two documents, and their texts side by side where they can be read.
type Compared struct {
	*explain.Explanation
	Texts *difference.Texts `json:"texts,omitempty"`
}

func (s *Server) pair(r request) (any, error) {
	x, err := explain.Explain(r.Context(), s.folder, r.text("a"), r.text("b"), false, wholeTexts())
	if err != nil {
		return nil, err
	}
	x.Difference = nil // the texts show it
	return Compared{x, x.Sides}, nil
}

// threshold counts what the pairs of the run give from another threshold on.
func (s *Server) threshold(r request) (any, error) {
	threshold, err := strconv.ParseFloat(r.text("from"), 64)
	if err != nil {
		return nil, err
	}
	return recut.Count(r.Context(), s.folder, threshold)
}
