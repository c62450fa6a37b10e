// Package groups brings the documents of a key together. From the key records of a shard it makes candidate pairs and
// the stars of equal documents. From the records of ids it finds the documents that share an id. A group of very many
// pairs is oversized: it waits until all of them are known. Then [Bounds] say which are compared. The others are dense.
package groups

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
)

// OversizedStep is the step of the tasks that go through the oversized groups of a shard.
const OversizedStep = 1

// limitShard is the shard of the catalog that holds the limit and the dense keys.
const limitShard = 0

// OversizedGroups decides which oversized groups are compared, and makes the tasks that compare them.
type OversizedGroups struct {
	Bounds Bounds
	// Exact and Stars are as in [Keyed].
	Exact, Stars bool
}

// Plan lists the dense groups of the outcomes and makes the tasks of [OversizedStep].
func (c *OversizedGroups) Plan(_ context.Context, p *work.Planning) error {
	var oversizedGroups []work.OversizedGroup
	for _, o := range p.Outcomes {
		oversizedGroups = append(oversizedGroups, o.OversizedGroups...)
	}
	if len(oversizedGroups) == 0 {
		p.Runs.ReleaseStage(p.Outcomes, work.Key)
		return nil
	}
	list, dense, err := writeLimit(p, oversizedGroups,
		c.limit(oversizedGroups, p.Counts.Documents+p.Counts.ReferenceDocuments))
	if err != nil {
		return fmt.Errorf("list dense groups: %w", err)
	}
	d := work.Delivery{
		Step:   OversizedStep,
		Needed: []runfile.Kind{records.OversizedGroups},
		Extra:  []runfile.Kind{records.Limit},
	}
	runs := work.RunsIn(p.Outcomes, work.Group)
	if dense && !c.Exact && !c.Stars {
		// Pairs that have met under dense keys only are compared under others.
		d.Needed = append(d.Needed, records.Keys)
		runs = work.RunsBut(p.Outcomes, work.Fingerprint, work.Strip)
	} else {
		p.Runs.ReleaseStage(p.Outcomes, work.Key)
	}
	if err := p.Deliver(d, append(runs, list)); err != nil {
		return fmt.Errorf("make tasks of dense groups: %w", err)
	}
	return nil
}

// limit returns the largest number of pairs of an oversized group that is compared. Comparing two texts for passages
// takes hundreds of times as long as comparing two sets. So the limit is small where dense groups are stars.
func (c *OversizedGroups) limit(oversizedGroups []work.OversizedGroup, documents int64) int64 {
	if c.Stars {
		return c.Bounds.Passages
	}
	pairs := make([]int64, len(oversizedGroups))
	for i := range oversizedGroups {
		pairs[i] = oversizedGroups[i].Pairs
	}
	return c.Bounds.Limit(pairs, documents)
}

// writeLimit writes the limit and the keys of dense groups, and returns the path. Dense says whether there are any.
func writeLimit(p *work.Planning, oversizedGroups []work.OversizedGroup,
	limit int64,
) (path string, dense bool, err error) {
	p.Runs.Begin(&p.Run)
	defer p.Run.Abort()
	packed := binary.LittleEndian.AppendUint64(nil, uint64(limit))
	for _, c := range oversizedGroups {
		if c.Pairs > limit {
			packed = binary.LittleEndian.AppendUint64(packed, c.ID)
			dense = true
		}
	}
	if err := p.Run.Section(records.Limit, limitShard, packed); err != nil {
		return "", false, err
	}
	path, err = p.Run.Close()
	return path, dense, err
}

func readLimit(w *work.TaskContext, catalog string) (limit int64, dense graphs.Numbering[uint32], err error) {
	pieces, err := runfile.ReadCatalog(catalog, limitShard)
	if err != nil {
		return 0, dense, err
	}
	packed, err := w.Reader.ReadKind(nil, pieces, records.Limit)
	if err != nil {
		return 0, dense, err
	}
	limit = int64(binary.LittleEndian.Uint64(packed))
	for packed = packed[8:]; len(packed) > 0; packed = packed[8:] {
		dense.Add(binary.LittleEndian.Uint64(packed))
	}
	return limit, dense, nil
}

// OversizedGroups goes through the oversized groups of a shard. It compares those that are not dense, and gathers the
// documents of dense ones in hot groups. It also compares pairs that have met under dense keys only.
func (k *Keyed) OversizedGroups(w *work.TaskContext, t work.Task) error {
	limit, dense, err := readLimit(w, t.Catalog)
	if err != nil {
		return err
	}
	// These parts are numbered after the parts of the first time.
	part := k.Shards + t.Number
	var failed error
	pairs := NewPairs(w, part)
	pairs.reused = k.Reused
	g := k.grouper(w, &pairs, &failed)
	g.DenseKeys = dense
	sorting := sorting{
		kind:     records.Keys,
		shard:    t.Number,
		shards:   k.Shards,
		held:     cmp.Or(k.large.records, RecordsAtATime(k.KeyBytes)),
		previous: unmetBefore(g),
	}
	err = sorting.read(w, func(keys []candidates.Record) error {
		g.Again(keys)
		return failed
	})
	if err != nil {
		return err
	}
	packed, err := w.Read(0, records.OversizedGroups)
	if err != nil {
		return err
	}
	hotGroup := hotGroupMembers{run: &w.Run, part: part, grouper: g}
	for oversizedGroup := (records.OversizedReader{Packed: packed}); failed == nil && oversizedGroup.Next(); {
		switch {
		case oversizedGroup.Pairs <= limit:
			g.OversizedGroup(readOversized(&oversizedGroup, w))
		case k.Stars:
			group := readOversized(&oversizedGroup, w)
			g.Star(group)
			findings.Merge(&w.Outcome.Skipped, k.Layout.Starred(group, oversizedGroup.Pairs))
		default:
			failed = hotGroup.add(&oversizedGroup)
		}
	}
	if failed != nil {
		return failed
	}
	return pairs.Finish()
}

