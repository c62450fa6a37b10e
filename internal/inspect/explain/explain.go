// Package explain shows the clusters of a finished run, and says why two documents are together, or are not.
package explain

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"mirrorbeam.dev/internal/inspect/difference"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
)

// Explanation says why two documents are together or not, and what of that is known.
type Explanation struct {
	// Folder is where the results are.
	Folder string   `json:"folder"`
	A      Document `json:"a"`
	B      Document `json:"b"`
	// Together says that one cluster has both. It is nil if the results do not tell.
	Together *bool `json:"together,omitempty"`
	// Reasons say why, the most important one first.
	Reasons []string `json:"reasons"`
	// Similarity is the similarity of the texts in the input; nil if they cannot be read.
	Similarity *Similarity `json:"similarity,omitempty"`
	// Keys says what brings the two together to be compared; nil if the input cannot be read.
	Keys *Keys `json:"keys,omitempty"`
	// Row is the row of pairs that joins the two, nil if there is none.
	Row *Step `json:"row,omitempty"`
	// Path leads from one document to the other along rows of pairs; nil if none is known.
	Path *Path `json:"path,omitempty"`
	// Difference has the texts, read as one; nil if they cannot be read.
	Difference []difference.Run `json:"difference,omitempty"`
	// Sides has the texts beside each other; nil if they cannot be read.
	Sides *difference.Texts `json:"-"`
	// Notes say what cannot be told, and why.
	Notes []string `json:"notes,omitempty"`
}

// Document is one of the two documents.
type Document struct {
	// Given is what the user calls it. ID and Ref are its own names, empty where they are not known.
	Given string `json:"given"`
	ID    string `json:"id,omitempty"`
	Ref   string `json:"ref,omitempty"`
	// URL and Date say from where and when a web archive has fetched it, and are empty otherwise.
	URL  string `json:"url,omitempty"`
	Date string `json:"date,omitempty"`
	// Bytes, Words and Shingles measure its text; 0 if it cannot be read. Shingles are distinct ones, of which LeftOut
	// do not count: base texts have them, or very many documents.
	Bytes    int64 `json:"bytes,omitempty"`
	Words    int   `json:"words,omitempty"`
	Shingles int   `json:"shingles,omitempty"`
	LeftOut  int   `json:"left_out,omitempty"`
	// Cluster is the cluster that it is in, of Size documents; empty if it is in none, or if the run has written none.
	Cluster string `json:"cluster,omitempty"`
	Size    int    `json:"size,omitempty"`
	// Removed says that it is removed, and KeptID which document is kept for it, empty where that is not known.
	// Similarity is how similar the two are.
	Removed    bool    `json:"removed"`
	KeptID     string  `json:"kept_id,omitempty"`
	Similarity float64 `json:"similarity,omitempty"`
	// Reference says that it is of the reference corpus.
	Reference bool `json:"reference,omitempty"`

	name string // what rows of pairs call it, empty if that is not known
}

// Name returns what rows call the document: its id, or its ref if it has none, or if the id is not its own.
func (d *Document) Name() string {
	for _, name := range []string{d.name, d.ID, d.Ref} {
		if name != "" {
			return name
		}
	}
	return d.Given
}

type explainer struct {
	Explanation
	folder  *finished.Folder
	config  *job.Config
	method  *methods.Method
	scorer  methods.Scorer
	noInput bool
	extent  difference.Extent
	// leavesIgnored and leavesCommon say whether the run leaves out shingles of base texts, and common ones.
	leavesIgnored, leavesCommon bool

	a, b    *text // what the input has, nil if it was not read
	members members
	scanned bool // all rows of pairs have been seen
}

