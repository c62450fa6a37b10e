package transforms

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/audit"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/sketch"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&sampleFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func([]byte), error](&auditPlanFn{})
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&auditFn{})
}

// Audit samples documents of the input and finds all their partners in it,
// exactly, by counting common shingles. Cluster then sees which of these pairs
// the job has found.
//
// It takes the outcomes of Fingerprint, PCollection<[]byte>, and returns one of
// outcomes with the pairs.
func Audit(s beam.Scope, job Job, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("audit")
	tasks := exchange(s.Scope("sample"), job, delivery{Needed: []runfile.Kind{documentsKind}, Extra: []runfile.Kind{setsKind}}, sketches)
	samples := sideBySide(s.Scope("sample"), &sampleFn{Job: job}, tasks)
	tasks = beam.ParDo(s, &auditPlanFn{Job: job}, together(s, sketches, samples))
	return sideBySide(s, &auditFn{Job: job}, tasks)
}

var auditStage = newStage("audit")

// sampleHash spreads documents evenly, whatever is in them.
func sampleHash(ref docref.Ref) uint64 {
	x := uint64(ref) * 0x9e3779b97f4a7c15
	x ^= x >> 32
	x *= 0xbf58476d1ce4e5b9
	return x ^ x>>29
}

// sampleHeader is the size of a sampled document before its set: hash, ref, size.
const sampleHeader = 20

// sampleFn writes the sampled documents of a split with their sets.
type sampleFn struct {
	Job Job

	bundle
	layout // read in Setup
}

func (f *sampleFn) Setup() error { return f.read(f.Job.Inputs) }

func (f *sampleFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.beginRun(ctx, auditStage, f.Job, element, func(ctx context.Context, t task, w *workplace) error {
		limit := ^uint64(0)
		if share := float64(f.Job.AuditSample) / float64(max(t.Documents, 1)); share < 1 {
			limit = uint64(share * (1 << 63) * 2)
		}
		return w.eachBlock(ctx, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
			return f.block(w, block, setsPiece, limit)
		})
	})
}

func (f *sampleFn) block(w *workplace, block *sketchblock.Block, setsPiece runfile.Piece, limit uint64) error {
	var sets []byte
	start := 0
	for i := range block.Len() {
		size := sketchblock.HashSize * block.Stored(i)
		ref := block.Ref(i)
		if hash := sampleHash(ref); hash <= limit && ref >= f.firstInput && size > 0 {
			if sets == nil {
				var err error
				if sets, err = w.readPiece(1, setsPiece); err != nil {
					return err
				}
			}
			b, err := w.run.Record(sampleKind, sampleShard, sampleHeader+size)
			if err != nil {
				return err
			}
			binary.LittleEndian.PutUint64(b, hash)
			putRef(b[8:], ref)
			binary.LittleEndian.PutUint32(b[16:], uint32(block.Stored(i)))
			copy(b[sampleHeader:], sets[start:start+size])
		}
		start += size
	}
	return nil
}

// auditPlanFn brings the sample together and makes the tasks that look for the
// partners in each split.
type auditPlanFn struct {
	Job Job
}

// sampleElements bounds the shingles of the sample, some 20 bytes each in memory.
const sampleElements = 1 << 20

func (f *auditPlanFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	return auditStage.runAlone(ctx, 0, emit, func(m *memory, emit func([]byte)) error {
		outcomes, counts, err := readOutcomes(elements)
		if err != nil {
			return err
		}
		var packed []byte
		if err := readRuns(outcomes, auditStage.name, sampleKind, &packed); err != nil {
			return err
		}
		samples := splitSamples(packed)
		slices.SortFunc(samples, func(a, b []byte) int {
			return cmp.Compare(binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b))
		})
		if len(samples) == 0 {
			return nil
		}
		sample, err := f.write(m, samples)
		if err != nil {
			return err
		}
		d := delivery{Needed: []runfile.Kind{documentsKind}, Extra: []runfile.Kind{setsKind, sampleKind}}
		// The runs of the audit hold all that was drawn; this one takes their place.
		return d.deliver(f.Job.Temp, append(runsBut(outcomes, auditStage), sample), counts, emit)
	})
}

// write writes as many samples as there is room for.
func (f *auditPlanFn) write(m *memory, samples [][]byte) (string, error) {
	run := &m.run
	run.Reset(f.Job.Temp, f.Job.RunBytes)
	defer run.Abort()
	room := sampleElements
	for i, sample := range samples {
		if room -= len(sample) / sketchblock.HashSize; room < 0 && i > 0 {
			break
		}
		b, err := run.Record(sampleKind, sampleShard, len(sample))
		if err != nil {
			return "", err
		}
		copy(b, sample)
	}
	return run.Close()
}

// sampleShard is where the sample stands in the catalog.
const sampleShard = 0

