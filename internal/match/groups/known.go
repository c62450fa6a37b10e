package groups

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/digest"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/settle/state"
)

// Known writes the edges between documents of unchanged files that have no keys in this run: the last run has found them equal, or
// similar. Documents that have keys meet under them, so between two of these it writes no edge.
type Known struct {
	// Verdicts is the path of a table of the similar pairs of the last run.
	Verdicts work.Path
	// Shards is the number of shards over which keys are spread.
	Shards int
}

// KnownDelivery makes the task of [Known]. There is one at most.
func KnownDelivery() work.Delivery { return work.Delivery{Needed: []runfile.Kind{records.Known}} }

// Task writes the edges, as a part of the similarity graph behind the parts of all shards and crowds.
func (k *Known) Task(ctx context.Context, _ work.Task, w *work.Desk) error {
	packed, err := w.Read(0, records.Known)
	if err != nil {
		return err
	}
	verdicts, err := OpenVerdicts(string(k.Verdicts))
	if err != nil {
		return err
	}
	w.Hold(verdicts)
	known, edges := newKnownClasses(packed), NewEdges(w, 2*k.Shards)
	if err := known.stars(&edges); err != nil {
		return err
	}
	for i := range verdicts.Len() {
		if i&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := known.join(&edges, verdicts.At(i)); err != nil {
			return err
		}
	}
	return edges.Finish()
}

// knownClasses are documents in the order of digests, scopes and refs. Equal documents of one scope are a class. The first of them
// stands for all.
type knownClasses []records.KnownDocument

func newKnownClasses(packed []byte) knownClasses {
	c := make(knownClasses, len(packed)/records.KnownSize)
	for i := range c {
		c[i] = records.GetKnown(packed[i*records.KnownSize:])
	}
	c = graphs.RadixSort(c, make(knownClasses, len(c)), func(d *records.KnownDocument) uint64 { return d.Digest[0] })
	slices.SortFunc(c, func(a, b records.KnownDocument) int { // little is left to sort
		return cmp.Or(digest.Compare(a.Digest, b.Digest), cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Ref, b.Ref))
	})
	return c
}

// cut returns the documents of the first class, and those of all others.
func (c knownClasses) cut() (class, rest knownClasses) {
	n := 1
	for n < len(c) && c[n].Digest == c[0].Digest && c[n].Scope == c[0].Scope {
		n++
	}
	return c[:n], c[n:]
}

// from returns the documents whose digests are not before the given one.
func (c knownClasses) from(d digest.Digest) knownClasses {
	return c[sort.Search(len(c), func(i int) bool { return digest.Compare(c[i].Digest, d) >= 0 }):]
}

// stars writes the edges from the first document of each class to the others.
func (c knownClasses) stars(edges *Edges) error {
	for len(c) > 0 {
		var class knownClasses
		class, c = c.cut()
		first := &class[0]
		for i := 1; i < len(class) && !first.Keyed; i++ {
			size := int(first.Size)
			if err := edges.Add(nodeOf(first), nodeOf(&class[i]), records.NewScore(size, size, false)); err != nil {
				return err
			}
		}
	}
	return nil
}

// join writes the edges that a verdict is about: one for each scope that has documents of both digests.
func (c knownClasses) join(edges *Edges, v state.Verdict) error {
	if v.A == v.B {
		return nil
	}
	a, b := c.from(v.A), c.from(v.B)
	for len(a) > 0 && len(b) > 0 && a[0].Digest == v.A && b[0].Digest == v.B {
		switch x, y := &a[0], &b[0]; cmp.Compare(x.Scope, y.Scope) {
		case -1:
			_, a = a.cut()
		case 1:
			_, b = b.cut()
		default:
			if !x.Keyed || !y.Keyed {
				if err := edges.Add(nodeOf(x), nodeOf(y), v.Score); err != nil {
					return err
				}
			}
			_, a = a.cut()
			_, b = b.cut()
		}
	}
	return nil
}

// nodeOf returns the record of a document as [Edges] takes it.
func nodeOf(d *records.KnownDocument) *candidates.Record {
	return &candidates.Record{Ref: d.Ref, Size: d.Size}
}
