package transforms

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
)

// Where all pairs are compared there are no candidates to gather. The all,
// ordered by size, are cut into blocks; each set is sent once, to its block; and
// the task of a block compares it with itself and with the blocks of smaller
// documents before it, as far as their sizes allow the threshold.

// comparesAll reports whether all pairs of a corpus are compared.
func (j *Job) comparesAll(counts work.Counts) bool {
	return j.Keys == methods.All || counts.Documents+counts.ReferenceDocuments <= j.AllPairsUpTo
}

// digests writes a record for each document of a split that brings it together with
// equal ones only.
func (f *keyFn) digests(ctx context.Context, w *work.Place) error {
	return w.EachBlock(ctx, func(block *sketchblock.Block, _ runfile.Piece) error {
		w.Figures.Records += int64(block.Len())
		for i := range block.Len() {
			record := candidates.Record{Ref: block.Ref(i), Digest: block.Digest(i), Size: uint32(block.Size(i))}
			if err := writeDigestAs(records.Digests, &w.Run, f.Job, record); err != nil {
				return err
			}
			if err := writeID(&w.Run, f.Job, block, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// equals writes the stars of equal documents of a shard, and its distinct documents.
func (f *groupFn) equals(shard int, w *work.Place) error {
	keys, err := sortKeys(w, records.Digests, shard, f.Job.Shards, nil)
	if err != nil {
		return err
	}
	if err := f.writeDistinct(&w.Run, shard, keys); err != nil {
		return err
	}
	var failed error
	var stars starWriter
	g := candidates.Grouper{
		MaxComparisons: math.MaxInt64, FirstInput: f.FirstInput,
		Candidate: func(_, _ *candidates.Record) {},
		Identical: func(first, other *candidates.Record) {
			if err := stars.add(&w.Run, shard, first, other); err != nil {
				failed = err
			}
		},
	}
	g.Groups(keys)
	if failed != nil {
		return failed
	}
	return records.WritePart(&w.Run, records.EdgeNodes, shard, stars.part)
}

// writeDistinct writes the first of the documents under each key as a node: every
// one of them is compared with every other. Where that is of the reference, the first
// equal one of the input, if there is one, is a node joined to it.
func (f *groupFn) writeDistinct(run *runfile.Writer, shard int, keys []candidates.Record) error {
	n, first := uint32(0), uint32(0)
	for i, r := range keys {
		isEqual := i > 0 && keys[i-1].Digest == r.Digest
		if !isEqual {
			first = n
		}
		if r.Size == 0 || isEqual && (keys[i-1].Ref >= f.FirstInput || r.Ref < f.FirstInput) {
			continue
		}
		if err := records.WriteNode(run, records.Distinct, shard, r.Ref, r.Size, first); err != nil {
			return err
		}
		n++
	}
	return nil
}

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