// readRuns appends the records of a kind in the runs of a stage.
func readRuns(outcomes []outcome, stage string, kind runfile.Kind, to *[]byte) error {
	var reader runfile.Reader
	defer reader.Close()
	for _, o := range outcomes {
		if o.Stage != stage || o.Run == "" {
			continue
		}
		pieces, err := runfile.Pieces(o.Run)
		if err == nil {
			*to, err = reader.ReadKind(*to, pieces, kind)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// splitSamples returns the records of sampled documents.
func splitSamples(packed []byte) (samples [][]byte) {
	for len(packed) > 0 {
		end := sampleHeader + sketchblock.HashSize*int(binary.LittleEndian.Uint32(packed[16:]))
		samples = append(samples, packed[:end:end])
		packed = packed[end:]
	}
	return samples
}

// auditFn finds the partners of the sampled documents in a split.
type auditFn struct {
	Job Job

	bundle
	layout // read in Setup

	// The sample, made by the first task that has the catalog.
	catalog  string
	index    *audit.Index
	refs     []docref.Ref
	sets     [][]uint64
	keys     [][]uint64 // other keys than the job's, of each
	complete bool       // there was room for all that were drawn
	minhash  *sketch.MinHash

	signature []uint32
	own       []uint64
}

func (f *auditFn) Setup() error { return f.read(f.Job.Inputs) }

func (f *auditFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	job := f.Job
	job.Lanes = 1 // the tasks share the sample's index
	return f.beginRun(ctx, auditStage, job, element, func(ctx context.Context, t task, w *workplace) error {
		if err := f.prepare(t.Catalog); err != nil {
			return err
		}
		w.outcome.Sampled = len(f.refs)
		w.outcome.SampledAll = t.Documents <= int64(f.Job.AuditSample) && f.complete
		var set []uint64
		return w.eachBlock(ctx, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
			sets, err := w.readPiece(1, setsPiece)
			if err != nil {
				return err
			}
			w.figures.records += int64(block.Len())
			w.figures.bytes += int64(len(sets))
			for i := range block.Len() {
				size := sketchblock.HashSize * block.Stored(i)
				set = sketchblock.AppendSet(set[:0], sets[:size])
				sets = sets[size:]
				if ref := block.Ref(i); ref >= f.firstInput {
					if err := f.document(w, ref, set); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
}

// prepare reads the sample.
func (f *auditFn) prepare(catalog string) error {
	if f.catalog == catalog {
		return nil
	}
	pieces, err := runfile.ReadCatalog(catalog, sampleShard)
	if err != nil {
		return err
	}
	var reader runfile.Reader
	defer reader.Close()
	packed, err := reader.ReadKind(nil, pieces, sampleKind)
	if err != nil {
		return err
	}
	f.complete = len(packed)/sketchblock.HashSize < sampleElements/2
	f.minhash = sketch.NewMinHash(2 * f.Job.Scheme.Components())
	f.index, f.refs, f.sets, f.keys = audit.NewIndex(f.Job.Threshold), nil, nil, nil
	for _, sample := range splitSamples(packed) {
		set := sketchblock.AppendSet(nil, sample[sampleHeader:])
		f.index.Add(set)
		f.refs, f.sets = append(f.refs, getRef(sample[8:])), append(f.sets, set)
		f.keys = append(f.keys, slices.Clone(f.otherKeys(set)))
	}
	f.catalog = catalog
	return nil
}

// otherKeys returns keys of the job's scheme by hash functions that the job does
// not use.
func (f *auditFn) otherKeys(set []uint64) []uint64 {
	if f.Job.Scheme.Bands == 0 {
		return nil
	}
	f.signature = f.minhash.Signature(f.signature, set)
	f.own = f.Job.Scheme.AppendKeys(f.own[:0], f.signature[f.Job.Scheme.Components():])
	return f.own
}

const (
	// auditSize is the size of a pair of a sampled document and a partner: their
	// refs, and a mark where they have another key in common.
	auditSize = 2*refSize + 4
)

// document writes the pairs that a document forms with sampled ones.
func (f *auditFn) document(w *workplace, ref docref.Ref, set []uint64) (failed error) {
	f.own = f.own[:0]
	f.index.Candidates(set, func(sample int) {
		if f.refs[sample] == ref {
			return
		}
		need := asmkernels.Required(f.Job.Threshold, len(set), len(f.sets[sample]))
		if asmkernels.Intersect(set, f.sets[sample], need) < need {
			return
		}
		if len(f.own) == 0 {
			f.own = f.otherKeys(set)
		}
		b, err := w.run.Record(auditKind, 0, auditSize)
		if err != nil {
			failed = err
			return
		}
		putRef(b, f.refs[sample])
		putRef(b[refSize:], ref)
		binary.LittleEndian.PutUint32(b[2*refSize:], 0)
		for i, key := range f.own {
			if key == f.keys[sample][i] {
				b[2*refSize] = 1
			}
		}
	})
	return failed
}
