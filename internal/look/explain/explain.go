// Package explain shows the clusters of a finished run, and says why two documents are together, or are not.
package explain

import (
	"context"
	"fmt"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/look/difference"
	"mirrorbeam/internal/look/finished"
	"mirrorbeam/job"
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
	// Notes say what cannot be told, and why.
	Notes []string `json:"notes,omitempty"`
}

// Document is one of the two documents.
type Document struct {
	// Given is what the user calls it. ID and Ref are its own names, empty where they are not known.
	Given string `json:"given"`
	ID    string `json:"id,omitempty"`
	Ref   string `json:"ref,omitempty"`
	// Bytes, Words and Shingles measure its text; 0 if it cannot be read. Shingles are distinct ones, of which LeftOut do not
	// count: base texts have them, or very many documents.
	Bytes    int64 `json:"bytes,omitempty"`
	Words    int   `json:"words,omitempty"`
	Shingles int   `json:"shingles,omitempty"`
	LeftOut  int   `json:"left_out,omitempty"`
	// Cluster is the cluster that it is in, of Size documents; empty if it is in none, or if the run has written none.
	Cluster string `json:"cluster,omitempty"`
	Size    int    `json:"size,omitempty"`
	// Removed says that it is removed, and KeptID which document is kept for it, empty where that is not known. Similarity is
	// that of the two.
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

// Options are the choices of an explanation.
type Options struct {
	// NoInput leaves the input of the run alone. Then only the results tell.
	NoInput bool
}

// explainer makes an explanation.
type explainer struct {
	Explanation
	folder  *finished.Folder
	config  *job.Config
	options Options
	a, b    *text // what the input has, nil if it was not read
	members members
	scanned bool // all rows of pairs have been seen
}

// Explain explains what became of two documents, given their ids or refs. It reads the rows of clusters and of pairs once, and
// the files of the input that hold the two. If the rows do not say which files these are, it reads the whole input. It is an
// error if there is no such document, or if several have an id.
func Explain(ctx context.Context, f *finished.Folder, a, b string, options Options) (*Explanation, error) {
	x := &explainer{folder: f, config: &f.Summary.Config, options: options}
	x.Folder, x.A.Given, x.B.Given, x.Reasons = f.Path, rowName(a), rowName(b), []string{}
	if x.A.Given == x.B.Given {
		return nil, setting.Errorf("%s is one document: name two", a)
	}
	for _, step := range []func(context.Context) error{x.findRows, x.findTexts, x.findMembers, x.findPairs, x.findKept} {
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

func (x *explainer) judge() {
	is := false
	switch {
	case !x.config.Scorer().HasClusters:
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
