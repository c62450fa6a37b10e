package recall

import (
	"encoding/binary"

	"mirrorbeam/internal/carry/audit"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
)

// sample is a sample in the form that tasks use. Nobody changes it.
type sample struct {
	audit.Sample
	index   *audit.Index
	classes map[audit.Equals]audit.SampledClass
}

// equalsOf returns what a document has in common with those that are equal to it.
func equalsOf(d records.SetAside) audit.Equals {
	return audit.Equals{Digest: d.Digest, Scope: d.Scope, Side: d.Side}
}

// sampleHeader is the size of the head of a sample, in bytes: the limit of the search, and whether the sample was cut.
const sampleHeader = 12

// sampleShard returns the shard of the catalog that holds the sample: the one after all splits.
func (a *Audit) sampleShard() int { return len(a.layout.Inputs.Splits) }

// writeSample writes the sample and returns the path of the run. Only the first of equal documents has a set.
func (a *Audit) writeSample(p *work.Planning, s *audit.Sample) (string, error) {
	run := &p.Run
	p.Runs.Begin(run)
	defer run.Abort()
	packed := binary.LittleEndian.AppendUint64(nil, s.ProbedBelow)
	cut := uint32(0)
	if s.Cut {
		cut = 1
	}
	packed = binary.LittleEndian.AppendUint32(packed, cut)
	sets := audit.SampledClass(0)
	for i, ref := range s.Documents {
		class := s.Classes[i]
		var set []uint64
		if class == sets {
			set = s.Sets[class]
			sets++
		}
		equals := s.Equals[class]
		aside := records.SetAside{Ref: ref, Digest: equals.Digest, Scope: equals.Scope, Side: equals.Side}
		packed = records.AppendSetAside(packed, aside, set)
	}
	if err := run.Section(records.Sample, a.sampleShard(), packed); err != nil {
		return "", err
	}
	return run.Close()
}

// readSample reads the sample to which the catalog points, and prepares it.
func (a *Audit) readSample(catalog string) (*sample, error) {
	pieces, err := runfile.ReadCatalog(catalog, a.sampleShard())
	if err != nil {
		return nil, err
	}
	var reader runfile.Reader
	defer reader.Close()
	packed, err := reader.ReadKind(nil, pieces, records.Sample)
	if err != nil {
		return nil, err
	}
	s := &sample{classes: map[audit.Equals]audit.SampledClass{}}
	s.ProbedBelow, s.Cut = binary.LittleEndian.Uint64(packed), packed[8] == 1
	elements := make([]uint64, 0, len(packed)/sketchblock.HashSize)
	for packed = packed[sampleHeader:]; len(packed) > 0; {
		var d records.SetAside
		d, packed = records.NextSetAside(packed)
		s.Documents = append(s.Documents, d.Ref)
		if len(d.Set) > 0 {
			s.classes[equalsOf(d)] = audit.SampledClass(len(s.Equals))
			s.Equals = append(s.Equals, equalsOf(d))
			start := len(elements)
			elements = sketchblock.AppendSet(elements, d.Set)
			s.Sets = append(s.Sets, elements[start:])
		}
	}
	s.index = audit.NewIndex(a.Threshold, s.Sets)
	return s, nil
}