// Explain explains what became of two documents, given their ids, refs or URLs. It reads the rows of clusters and of
// pairs once, and the files of the input that hold the two. If the rows do not say which files these are, it reads the
// whole input. It is an error if there is no such document, or if several have an id or a URL.
// Of long texts it compares no more than the extent.
func Explain(ctx context.Context, f *finished.Folder, a, b string, noInput bool,
	most difference.Extent,
) (*Explanation, error) {
	x := newExplainer(f, noInput)
	x.extent = most
	x.Folder, x.A.Given, x.B.Given, x.Reasons = f.Path, rowName(a), rowName(b), []string{}
	if x.A.Given == x.B.Given {
		return nil, setting.Errorf("%s is one document: name two", a)
	}
	for _, step := range []func(context.Context) error{
		x.findRows, x.findTexts, x.findMembers, x.findPairs,
		x.findKept,
	} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("explain %s and %s: %w", a, b, err)
		}
	}
	if err := x.measure(); err != nil {
		return nil, fmt.Errorf("explain %s and %s: %w", a, b, err)
	}
	x.judge()
	x.reason()
	return &x.Explanation, nil
}

func newExplainer(f *finished.Folder, noInput bool) *explainer {
	c := &f.Summary.Config
	x := &explainer{folder: f, config: c, noInput: noInput, scorer: c.Scorer()}
	x.method, _ = methods.Of(c.Method())
	x.leavesIgnored, x.leavesCommon = len(c.Ignore) > 0, !c.CommonLaw().IsOff()
	return x
}

func (x *explainer) judge() {
	is := false
	switch {
	case !x.scorer.HasClusters:
		return
	case x.folder.Has(output.Clusters):
		is = x.A.Cluster != "" && x.A.Cluster == x.B.Cluster
	case x.scanned && !x.isStar():
		is = x.Path != nil
	default:
		return
	}
	x.Together = &is
}

func (x *explainer) note(format string, args ...any) {
	x.Notes = append(x.Notes, fmt.Sprintf(format, args...))
}

// rowName returns a name as rows have it: they are valid UTF-8.
func rowName(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return quoting.Text(name)
}

func (x *explainer) findRows(ctx context.Context) error {
	if !x.folder.Has(output.Clusters) {
		return nil
	}
	a, b := namesakes{given: x.A.Given}, namesakes{given: x.B.Given}
	for m, err := range x.folder.MembersNaming(ctx, x.A.Given, x.B.Given) {
		if err != nil {
			return err
		}
		a.add(m)
		b.add(m)
	}
	for d, all := range map[*Document]*namesakes{&x.A: &a, &x.B: &b} {
		found := all.best()
		if len(found) > 1 {
			return all.ambiguous()
		}
		for _, m := range found {
			d.ID = m.ID
			d.Ref = m.Ref
			d.URL = m.URL
			d.Date = m.Date
			d.Cluster = m.Cluster
			d.Size = int(m.Size)
			d.Removed = !m.Kept
			d.Reference = m.Reference
			if d.Removed {
				d.Similarity = m.Similarity
			}
		}
	}
	if x.A.Ref != "" && x.A.Ref == x.B.Ref {
		return fmt.Errorf("both are %s: name two documents", x.A.Ref)
	}
	return nil
}

const mostNamed = 5

