// Package pruning prunes an incremental run: it leaves out the documents that can be in no new pair.
//
// A scheduled job knows the similar pairs of its last run. So a document of an unchanged file can only be in a pair if
// the last run has listed it in one, or equal to another document, or if a document that is new is similar to it. A
// document of n shingles is similar to none, at the threshold t, that lacks more than (1-t)n of them: their union has n
// shingles at least. So it is left out if more than (1-t)n of its shingles are in no new document at all. Most
// documents are ruled out after a few shingles, and a table of bits says whether a new document has a shingle. The
// table may err to one side: it keeps a few documents too many, which are compared and found to be similar to none.
// With MinHash keys, a document that shares no band with a new one is left out, too. If new documents have very many
// shingles, bands decide alone.
//
// Where passages are looked for, keys say all: see the top of passages.go.
//
// What is left is the corpus of all later stages that look for pairs. They need not know of it: in the smaller corpus
// the same pairs are similar.
package pruning

import (
	"context"
	"errors"
	"slices"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
)

// Pruning writes the sketch blocks of a split again, without the documents that can be in no pair.
type Pruning struct {
	Method methods.Name
	methods.Parameters
	// AuditSample is about how many documents the audit samples, 0 for none. The stage sets aside the documents among
	// which the audit looks for partners.
	AuditSample int
	// IsStripped says that common shingles were taken out of the sets, after these were made.
	IsStripped bool
	// Seed is the seed of the digests of sets.
	Seed uint64

	layout documents.Layout   // read in Setup, like the next ones
	shares audit.Shares       // of the documents that the audit looks at
	tables *lshbands.Permuted // of fingerprints; nil if sets are looked at
}

func (n *Pruning) Setup() (err error) {
	if n.scorer().IsDistance {
		if n.tables, err = n.Tables(); err != nil {
			return err
		}
	}
	if err = n.layout.Read(string(n.Inputs)); err == nil {
		n.shares = n.layout.Inputs.AuditShares(n.AuditSample)
	}
	return err
}

// Task prunes a split. The blocks of a split that was read stay as they are. Documents that share an id are told apart
// whether they are in pairs or not. So the task writes the hashes of ids that several documents may share.
func (n *Pruning) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	filter, err := readFilter(filterPath(t.Catalog), n.tables)
	if err != nil {
		return err
	}
	w.Hold(filter)
	o := pruned{probing: newProbing(n, filter, w, t.Number)}
	if len(n.layout.Inputs.Segments[t.Number]) == 0 {
		return errors.Join(o.pass(ctx), o.probing.write())
	}
	if err := o.link(records.Pages); err != nil {
		return err
	}
	switch {
	case n.scorer().Reads == methods.Texts:
		err = eachPassages(ctx, w, fingerprints.NewPassages(n.PassageShingles()), o.prunePassages)
	case n.tables == nil && filter.shingles.KnowsHeads() && filter.sampled.KnowsHeads() && work.HasHeads(w.Pieces):
		err = w.EachHead(ctx, n.Seed, o.pruneByHeads)
	default:
		err = w.EachBlock(ctx, o.prune)
	}
	return errors.Join(err, o.write(), o.probing.write())
}

// pruned is a split on its way to pruned blocks.
type pruned struct {
	probing
	builder *sketchblock.Builder
	simhash []uint64
	bands   []uint64
	paired  []bool // whether each document of the block may have been in a pair, or equal to another
}

const blockDocuments = 4096

func (n *pruned) pass(ctx context.Context) error {
	if err := n.link(records.Pages, records.Documents, records.Sets); err != nil {
		return err
	}
	return n.taskContext.EachBlock(ctx, func(block *sketchblock.Block, sets runfile.Piece) error {
		n.taskContext.Outcome.Shingles += sets.Length / sketchblock.HashSize
		for i := range block.Len() {
			if err := n.tellID(block, i); err != nil {
				return err
			}
			if n.filter.digests.Has(n.equal(block, i)[0]) {
				if err := n.know(block, i, true); err != nil {
					return err
				}
			}
		}
		return n.probing.block(block, sets)
	})
}

func (n *pruned) link(kinds ...runfile.Kind) error {
	for _, piece := range n.taskContext.Pieces {
		if slices.Contains(kinds, piece.Kind) {
			if err := n.taskContext.Run.Link(piece.Kind, n.split, piece, piece.Mark); err != nil {
				return err
			}
		}
	}
	return nil
}

