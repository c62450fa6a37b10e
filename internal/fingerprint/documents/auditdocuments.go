package documents

import (
	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
)

// AuditHashes gives documents the hashes by which the audit chooses them: it chooses a document if the hash is below
// the [audit.Limit] of a share. A hash depends on the name of the file and the position there, so that files which come
// or go do not change it. Equal documents of the reference are chosen together, since only the first of them can be in
// a pair of the job. Not for concurrent use.
type AuditHashes struct {
	files []corpus.File
	file  int    // whose name was hashed last, -1 if it was a file of a group
	name  uint64 // the hash of that name
}

// NewAuditHashes returns the hashes of the documents of the inputs.
func (in *Inputs) NewAuditHashes() *AuditHashes { return &AuditHashes{files: in.Files, file: -1} }

// Of returns the hash of a document, given the first word of its digest.
func (h *AuditHashes) Of(ref docref.Ref, digest uint64) uint64 {
	return h.at(ref.File(), ref.Position(), digest)
}

func (h *AuditHashes) at(number int, position int64, digest uint64) uint64 {
	file := &h.files[number]
	if file.Reference {
		return audit.Hash(digest)
	}
	name, inFile := file.Place(position)
	if number != h.file || file.Members != nil {
		h.file, h.name = number, xxh3.HashString(name)
	}
	return audit.Hash(h.name ^ uint64(inFile))
}

// AuditDocuments collects the documents of a split that the audit may want, with their sets. The zero value is ready
// for use.
type AuditDocuments struct {
	sampled []byte // documents from which the audit draws its sample
	probed  []byte // documents among which it looks for partners
}

// Add keeps a document and its whole set if its hash is in one of the shares. One without a set is in none.
func (a *AuditDocuments) Add(shares audit.Shares, d *sketchblock.Document, set []uint64, hash uint64,
	isReference bool,
) {
	if len(set) == 0 {
		return
	}
	forAudit := records.AuditDocument{Ref: d.Ref, Hash: hash, Digest: d.Digest[0], Scope: d.Scope, Side: d.Side}
	switch sampled, probed := chosen(shares, hash, isReference); {
	case sampled:
		a.sampled = records.AppendAuditDocument(a.sampled, forAudit, set)
	case probed:
		a.probed = records.AppendAuditDocument(a.probed, forAudit, set)
	}
}

// chosen reports whether a document is in the share from which the audit draws its sample, or otherwise in the share in
// which it looks for partners. All documents of the corpus may be in that one. Then none is chosen for it.
func chosen(shares audit.Shares, hash uint64, isReference bool) (sampled, probed bool) {
	sampled = !isReference && hash < audit.Limit(shares.Sampled)
	return sampled, !sampled && shares.Probed < 1 && hash < audit.Limit(shares.Probed)
}

// sampledOf returns the documents of a segment whose hashes are below a limit, given all that it keeps for the sample,
// whose memory it uses. They get the number of a file.
func sampledOf(kept []byte, below uint64, file int) ([]byte, error) {
	sampled := kept[:0]
	for len(kept) > 0 {
		d, rest := records.Next[records.AuditDocument](kept)
		if d.Hash < below {
			ref, err := docref.New(file, d.Ref.Position())
			if err != nil {
				return nil, err
			}
			records.PutRef(kept, ref)
			sampled = append(sampled, kept[:len(kept)-len(rest)]...)
		}
		kept = rest
	}
	return sampled, nil
}

// Write writes the documents to a run file, and forgets them.
func (a *AuditDocuments) Write(run *runfile.Writer, split int) error {
	err := writeSections(run, section{records.Sample, split, a.sampled}, section{records.Probe, split, a.probed})
	a.reset()
	return err
}

func (a *AuditDocuments) reset() {
	if cap(a.sampled)+cap(a.probed) > keepBytes {
		*a = AuditDocuments{}
	}
	a.sampled, a.probed = a.sampled[:0], a.probed[:0]
}
