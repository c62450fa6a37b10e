package documents

import (
	"mirrorbeam/internal/audit"
	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/sources"
	"mirrorbeam/internal/work"
)

// block is a portion of the input and the sketch block that is made of it.
type block struct {
	part    part
	builder *sketchblock.Builder
	rejects []byte
	sampled []byte // records of documents from which the audit draws its sample
	probed  []byte // records of documents among which the audit looks for partners
	counts  work.Counts
	passed  work.PassedOver
	sources sources.Tally // documents of each source
	values  valueCounts   // the same, if a value is the source
	pages   []byte        // records of pages of sites
	sites   siteCounts    // pages of each site
	texts   work.Texts
}

// newBlock returns an empty block whose documents have the given number of band keys, and SimHash fingerprints of the
// given number of bits.
func newBlock(keys, simHashBits int) *block {
	return &block{builder: sketchblock.NewBuilder(keys, simHashBits/64), values: valueCounts{}, sites: siteCounts{}}
}

// reset drops what was made of the last portion.
func (b *block) reset() {
	b.builder.Reset()
	b.rejects, b.sampled, b.probed, b.counts = b.rejects[:0], b.sampled[:0], b.probed[:0], work.Counts{}
	b.sources, b.texts = b.sources[:0], work.Texts{}
	clear(b.passed)
	clear(b.values)
	b.pages = b.pages[:0]
	clear(b.sites)
}

// reject adds a row of rejects.
func (b *block) reject(file *corpus.File, position int64, fault string) {
	b.counts.Rejected++
	name, inFile := file.Place(position)
	b.rejects = output.Reject{File: output.Text(name), Position: inFile, Error: output.Text(fault)}.AppendJSON(b.rejects)
}

// setAside keeps a document for the audit if it is in one of its shares.
func (b *block) setAside(shares audit.Shares, d *sketchblock.Document, isReference bool) {
	if len(d.Set) == 0 {
		return
	}
	aside := records.SetAside{Ref: d.Ref, Digest: d.Digest, Scope: d.Scope, Side: d.Side}
	switch hash := audit.DocumentHash(d.Ref, d.Digest, isReference); {
	case !isReference && hash < audit.Limit(shares.Sampled):
		b.sampled = records.AppendSetAside(b.sampled, aside, d.Set)
	case shares.Probed < 1 && hash < audit.Limit(shares.Probed):
		b.probed = records.AppendSetAside(b.probed, aside, d.Set)
	}
}

// write adds the block to the run file of the split.
func (b *block) write(run *runfile.Writer, split int) error {
	if b.builder.Len() > 0 {
		if err := run.Section(records.Documents, split, b.builder.Documents()...); err != nil {
			return err
		}
		if err := run.Section(records.Sets, split, b.builder.Sets()); err != nil {
			return err
		}
	}
	for _, section := range []struct {
		kind  runfile.Kind
		shard int
		bytes []byte
	}{{records.Sample, split, b.sampled}, {records.Probe, split, b.probed}, {records.Rejects, 0, b.rejects}, {records.Pages, split, b.pages}} {
		if len(section.bytes) == 0 {
			continue
		}
		if err := run.Section(section.kind, section.shard, section.bytes); err != nil {
			return err
		}
	}
	return nil
}
