package pruning

import (
	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
)

// probing sets documents of a split aside for the audit: those among which it looks for partners, and which may be
// similar to a document that it samples. So the audit does not look at all documents once more.
type probing struct {
	*Pruning
	filter      *Filter
	taskContext *work.TaskContext
	hashes      *documents.AuditHashes
	split       int
	// sampled and probed are the limits of the hashes of documents that the audit may sample, which were set apart
	// before, and of all that it looks at. Probed is 0 if none is to be set apart.
	sampled, probed uint64
	forAudit        []byte
}

// newProbing returns the probing of a task. If some blocks have no heads, the documents have been set apart, unless the
// audit looks at all.
func newProbing(n *Pruning, f *Filter, w *work.TaskContext, split int) probing {
	p := probing{Pruning: n, filter: f, taskContext: w, split: split, hashes: n.layout.Inputs.NewAuditHashes()}
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
	return p.hashes.Of(ref, block.DigestLead(i)), isReference
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
