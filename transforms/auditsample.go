package transforms

import (
	"encoding/binary"

	"mirrorbeam/internal/audit"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
)

// auditShares says which share of the documents Fingerprint sets aside for the audit.
type auditShares struct {
	// sampled is the share to draw from, probed that to look for partners in; 1: all
	// documents. Both are 0 where there is no audit.
	sampled, probed float64
	scale           float64 // of all bounds
}

// newAuditShares returns the shares for the inputs of a job. Up to 64 MiB of text
// all documents are looked at, beyond that at least a tenth; up to 8 MiB all may be
// drawn, beyond that a little more than a sample holds.
func newAuditShares(job Job, inputs *documents.Inputs) auditShares {
	if job.AuditSample == 0 {
		return auditShares{}
	}
	bytes := float64(1)
	for i := range inputs.Files {
		bytes += float64(inputs.Files[i].TextSize())
	}
	s := auditShares{scale: max(float64(job.AuditSample)/audit.UsualSample, 1)}
	s.probed = min(max(0.1, 64<<20/bytes)*s.scale, 1)
	s.sampled = min(max(1./12, 4<<20/bytes), 32<<20/bytes) * s.scale
	if bytes <= 8<<20 {
		s.sampled = 1
	}
	s.sampled = min(s.sampled, s.probed)
	return s
}

// elements returns how many shingles a sample holds at most, of a corpus of that
// many: all of a small one, else a sixteenth. In memory each takes 8 bytes, and up
// to 36 in the index.
func (s auditShares) elements(all int64) int {
	most := min(max(all/16, 1<<18), 1<<21)
	if all <= 1<<19 {
		most = all
	}
	return int(float64(most) * s.scale)
}

// budget returns the bound of the comparisons.
func (s auditShares) budget() audit.Budget {
	return audit.Budget{Pairs: 1 << 18 * s.scale, Elements: 1 << 26 * s.scale}
}

// auditHash is what documents are chosen by. Equal documents of the reference are
// chosen together, since only the first of them can be in a pair of the job.
func auditHash(ref docref.Ref, digest uint64, isReference bool) uint64 {
	if isReference {
		return audit.Hash(digest)
	}
	return audit.Hash(uint64(ref))
}

// setAside keeps a document of the block for the audit, if it is chosen.
func (b *block) setAside(shares auditShares, ref docref.Ref, digest uint64, set []uint64, isReference bool) {
	if shares.probed == 0 || len(set) == 0 {
		return
	}
	hash := auditHash(ref, digest, isReference)
	switch {
	case !isReference && hash < audit.Limit(shares.sampled):
		b.sampled = records.AppendSetAside(b.sampled, ref, digest, set)
	case shares.probed < 1 && hash < audit.Limit(shares.probed):
		b.probed = records.AppendSetAside(b.probed, ref, digest, set)
	}
}

// sampleHeader is what a sample begins with: the limit of what is looked at, and
// whether the sample was cut.
const sampleHeader = 12

// sampleShard is where the sample stands in the catalog: behind all splits.
func sampleShard(job Job) int { return job.Splits }

// writeSample writes the sample and returns the path of the run. Of equal documents
// only the first has a set.
func writeSample(m *work.Memory, job Job, s *audit.Sample) (string, error) {
	run := &m.Run
	run.Reset(job.Temp, job.RunBytes)
	defer run.Abort()
	packed := binary.LittleEndian.AppendUint64(nil, s.ProbedBelow)
	cut := uint32(0)
	if s.Cut {
		cut = 1
	}
	packed = binary.LittleEndian.AppendUint32(packed, cut)
	sets := uint32(0)
	for i, ref := range s.Documents {
		class := s.Classes[i]
		var set []uint64
		if class == sets {
			set = s.Sets[class]
			sets++
		}
		packed = records.AppendSetAside(packed, ref, s.Digests[class], set)
	}
	if err := run.Section(records.Sample, sampleShard(job), packed); err != nil {
		return "", err
	}
	return run.Close()
}

// readSample reads what writeSample wrote.
func readSample(job Job, catalog string) (s audit.Sample, err error) {
	pieces, err := runfile.ReadCatalog(catalog, sampleShard(job))
	if err != nil {
		return s, err
	}
	var reader runfile.Reader
	defer reader.Close()
	packed, err := reader.ReadKind(nil, pieces, records.Sample)
	if err != nil {
		return s, err
	}
	s.ProbedBelow, s.Cut = binary.LittleEndian.Uint64(packed), packed[8] == 1
	elements := make([]uint64, 0, len(packed)/sketchblock.HashSize)
	for packed = packed[sampleHeader:]; len(packed) > 0; {
		var d records.SetAside
		d, packed = records.NextSetAside(packed)
		s.Documents = append(s.Documents, d.Ref)
		if len(d.Set) > 0 {
			s.Digests = append(s.Digests, d.Digest)
			start := len(elements)
			elements = sketchblock.AppendSet(elements, d.Set)
			s.Sets = append(s.Sets, elements[start:])
		}
	}
	return s, nil
}