// tellID writes the hash of the id of a document if another one may have it.
func (n *pruned) tellID(block *sketchblock.Block, i int) error {
	id := block.ID(i)
	if len(id) == 0 {
		return nil
	}
	hash := groups.HashID(id)
	if !n.filter.ids.Has(hash) {
		return nil
	}
	return groups.WriteID(&n.taskContext.Run, n.Shards, block.Ref(i), hash)
}

// know writes the record of a document that the last run may have found in a pair.
func (n *pruned) know(block *sketchblock.Block, i int, isKeyed bool) error {
	if n.CachedPairs == "" {
		return nil
	}
	return records.WriteFixed(&n.taskContext.Run, records.Known, 0, records.KnownDocument{
		Digest: n.equal(block, i),
		Scope:  block.Scope(i),
		Side:   block.Side(i),
		Ref:    block.Ref(i),
		Size:   uint32(block.Size(i)),
		Keyed:  isKeyed,
	})
}

// equal returns the digest that documents which are equal under the measure share.
func (n *pruned) equal(block *sketchblock.Block, i int) digest.Digest {
	if n.tables != nil {
		return block.SimHashDigest(i)
	}
	return block.Digest(i)
}

// begin finds the documents of a block that may have been in a pair, and tells their ids. To do so for all before any
// other thing has many look-ups under way together.
func (n *pruned) begin(block *sketchblock.Block) error {
	n.paired = n.paired[:0]
	for i := range block.Len() {
		lead := block.DigestLead(i)
		if n.tables != nil {
			lead = n.equal(block, i)[0]
		}
		n.paired = append(n.paired, n.filter.digests.Has(lead))
	}
	for i := range block.Len() {
		if err := n.tellID(block, i); err != nil {
			return err
		}
	}
	return nil
}

func (n *pruned) prune(block *sketchblock.Block, piece runfile.Piece) error {
	if err := n.begin(block); err != nil {
		return err
	}
	if n.tables != nil {
		for i := range block.Len() {
			n.simhash = block.SimHash(n.simhash[:0], i)
			if err := n.add(block, i, nil, n.filter.near.Has(n.simhash)); err != nil {
				return err
			}
		}
		return nil
	}
	sets, err := n.taskContext.ReadPiece(1, piece)
	if err != nil {
		return err
	}
	for i, set := range block.Sets(sets) {
		mayLack := n.mayLack(block, i)
		if n.probing.wants(block, i) && n.filter.sampled.hasMost(set, mayLack) {
			n.probing.add(block, i, set)
		}
		if err := n.add(block, i, set, n.sharesBand(block, i) && n.filter.mayPair(set, mayLack)); err != nil {
			return err
		}
	}
	return n.probing.flush()
}

// pruneByHeads goes through a block whose sets have heads.
func (n *pruned) pruneByHeads(block *sketchblock.Block, heads *work.Heads) (err error) {
	if err = n.begin(block); err != nil {
		return err
	}
	for i := range block.Len() {
		var set []byte
		head, mayLack := heads.Head(i), n.mayLack(block, i)
		mayPair := n.sharesBand(block, i) && !n.filter.shingles.RulesOut(head, mayLack)
		isProbed := n.probing.wants(block, i) && !n.filter.sampled.RulesOut(head, mayLack)
		if mayPair || isProbed {
			if set, err = heads.Set(i); err != nil {
				return err
			}
			mayPair = mayPair && n.filter.mayPair(set, mayLack)
		}
		if isProbed {
			n.probing.add(block, i, set)
		}
		if err := n.add(block, i, set, mayPair); err != nil {
			return err
		}
	}
	return n.probing.flush()
}

// sharesBand reports whether a document may share a band key with a new one, without which they are not compared.
// Documents without shingles have other keys.
func (n *pruned) sharesBand(block *sketchblock.Block, i int) bool {
	return block.Keys() == 0 || n.filter.bands.hasAny(block.PackedKeys(i)) || block.Size(i) == 0
}

// mayLack returns how many shingles of a document may be in no new one.
func (n *Pruning) mayLack(block *sketchblock.Block, i int) int {
	return sketchblock.MayLack(block.Size(i), n.Threshold)
}

// add adds a document if it may be in a pair. Its set is left out if none of its pairs is new or found again.
func (n *pruned) add(block *sketchblock.Block, i int, set []byte, mayPair bool) error {
	n.taskContext.Figures.Records++
	isPaired := n.paired[i]
	isKeyed := mayPair || isPaired && n.CachedPairs == ""
	if !isKeyed && !isPaired {
		return nil
	}
	if isKeyed {
		n.taskContext.Outcome.Shingles += int64(block.Stored(i))
	}
	if isPaired {
		if err := n.know(block, i, isKeyed); err != nil {
			return err
		}
	}
	if !isKeyed {
		set = nil
	}
	return n.put(block, i, set, isKeyed)
}

