package documents

import (
	"mirrorbeam/internal/carry/audit"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/runfile"
)

// Aside collects the documents of a split that the audit may want, with their sets. The zero value is ready for use.
type Aside struct {
	sampled []byte // documents from which the audit draws its sample
	probed  []byte // documents among which it looks for partners
}

// Add keeps a document and its whole set if it is in one of the shares. One without a set is in none.
func (a *Aside) Add(shares audit.Shares, d *sketchblock.Document, set []uint64, isReference bool) {
	if len(set) == 0 {
		return
	}
	aside := records.SetAside{Ref: d.Ref, Digest: d.Digest[0], Scope: d.Scope, Side: d.Side}
	switch sampled, probed := chosen(shares, d.Ref, d.Digest[0], isReference); {
	case sampled:
		a.sampled = records.AppendSetAside(a.sampled, aside, set)
	case probed:
		a.probed = records.AppendSetAside(a.probed, aside, set)
	}
}

// chosen reports whether a document is in the share from which the audit draws its sample, or otherwise in the share in
// which it looks for partners. All documents of the corpus may be in that one. Then none is chosen for it.
func chosen(shares audit.Shares, ref docref.Ref, digest uint64, isReference bool) (sampled, probed bool) {
	hash := audit.DocumentHash(ref, digest, isReference)
	sampled = !isReference && hash < audit.Limit(shares.Sampled)
	return sampled, !sampled && shares.Probed < 1 && hash < audit.Limit(shares.Probed)
}

// Write writes the documents to a run file, and forgets them.
func (a *Aside) Write(run *runfile.Writer, split int) error {
	for _, section := range []struct {
		kind  runfile.Kind
		bytes []byte
	}{{records.Sample, a.sampled}, {records.Probe, a.probed}} {
		if len(section.bytes) == 0 {
			continue
		}
		if err := run.Section(section.kind, split, section.bytes); err != nil {
			return err
		}
	}
	a.reset()
	return nil
}

func (a *Aside) reset() {
	if cap(a.sampled)+cap(a.probed) > keepBytes {
		*a = Aside{}
	}
	a.sampled, a.probed = a.sampled[:0], a.probed[:0]
}
