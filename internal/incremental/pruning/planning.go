package pruning

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/incremental/cached"

	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
)

// ofBlocks returns the kinds of the documents and the sets that the stage fingerprint has written.
func (n *Pruning) ofBlocks() (ofDocuments, ofSets runfile.Kind) {
	if n.IsStripped {
		return records.WholeDocuments, records.WholeSets
	}
	return records.Documents, records.Sets
}

const shingleBits = 8 * sketchblock.HashSize

// scorer says what is compared of documents.
func (n *Pruning) scorer() methods.Scorer {
	m, _ := methods.Of(n.Method)
	return m.Scorer(&n.Parameters)
}

// Plan makes a [Filter] of what is new, and a task for each split. Its own outcome has the counts of the corpus.
func (n *Pruning) Plan(ctx context.Context, p *work.Planning) error {
	p.Outcome.Counts = p.Counts
	filter, err := n.filter(ctx, p)
	if err != nil {
		return err
	}
	written := ""
	var failed error
	d := work.Delivery{
		Needed: []runfile.Kind{records.Documents},
		Extra:  []runfile.Kind{records.Sets, records.Heads, records.Pages},
	}
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

func (n *Pruning) filter(ctx context.Context, p *work.Planning) (*Filter, error) {
	var made []work.Outcome // of splits that were read
	fresh := int64(0)
	for _, o := range p.Outcomes {
		if o.Kept != "" {
			made = append(made, o)
			fresh += o.Counts.Documents
		}
	}
	var shared []uint64 // ids that documents of the last run share
	if n.SharedIDs != "" {
		if err := groups.EachSharedID(string(n.SharedIDs), p.Memory, func(id uint64) {
			shared = append(shared, id)
		}); err != nil {
			return nil, fmt.Errorf("read the ids that documents share: %w", err)
		}
	}
	f := &Filter{ids: NewMarks(fresh + int64(len(shared))), bands: NewMarks(fresh * int64(n.Scheme.Bands))}
	for _, id := range shared {
		f.ids.Add(id)
	}
	if n.scorer().Reads == methods.Texts {
		if err := n.addKeys(f, made, p.Memory); err != nil {
			return nil, fmt.Errorf("read the ids of new documents: %w", err)
		}
		f.shingles, f.sampled = NewTable(0, shingleBits), NewTable(0, shingleBits)
		return f, n.addTouched(ctx, f, made, p)
	}
	var err error
	if n.scorer().IsDistance {
		f.shingles = NewTable(0, shingleBits)
		err = n.addFingerprints(f, made, p)
	} else {
		err = n.addSets(f, made, p.Memory)
	}
	if err != nil {
		return nil, fmt.Errorf("read the sketches of new documents: %w", err)
	}
	if err := n.addKeys(f, made, p.Memory); err != nil {
		return nil, fmt.Errorf("read the ids and the keys of new documents: %w", err)
	}
	if err := n.addSample(f, p); err != nil {
		return nil, fmt.Errorf("read the sample of the audit: %w", err)
	}
	cachedPairs, err := cached.OpenPairs(string(n.Paired))
	if err != nil {
		return nil, err
	}
	f.digests = NewMarks(2 * int64(cachedPairs.Len()))
	for i := range cachedPairs.Len() {
		v := cachedPairs.At(i)
		f.digests.Add(v.A[0])
		f.digests.Add(v.B[0])
	}
	return f, nil
}

// addSets adds the shingles of new documents to a filter. Common ones do no harm: they are in no set that is looked up.
// Heads cannot tell very many shingles apart, and whole sets would have to be read. Then band keys decide alone, where
// documents have any.
func (n *Pruning) addSets(f *Filter, made []work.Outcome, m *work.Memory) (err error) {
	_, ofSets := n.ofBlocks()
	each := func(visit func([]byte)) error {
		return work.EachRecordOf(made, work.Fingerprint, ofSets, m, func(packed []byte) error {
			visit(packed)
			return nil
		})
	}
	shingles := int64(0) // which the stage has counted, unless common ones are taken out later
	for _, o := range made {
		shingles += o.Shingles
	}
	if n.IsStripped {
		if shingles, err = shinglesOf(each); err != nil {
			return err
		}
	}
	f.shingles, err = tableOf(shingles, each, n.hasBands())
	return err
}

// hasBands reports whether documents have band keys by now, and are compared if they share one.
func (n *Pruning) hasBands() bool { return n.Scheme.Bands > 0 && !n.IsStripped }

// tableOf returns a table of the shingles in packed sets, which each visits. Shingles is their number. If they are too
// many for heads, and that is forgone, the table has any shingle.
func tableOf(shingles int64, each func(visit func(sets []byte)) error, isForgone bool) (Table, error) {
	table := NewTable(shingles, shingleBits)
	if isForgone && !table.KnowsHeads() {
		table = NewTable(0, shingleBits)
		table.fill()
		return table, nil
	}
	return table, each(table.addAll)
}

func shinglesOf(each func(visit func(sets []byte)) error) (shingles int64, err error) {
	err = each(func(sets []byte) { shingles += int64(len(sets) / sketchblock.HashSize) })
	return shingles, err
}

// addFingerprints adds their fingerprints, which are made after common shingles are taken out of the sets.
func (n *Pruning) addFingerprints(f *Filter, made []work.Outcome, p *work.Planning) error {
	stage := work.Fingerprint
	if n.IsStripped {
		isMade := map[int]bool{}
		for _, o := range made {
			isMade[o.Number] = true
		}
		stage, made = work.Strip, slices.DeleteFunc(slices.Clone(p.Outcomes), func(o work.Outcome) bool {
			return !isMade[o.Number]
		})
	}
	return eachBlock(made, stage, records.Documents, p.Memory, func(block *sketchblock.Block) {
		for i := range block.Len() {
			f.fingerprints = block.SimHash(f.fingerprints, i)
		}
	})
}

// eachBlock visits the sketch blocks of new documents that a stage has written. They lack the numbers of their files.
func eachBlock(made []work.Outcome, stage work.Stage, kind runfile.Kind, m *work.Memory,
	visit func(*sketchblock.Block),
) error {
	return work.EachRecordOf(made, stage, kind, m, func(packed []byte) error {
		block, err := sketchblock.Parse(packed)
		if err == nil {
			visit(&block)
		}
		return err
	})
}

// addKeys adds the ids of new documents to a filter, and their band keys. Where documents of the last run share ids
// that nobody knows, it has any id. It has any key if the documents have none yet: stripped sets get theirs later.
func (n *Pruning) addKeys(f *Filter, made []work.Outcome, m *work.Memory) error {
	knowsIDs := n.DistinctIDs || n.SharedIDs != ""
	if !knowsIDs {
		f.ids.fill()
	}
	if !n.hasBands() {
		f.bands.fill()
	}
	if !knowsIDs && !n.hasBands() {
		return nil
	}
	ofDocuments, _ := n.ofBlocks()
	return eachBlock(made, work.Fingerprint, ofDocuments, m, func(block *sketchblock.Block) {
		for i := range block.Len() {
			f.ids.Add(groups.HashID(block.ID(i)))
			for k := range block.Keys() {
				f.bands.Add(block.Key(i, k))
			}
		}
	})
}

// addSample adds the shingles of the documents from which the audit draws its sample.
func (n *Pruning) addSample(f *Filter, p *work.Planning) (err error) {
	stage := work.Fingerprint
	if n.IsStripped {
		stage = work.Strip
	}
	each := func(visit func([]byte)) error {
		return work.EachRecordOf(p.Outcomes, stage, records.Sample, p.Memory, func(packed []byte) error {
			for d := range records.All[records.AuditDocument](packed) {
				visit(d.Set)
			}
			return nil
		})
	}
	shingles, err := shinglesOf(each)
	if err == nil {
		f.sampled, err = tableOf(shingles, each, false)
	}
	return err
}