func (n *pruned) put(block *sketchblock.Block, i int, set []byte, isKeyed bool) error {
	n.simhash, n.bands = block.SimHash(n.simhash[:0], i), n.bands[:0]
	for k := range block.Keys() {
		n.bands = append(n.bands, block.Key(i, k))
	}
	if n.builder == nil {
		n.builder = sketchblock.NewBuilder(len(n.bands), len(n.simhash))
	}
	n.builder.Add(sketchblock.Document{
		Ref:        block.Ref(i),
		Digest:     block.Digest(i),
		Sequence:   set,
		Size:       block.Size(i),
		Priority:   block.Priority(i),
		Ties:       block.Ties(i),
		Scope:      block.Scope(i),
		Side:       block.Side(i),
		Source:     block.Source(i),
		IsResolved: !isKeyed,
		Keys:       n.bands,
		SimHash:    n.simhash,
		ID:         block.ID(i),
		Capture:    block.Capture(i),
	})
	if n.builder.Len() == blockDocuments {
		return n.write()
	}
	return nil
}

func (n *pruned) write() error {
	if n.builder == nil || n.builder.Len() == 0 {
		return nil
	}
	run := &n.taskContext.Run
	if err := run.Section(records.Documents, n.split, n.builder.Documents()...); err != nil {
		return err
	}
	if err := run.Section(records.Sets, n.split, n.builder.Sets()); err != nil {
		return err
	}
	n.builder.Reset()
	return nil
}

// probing sets documents of a split aside for the audit: those among which it looks for partners, and which may be
// similar to a document that it samples. So the audit does not look at all documents once more.
type probing struct {
	*Pruning
	filter      *Filter
	taskContext *work.TaskContext
	split       int
	// sampled and probed are the limits of the hashes of documents that the audit may sample, which were set apart
	// before, and of all that it looks at. Probed is 0 if none is to be set apart.
	sampled, probed uint64
	forAudit        []byte
}

// newProbing returns the probing of a task. If some blocks have no heads, the documents have been set apart, unless the
// audit looks at all.
func newProbing(n *Pruning, f *Filter, w *work.TaskContext, split int) probing {
	p := probing{Pruning: n, filter: f, taskContext: w, split: split}
	if n.AuditSample > 0 && (n.shares.Probed == 1 || work.HasHeads(w.Pieces)) {
		p.sampled, p.probed = audit.Limit(n.shares.Sampled), audit.Limit(n.shares.Probed)
	}
	return p
}

// wants reports whether the audit looks at a document, and does not sample it.
func (p *probing) wants(block *sketchblock.Block, i int) bool {
	if p.probed == 0 || block.Stored(i) == 0 {
		return false
	}
	hash, isReference := p.hash(block, i)
	return hash < p.probed && (isReference || hash >= p.sampled)
}

func (p *probing) hash(block *sketchblock.Block, i int) (hash uint64, isReference bool) {
	ref := block.Ref(i)
	isReference = ref < p.layout.FirstInput
	return p.layout.Inputs.AuditHash(ref, block.DigestLead(i)), isReference
}

// add sets a document aside, given its packed set.
func (p *probing) add(block *sketchblock.Block, i int, set []byte) {
	p.taskContext.Hashes = sketchblock.AppendSet(p.taskContext.Hashes[:0], set)
	hash, _ := p.hash(block, i)
	d := records.AuditDocument{
		Ref:    block.Ref(i),
		Hash:   hash,
		Digest: block.DigestLead(i),
		Scope:  block.Scope(i),
		Side:   block.Side(i),
	}
	p.forAudit = records.AppendAuditDocument(p.forAudit, d, p.taskContext.Hashes)
}

func (p *probing) block(block *sketchblock.Block, piece runfile.Piece) error {
	if p.probed == 0 {
		return nil
	}
	sets, err := p.taskContext.ReadPiece(1, piece)
	if err != nil {
		return err
	}
	for i, set := range block.Sets(sets) {
		if p.wants(block, i) && p.filter.sampled.hasMost(set, p.mayLack(block, i)) {
			p.add(block, i, set)
		}
	}
	return p.flush()
}

// heldForAudit is about how many bytes of documents a task holds before it writes them.
const heldForAudit = 1 << 20

func (p *probing) flush() error {
	if len(p.forAudit) < heldForAudit {
		return nil
	}
	return p.write()
}

func (p *probing) write() error {
	if len(p.forAudit) == 0 {
		return nil
	}
	err := p.taskContext.Run.Section(records.Probe, p.split, p.forAudit)
	p.forAudit = p.forAudit[:0]
	return err
}
