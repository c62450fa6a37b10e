package scoring

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

// block compares the documents of a block with each other and, while sizes allow, with smaller ones of earlier blocks.
func (s *Sets) block(ctx context.Context, t work.Task, w *work.TaskContext, edges *edgeWriter) error {
	own, err := readBlock(w, t.Number, &w.Hashes)
	if err != nil {
		return err
	}
	if err := s.compareBlocks(ctx, w, edges, own, own); err != nil {
		return err
	}
	var hashes []uint64
	for number := t.Number - 1; number >= 0; number-- {
		if w.Pieces, err = runfile.ReadCatalog(t.Catalog, number); err != nil {
			return err
		}
		smaller, err := readBlock(w, number, &hashes)
		if err != nil {
			return err
		}
		if !s.sizesAllow(smaller[len(smaller)-1].size, own[0].size) {
			break
		}
		if err := s.compareBlocks(ctx, w, edges, own, smaller); err != nil {
			return err
		}
	}
	return nil
}

// readBlock returns the documents of a block ordered by size, then by ref.
func readBlock(w *work.TaskContext, number int, memory *[]uint64) ([]document, error) {
	g, err := readSets(w, memory)
	if err != nil {
		return nil, err
	}
	if len(g.documents) == 0 {
		return nil, fmt.Errorf("the sets of block %d are missing", number)
	}
	slices.SortFunc(g.documents, func(a, b document) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.ref, b.ref))
	})
	return g.documents, nil
}

// compareBlocks compares the documents of a block with the documents of another block, which may be the same one.
func (s *Sets) compareBlocks(ctx context.Context, w *work.TaskContext, edges *edgeWriter,
	own, others []document,
) error {
	for i := range own {
		if err := ctx.Err(); err != nil {
			return err
		}
		smaller := others
		if &own[0] == &others[0] {
			smaller = own[:i]
		}
		if err := s.compareAll(w, edges, &own[i], smaller); err != nil {
			return err
		}
	}
	return nil
}

// compareAll compares a document with the others that are large enough. They ascend by size up to its own.
func (s *Sets) compareAll(w *work.TaskContext, edges *edgeWriter, d *document, others []document) error {
	from := sort.Search(len(others), func(i int) bool { return s.sizesAllow(others[i].size, d.size) })
	for i := from; i < len(others); i++ {
		other := &others[i]
		x, y, compared := candidates.Ends(other.class(), d.class(), s.layout.FirstInput)
		if !compared || other.scope != d.scope || s.reused.Both(x, y) {
			continue
		}
		w.Outcome.Counts.Candidates++
		score, ok := s.compare(other, d)
		if !ok {
			continue
		}
		if err := edges.add(other.of(x), d.of(y), score); err != nil {
			return err
		}
	}
	return nil
}