// unmetBefore returns the function that separates the records of dense groups, which are not compared again.
func unmetBefore(g *candidates.Grouper) func(packed []byte) uint64 {
	return func(packed []byte) uint64 {
		r := candidates.Record{Key: binary.LittleEndian.Uint64(packed), Position: records.KeyPosition(packed)}
		if _, isDense := g.DenseKeys.Find(g.KeyID(&r)); isDense {
			return 0
		}
		return candidates.Unmet
	}
}

func readOversized(c *records.OversizedReader, w *work.TaskContext) []candidates.Record {
	growKeys(w, c.Documents)
	for i := range w.Keys {
		c.Record(&w.Keys[i])
	}
	return w.Keys
}

// hotGroupMembers writes the documents of dense groups. Dense groups that share documents make one hot group.
type hotGroupMembers struct {
	run     *runfile.Writer
	part    int
	grouper *candidates.Grouper // knows the dense keys
}

// add adds the documents of a dense group. Documents that have had a dense key before are in the hot group of that key
// already. So one of them for each such key joins the two groups.
func (w *hotGroupMembers) add(oversizedGroup *records.OversizedReader) error {
	var other docref.Ref
	joined := map[uint64]bool{}
	var r candidates.Record
	for i := range oversizedGroup.Documents {
		if oversizedGroup.Record(&r); i == 0 {
			other = r.Ref
		}
		if key, has := w.grouper.DenseBefore(&r); has {
			if joined[key] {
				continue
			}
			joined[key] = true
		}
		m := records.HotGroupMember{Ref: r.Ref, Other: other, Size: r.Size}
		if r.Second != r.Ref {
			m.Second = r.Second
		}
		if err := records.Write(w.run, records.HotGroupMembers, w.part, &m); err != nil {
			return err
		}
	}
	return nil
}

// Bounds limit how many pairs of very similar documents are compared. They change which pairs are listed.
type Bounds struct {
	// Group is the largest number of new pairs of a group, the documents under one key, that are compared at once. A
	// pair is new if it has not met under another key. A group of more pairs is oversized.
	Group int64
	// Corpus is the largest number of documents for which a corpus is compared fully, whatever its groups are.
	Corpus int64
	// In a larger corpus all oversized groups together have Spare pairs, plus Each for each document. So have the stars
	// of hot groups together: a star is the documents that are like one pivot. A listed pair takes some 2 microseconds,
	// a document that is like no other 3 to 7.
	Spare, Each int64
	// Passages is the number of pairs that are compared under one passage, if passages are looked for.
	Passages int64
	// Noted is the number of documents that are noted for each one of a large group that is like them, if keys are of
	// SimHash. The pairs of a document that are listed beyond the pairs of Group are with these.
	Noted int64
}

// SmallCorpus is the largest number of documents for which a corpus is compared fully, whatever its groups are.
const SmallCorpus = 4096

// UsualBounds returns the bounds of all jobs; only tests use others.
func UsualBounds() Bounds {
	return Bounds{
		Group:    128 * 127 / 2, // all pairs of 128 documents
		Corpus:   SmallCorpus,
		Spare:    4 << 20,
		Each:     8,
		Passages: 256 * 255 / 2, // larger groups share a passage from a licence or a form
		Noted:    8,
	}
}

// Allowed returns how many pairs the oversized groups of a corpus may have together, given its number of documents.
func (b *Bounds) Allowed(documents int64) int64 {
	if documents <= b.Corpus {
		return documents * documents
	}
	return b.Spare + b.Each*documents
}

// Limit returns the largest number of pairs of an oversized group that is compared in a corpus of that many documents,
// given the pairs of each oversized group. The limit is a power of two. All oversized groups within it together have no
// more pairs than the bounds allow.
func (b *Bounds) Limit(oversizedGroups []int64, documents int64) int64 {
	var byLength [64]int64
	for _, pairs := range oversizedGroups {
		byLength[bits.Len64(uint64(pairs-1))] += pairs
	}
	allowed, sum := b.Allowed(documents), int64(0)
	for length, pairs := range byLength[:62] {
		if sum += pairs; sum > allowed {
			return 1 << length >> 1
		}
	}
	return 1 << 62
}
