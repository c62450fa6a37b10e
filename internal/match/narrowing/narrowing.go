package narrowing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/match/groups"
	"mirrorbeam/internal/measure/documents"
)

// Planning makes a [Filter] of what is new, and the tasks that use it.
type Planning struct {
	// Verdicts is the path of a table of the similar pairs of the last run.
	Verdicts work.Path
}

// Plan makes a task for each split. The step's own outcome has the counts of the whole corpus.
func (n *Planning) Plan(_ context.Context, p *work.Planning) error {
	p.Outcome.Counts = p.Counts
	filter, err := n.filter(p)
	if err != nil {
		return err
	}
	written := ""
	var failed error
	d := work.Delivery{Needed: []runfile.Kind{records.Documents}, Extra: []runfile.Kind{records.Sets, records.Pages}}
	err = d.Deliver(string(p.Runs.Folder), work.RunsOf(p.Outcomes), p.Counts, func(t work.Task) {
		if written != t.Catalog {
			written, failed = t.Catalog, filter.write(filterPath(t.Catalog))
		}
		if failed == nil {
			p.Emit(t)
		}
	})
	if err = cmp.Or(err, failed); err != nil {
		return fmt.Errorf("make tasks that leave documents out: %w", err)
	}
	return nil
}

// filter makes the filter of the tasks.
func (n *Planning) filter(p *work.Planning) (*Filter, error) {
	var made []work.Outcome // of splits that were read
	shingles := int64(0)
	for _, o := range p.Outcomes {
		if o.Kept != "" {
			made = append(made, o)
			shingles += o.Shingles
		}
	}
	f := &Filter{shingles: newTable(shingles, 8*sketchblock.HashSize)}
	err := work.EachRecordOf(made, work.Fingerprint, records.Sets, p.Memory, func(packed []byte) error {
		p.Hashes = sketchblock.AppendSet(p.Hashes[:0], packed)
		for _, hash := range p.Hashes {
			f.shingles.add(hash)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the shingles of new documents: %w", err)
	}
	verdicts, err := groups.OpenVerdicts(string(n.Verdicts))
	if err != nil {
		return nil, err
	}
	f.digests = newTable(2*int64(verdicts.Len()), 64)
	for i := range verdicts.Len() {
		v := verdicts.At(i)
		f.digests.add(v.A[0])
		f.digests.add(v.B[0])
	}
	return f, nil
}

// Narrowing writes the sketch blocks of a split again, without the documents that can be in no pair.
type Narrowing struct {
	// Inputs is the path of the list of inputs.
	Inputs work.Path
	// Threshold is the least similarity of a pair, above 0 and at most 1.
	Threshold float64
	// Shards is the number of shards over which ids are spread.
	Shards int

	layout documents.Layout // read in Setup
}

// Setup reads the list of inputs.
func (n *Narrowing) Setup() error { return n.layout.Read(string(n.Inputs)) }

// Task narrows a split. The blocks of a split that was read stay as they are. Documents that share an id are told apart
// whether they are in pairs or not: of those that are left out, the task writes the hashes of the ids.
func (n *Narrowing) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	filter, err := readFilter(filterPath(t.Catalog))
	if err != nil {
		return err
	}
	w.Hold(filter)
	o := narrowed{Narrowing: n, desk: w, split: t.Number, filter: filter}
	if len(n.layout.Inputs.Units[t.Number]) == 0 {
		return o.pass(ctx)
	}
	if err := o.link(records.Pages); err != nil {
		return err
	}
	err = w.EachSet(ctx, o.add)
	return errors.Join(err, o.write())
}

// narrowed is a split on its way to narrowed blocks.
type narrowed struct {
	*Narrowing
	desk    *work.Desk
	split   int
	filter  *Filter
	builder *sketchblock.Builder
	simhash []uint64
	keys    []uint64
}

// blockDocuments is the largest number of documents of a block that a task writes.
const blockDocuments = 4096

// pass passes on a split that was read.
func (n *narrowed) pass(ctx context.Context) error {
	if err := n.link(records.Pages, records.Documents, records.Sets); err != nil {
		return err
	}
	return n.desk.EachBlock(ctx, func(block *sketchblock.Block, sets runfile.Piece) error {
		n.desk.Outcome.Shingles += sets.Length / sketchblock.HashSize
		for i := range block.Len() {
			if err := n.know(block, i, true); err != nil {
				return err
			}
		}
		return nil
	})
}

// link passes on the pieces of some kinds.
func (n *narrowed) link(kinds ...runfile.Kind) error {
	for _, piece := range n.desk.Pieces {
		if slices.Contains(kinds, piece.Kind) {
			if err := n.desk.Run.Link(piece.Kind, n.split, piece, piece.Mark); err != nil {
				return err
			}
		}
	}
	return nil
}

// know writes the record of a document that the last run may have found in a pair.
func (n *narrowed) know(block *sketchblock.Block, i int, isKeyed bool) error {
	d := block.Digest(i)
	if !n.filter.digests.has(d[0]) {
		return nil
	}
	return records.WriteKnown(&n.desk.Run, records.KnownDocument{
		Digest: d, Scope: block.Scope(i), Ref: block.Ref(i), Size: uint32(block.Size(i)), Keyed: isKeyed,
	})
}

// add adds a document if it may be in a pair. If none of its pairs is new, its set stays behind.
func (n *narrowed) add(block *sketchblock.Block, i int, set []byte) error {
	n.desk.Figures.Records++
	isKeyed := n.filter.mayPair(set, MayLack(block.Size(i), n.Threshold))
	switch {
	case isKeyed:
		n.desk.Outcome.Shingles += int64(block.Stored(i))
	case !n.filter.digests.has(block.Digest(i)[0]):
		return groups.WriteID(&n.desk.Run, n.Shards, block.Ref(i), block.ID(i))
	default:
		set = set[:0]
	}
	if err := n.know(block, i, isKeyed); err != nil {
		return err
	}
	n.simhash, n.keys = block.SimHash(n.simhash[:0], i), n.keys[:0]
	for k := range block.Keys() {
		n.keys = append(n.keys, block.Key(i, k))
	}
	if n.builder == nil {
		n.builder = sketchblock.NewBuilder(len(n.keys), len(n.simhash))
	}
	n.builder.Add(sketchblock.Document{
		Ref: block.Ref(i), Digest: block.Digest(i), Sequence: set, Size: block.Size(i), Standing: block.Standing(i), Scope: block.Scope(i),
		Side: block.Side(i), Source: block.Source(i), Keys: n.keys, SimHash: n.simhash, ID: block.ID(i),
	})
	if n.builder.Len() == blockDocuments {
		return n.write()
	}
	return nil
}

// write writes the block.
func (n *narrowed) write() error {
	if n.builder == nil || n.builder.Len() == 0 {
		return nil
	}
	run := &n.desk.Run
	if err := run.Section(records.Documents, n.split, n.builder.Documents()...); err != nil {
		return err
	}
	if err := run.Section(records.Sets, n.split, n.builder.Sets()); err != nil {
		return err
	}
	n.builder.Reset()
	return nil
}