func (x *explainer) findTexts(ctx context.Context) error {
	if x.noInput {
		x.note("The input was not read.")
		return nil
	}
	reader, err := x.newReader()
	if err != nil {
		x.note("The texts cannot be measured: %s", setting.Text(err, setting.Flag))
		return nil
	}
	names := []string{cmp.Or(x.A.Ref, x.A.Given), cmp.Or(x.B.Ref, x.B.Given)}
	found := map[string]*namesakes{names[0]: {given: names[0]}, names[1]: {given: names[1]}}
	err = x.folder.Find(ctx, names, x.A.Ref != "" && x.B.Ref != "", func(d *finished.Found) error {
		found[d.Name].add(output.Member{ID: d.ID, Ref: d.Ref, URL: d.URL, Date: d.Date})
		for i, to := range []**text{&x.a, &x.b} {
			if d.Name != names[i] {
				continue
			}
			t, err := reader.read(d)
			if err != nil {
				return fmt.Errorf("%s: %w", d.Ref, err)
			}
			*to = t
		}
		return nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		x.a, x.b = nil, nil
		x.note("The input cannot be read from here: %s", setting.Text(err, setting.Flag))
		return nil
	}
	for i, d := range []*Document{&x.A, &x.B} {
		all := found[names[i]]
		switch documents := len(all.best()); {
		case documents > 1:
			return all.ambiguous()
		case documents == 0 && d.Cluster == "":
			return x.missing(ctx, d)
		case documents == 0:
			x.note("%s is not in the input any more.", d.Name())
		}
	}
	if x.a == nil || x.b == nil {
		x.a, x.b = nil, nil
		return nil
	}
	x.A.take(x.a)
	x.B.take(x.b)
	if x.A.Ref == x.B.Ref {
		return fmt.Errorf("both are %s: name two documents", x.A.Ref)
	}
	return nil
}

// namesakes are the documents that a user may mean by a name: an id or ref goes before a URL.
type namesakes struct {
	given         string
	named, byURLs []output.Member
}

func (n *namesakes) add(m output.Member) {
	switch n.given {
	case m.ID, m.Ref:
		n.named = append(n.named, m)
	case m.URL:
		n.byURLs = append(n.byURLs, m)
	}
}

// best returns the documents that are meant: one, unless the name is ambiguous or missing.
func (n *namesakes) best() []output.Member {
	if len(n.named) > 0 {
		return n.named
	}
	return n.byURLs
}

func (n *namesakes) ambiguous() error {
	all := n.best()
	var refs []string
	for _, m := range all[:min(len(all), mostNamed)] {
		ref := m.Ref
		if m.Date != "" {
			ref += " (" + m.Date + ")"
		}
		refs = append(refs, ref)
	}
	named := strings.Join(refs, ", ")
	if len(all) > mostNamed {
		named += " and others"
	}
	if len(n.named) == 0 {
		return fmt.Errorf("%s was fetched %d times: name one of the documents by its ref: %s", n.given, len(all), named)
	}
	return fmt.Errorf("%s is the id of %d documents, which differ in their refs: %s", n.given, len(all), named)
}

// missing is the error of a document that is nowhere. A reject is named.
func (x *explainer) missing(ctx context.Context, d *Document) error {
	for reject, err := range finished.Rows[output.Reject](ctx, x.folder, output.Rejects) {
		if err != nil {
			return err
		}
		if fmt.Sprintf("%s:%d", reject.File, reject.Position) == d.Given {
			return fmt.Errorf("%s is no document but a reject: %s", d.Given, reject.Error)
		}
	}
	return fmt.Errorf(
		"no document of the input of the run is called %s: give its id, its ref, path:position, "+
			"or the URL of a page of a web archive", d.Given)
}

func (d *Document) take(t *text) {
	d.URL, d.Date = t.url, t.date
	d.Ref = t.ref
	d.Bytes = t.bytes
	d.Words = t.words
	d.Shingles = len(t.whole)
	d.LeftOut = len(t.whole) - len(t.set)
	d.Reference = t.reference
	if d.ID == "" {
		d.ID = t.id
	}
}

// findKept finds the documents that the removed ones of the two are removed for.
func (x *explainer) findKept(ctx context.Context) error {
	for _, d := range []*Document{&x.A, &x.B} {
		if !d.Removed || x.config.Drop == keep.Clusters {
			continue
		}
		for row, err := range x.folder.RemovalsNaming(ctx, d.Ref) {
			if err != nil {
				return err
			}
			d.KeptID = row.KeptID
			break
		}
		if d.KeptID == "" {
			d.KeptID = x.members.onlyKept(d.Cluster)
		}
		if d.KeptID == "" {
			x.note(
				"Which document is kept for %s is in the output removed: run the job with --emit "+
					"clusters,pairs,removed.", d.Name())
		}
	}
	return nil
}
