package recut

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/quoting"
)

// rows is what the rows of a run say of its documents and pairs.
type rows struct {
	layout  documents.Layout // with the files that documents of clusters are in
	members []records.Member // in document order
	pairs   []output.Pair    // from the threshold on
	edges   []records.Edge[records.Number]
	rejects []output.Reject
	input   *input // nil if it was not read again
}

// orderError says that rows do not tell the order of documents in the corpus.
type orderError string

func (e orderError) Error() string { return string(e) }

// document is a document of a cluster, as its row has it.
type document struct {
	id, ref     string
	file        string
	position    int64
	isReference bool
	capture     *records.Capture // nil for a document of no web archive
}

// read reads the rows of a run. A folder whose rows do not fit together is an error.
func read(ctx context.Context, folder *finished.Folder, o Options) (*rows, error) {
	var all []document
	cluster, first := "", -1 // of the last row
	for m, err := range finished.Rows[output.Member](ctx, folder, output.Clusters) {
		if err != nil {
			return nil, err
		}
		one, err := documentOf(m)
		if err != nil {
			return nil, err
		}
		switch {
		case m.Cluster == cluster && one.compare(all[len(all)-1]) <= 0,
			m.Cluster != cluster && first >= 0 && one.compare(all[first]) <= 0:
			return nil, orderError(m.Ref + " is not where its name would be")
		case m.Cluster != cluster:
			cluster, first = m.Cluster, len(all)
		}
		all = append(all, one)
	}
	slices.SortFunc(all, document.compare)
	r := &rows{}
	if err := r.place(all, o.Keep); err != nil {
		return nil, err
	}
	if err := r.join(ctx, folder, all, o.Threshold); err != nil {
		return nil, err
	}
	return r, nil
}

// documentOf returns the document of a row.
func documentOf(m output.Member) (document, error) {
	colon := max(strings.LastIndexByte(m.Ref, ':'), 0)
	file := m.Ref[:colon]
	position, err := strconv.ParseInt(strings.TrimPrefix(m.Ref[colon:], ":"), 10, 64)
	if err != nil || file == "" {
		return document{}, fmt.Errorf("%q is no ref of a document", m.Ref)
	}
	d := document{id: m.ID, ref: m.Ref, file: quoting.Original(file), position: position, isReference: m.Reference}
	if m.URL != "" || m.Date != "" {
		d.capture = &records.Capture{URL: m.URL, Date: m.Date}
	}
	return d, nil
}

func (d document) compare(other document) int {
	if d.isReference != other.isReference {
		if d.isReference {
			return -1
		}
		return 1
	}
	return cmp.Or(strings.Compare(d.file, other.file), cmp.Compare(d.position, other.position))
}

// place gives sorted documents their refs, and their priority.
func (r *rows) place(all []document, preferred preference.Preference) error {
	order, err := preference.NewOrder(preferred, nil)
	if err != nil {
		return err
	}
	in := &documents.Inputs{}
	for i, d := range all {
		if i == 0 || d.file != all[i-1].file || d.isReference != all[i-1].isReference {
			in.Files = append(in.Files, corpus.File{Name: d.file, Reference: d.isReference})
		}
		ref, err := docref.New(len(in.Files)-1, d.position)
		if err != nil {
			return err
		}
		member := records.Member{
			Ref:      ref,
			Priority: preference.Reference,
			Id:       quoting.Original(d.id),
			Capture:  d.capture,
		}
		if d.id == d.ref {
			member.Id = ""
		}
		if !d.isReference {
			priority, _ := order(&preference.Document{}) // by document order, which has no ties
			member.Priority = priority.At(ref)
		}
		r.members = append(r.members, member)
	}
	r.layout.Inputs = in
	r.layout.FirstInput, err = in.FirstInput()
	return err
}

// join reads the rejects, and the pairs from the threshold on. It finds out which documents rows call by their refs.
func (r *rows) join(ctx context.Context, folder *finished.Folder, all []document, threshold float64) error {
	byID, byRef := make(map[string]records.Number, len(all)), make(map[string]records.Number, len(all))
	for i, d := range all {
		byID[d.id], byRef[d.ref] = records.Number(i), records.Number(i)
	}
	find := func(name string) (records.Number, error) {
		i, isID := byID[name]
		at, isRef := byRef[name]
		switch {
		case isID && isRef && i != at:
			return 0, fmt.Errorf(
				"results in %s: %s is the id of a document and the ref of another one, "+
					"so pairs do not tell which is meant: run the job again", folder.Path, name)
		case !isID && !isRef:
			return 0, fmt.Errorf("results in %s are not whole: pairs has %s, which is no document: run the job again",
				folder.Path, name)
		case !isID:
			r.members[at].Repeated = true
			return at, nil
		}
		return i, nil
	}
	for reject, err := range finished.Rows[output.Reject](ctx, folder, output.Rejects) {
		if err != nil {
			return err
		}
		r.rejects = append(r.rejects, reject)
	}
	for pair, err := range finished.Rows[output.Pair](ctx, folder, output.Pairs) {
		if err != nil {
			return err
		}
		a, err := find(pair.A)
		if err != nil {
			return err
		}
		b, err := find(pair.B)
		if err != nil {
			return err
		}
		if pair.Jaccard < threshold {
			continue
		}
		r.pairs = append(r.pairs, pair)
		r.edges = append(r.edges, records.Edge[records.Number]{A: min(a, b), B: max(a, b), Score: scoreOf(&pair)})
	}
	return nil
}

// scoreOf returns a score of the similarity of a pair: the smallest whole numbers whose quotient it is.
func scoreOf(p *output.Pair) records.Score {
	if p.Identical {
		return records.NewScore(1, 1, false)
	}
	shared, union := fraction(p.Jaccard)
	return records.NewScore(shared, union, false)
}

// mostShingles bounds the denominators of similarities. It is more than the shingles of two documents can be.
const mostShingles = 1 << 27

// fraction returns a numerator and a denominator whose quotient is x, which is above 0 and at most 1: the first of the
// convergents of its continued fraction that gives it back. A quotient of numbers below 2^26, in its lowest terms, is
// one of these.
func fraction(x float64) (numerator, denominator int) {
	const unit = 1 << 63
	over, under := uint64(math.Round(x*unit)), uint64(unit)
	lastN, n, lastD, d := uint64(0), uint64(1), uint64(1), uint64(0)
	for under > 0 {
		whole := over / under
		over, under = under, over%under
		lastN, n, lastD, d = n, whole*n+lastN, d, whole*d+lastD
		if float64(n)/float64(d) == x || d > mostShingles {
			break
		}
	}
	return int(n), int(d)
}
