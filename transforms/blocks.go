package transforms

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
)

// blocks writes the block of every distinct document, by split, and a mark for each
// block. It reports whether there are any.
func (f *placeFn) blocks(runs []string, m *work.Memory) (bool, error) {
	var all []candidates.Sized
	inputs := map[docref.Ref]docref.Ref{} // of documents of the reference, the equal ones of the input
	var part components.Part
	err := work.EachPart(runs, records.Distinct, m, func(_ int, nodes []byte) error {
		part = records.DecodePart(part, nodes)
		for i, ref := range part.Refs {
			if first := part.Refs[part.Parents[i]]; first != ref {
				inputs[first] = ref
				continue
			}
			all = append(all, candidates.Sized{Ref: ref, Size: part.Weights[i]})
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		return false, err
	}
	// A task holds two blocks, at 8 bytes a shingle.
	blocks := candidates.Blocks(all, f.Job.PlaceBytes/16)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(all[i].Ref, all[j].Ref) })
	for _, i := range order {
		ref := all[i].Ref
		if err := records.WriteWanted(&m.Run, documents.SplitOf(f.Starts, ref), records.Want{Ref: ref, Place: int(blocks[i]), Input: inputs[ref]}); err != nil {
			return false, err
		}
	}
	for block := range blocks[len(blocks)-1] + 1 {
		if _, err := m.Run.Record(records.Blocks, int(block), 1); err != nil {
			return false, err
		}
	}
	return true, nil
}

// block compares the documents of a block with each other and with those of the
// blocks before it.
func (f *scoreFn) block(ctx context.Context, t work.Task, w *work.Place) error {
	own, err := readSets(ctx, w, &w.Hashes)
	if err != nil {
		return err
	}
	own.sortBySize()
	w.Outcome.AllPairs = true
	graph := f.part(t.Number)
	others, hashes := own, []uint64(nil)
	for block := t.Number; ; {
		for i := range own.sets {
			if err := ctx.Err(); err != nil {
				return err
			}
			smaller := others.sets
			if others == own {
				smaller = own.sets[:i]
			}
			if err := f.compare(w, &graph, &own.sets[i], smaller); err != nil {
				return err
			}
		}
		if block--; block < 0 {
			break
		}
		if w.Pieces, err = runfile.ReadCatalog(t.Catalog, block); err != nil {
			return err
		}
		if others, err = readSets(ctx, w, &hashes); err != nil {
			return err
		}
		others.sortBySize()
		if !f.sizesAllow(&others.sets[len(others.sets)-1], &own.sets[0]) {
			break
		}
	}
	w.Figures.Records += w.Outcome.Counts.Candidates
	return records.WritePart(&w.Run, records.EdgeNodes, graph.number, graph.part)
}

// compare scores a document with those of others that are large enough; they
// are ordered by size, and none is larger.
func (f *scoreFn) compare(w *work.Place, graph *edgeWriter, document *gatheredSet, others []gatheredSet) error {
	from := sort.Search(len(others), func(i int) bool { return f.sizesAllow(&others[i], document) })
	for i := from; i < len(others); i++ {
		other := &others[i]
		x, y, compared := candidates.Ends(other.class(), document.class(), f.FirstInput)
		if !compared {
			continue
		}
		w.Outcome.Counts.Candidates++
		e, ok := f.Job.score(other, document)
		if !ok {
			continue
		}
		if err := graph.add(&w.Run, other.of(x), document.of(y), e); err != nil {
			return err
		}
	}
	return nil
}

// sizesAllow reports whether two documents could reach the threshold if the
// smaller one were part of the larger one.
func (f *scoreFn) sizesAllow(smaller, larger *gatheredSet) bool {
	return float64(smaller.size)/float64(larger.size) >= f.Job.Threshold
}

// sortBySize orders the documents by size, then by ref.
func (g *gatheredSets) sortBySize() {
	slices.SortFunc(g.sets, func(a, b gatheredSet) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.ref, b.ref))
	})
}
