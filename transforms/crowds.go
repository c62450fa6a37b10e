package transforms

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
)

func init() {
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func([]byte), error](&crowdFn{})
}

// Bounds say how many documents that are much alike are compared with each other.
// They change which pairs are listed.
type Bounds struct {
	// Group is how many pairs that have not met before a group of documents under one
	// key has at most, if it is compared whatever others there are. One of more pairs
	// is a crowd: it waits until all are known.
	Group int64
	// Corpus is up to how many documents a corpus is compared fully, whatever its
	// groups are.
	Corpus int64
	// In a larger corpus crowds have Spare pairs together, and Each for each document.
	// So have the stars of heaps: the documents that are like one leader. A pair that
	// is listed takes some 2 microseconds, a document that is like no other 3 to 7.
	Spare, Each int64
	// Passages is how many pairs of documents that share a passage are compared, if
	// passages are looked for.
	Passages int64
	// Listed is how many pairs a group lists for each document beside those of Group, if
	// keys are of SimHash.
	Listed int64
}

// UsualBounds returns the bounds of all jobs but for tests.
func UsualBounds() Bounds {
	return Bounds{
		Group:  128 * 127 / 2, // all pairs of 128 documents
		Corpus: methods.SmallCorpus, Spare: 4 << 20, Each: 8,
		Passages: 256 * 255 / 2, // more have such a passage from a licence or a form
		Listed:   128,
	}
}

// allowed returns how many pairs of crowds are compared in a corpus of that many
// documents.
func (b *Bounds) allowed(documents int64) int64 {
	if documents <= b.Corpus {
		return documents * documents
	}
	return b.Spare + b.Each*documents
}

// crowdFn decides which crowds are compared and makes the tasks that do so.
type crowdFn struct {
	Job Job

	planner
}

func (f *crowdFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, groupStage, elements, emit, f.Plan)
	return err
}

// Plan lists the dense groups and makes the tasks.
func (f *crowdFn) Plan(_ context.Context, p *work.Planning) error {
	var crowds []work.Crowd
	for _, o := range p.Outcomes {
		crowds = append(crowds, o.Crowds...)
	}
	if len(crowds) == 0 {
		p.Runs.ReleaseStage(p.Outcomes, work.Key)
		return nil
	}
	limit := f.limit(crowds, p.Counts.Documents+p.Counts.ReferenceDocuments)
	list, dense, err := f.write(crowds, limit)
	if err != nil {
		return fmt.Errorf("list dense groups: %w", err)
	}
	d := work.Delivery{Step: crowdsStep, Needed: []runfile.Kind{records.Crowds}, Extra: []runfile.Kind{records.Limit}}
	isNeeded := func(o work.Outcome) bool { return o.Stage == work.Group }
	if dense && f.Job.Keys == methods.MinHash {
		// What has met under dense keys only is compared under others.
		d.Needed = append(d.Needed, records.Keys)
		isNeeded = func(o work.Outcome) bool { return o.Stage != work.Fingerprint }
	} else {
		p.Runs.ReleaseStage(p.Outcomes, work.Key)
	}
	runs := work.RunsOf(slices.DeleteFunc(p.Outcomes, func(o work.Outcome) bool { return !isNeeded(o) }))
	if err := p.Deliver(d, append(runs, list)); err != nil {
		return fmt.Errorf("make tasks of dense groups: %w", err)
	}
	return nil
}

// limit returns the largest number of pairs of a crowd that is compared. To compare two
// texts for passages takes hundreds of times what two sets take, so it is a small one
// there.
func (f *crowdFn) limit(crowds []work.Crowd, documents int64) int64 {
	if f.Job.Similarity == methods.Containment {
		return f.Job.Bounds.Passages
	}
	return crowdLimit(crowds, f.Job.Bounds.allowed(documents))
}

// crowdLimit returns the largest number of pairs, a power of two, such that the crowds
// of up to that many have no more than allowed together.
func crowdLimit(crowds []work.Crowd, allowed int64) int64 {
	var byLength [64]int64
	for _, c := range crowds {
		byLength[bits.Len64(uint64(c.Pairs-1))] += c.Pairs
	}
	sum := int64(0)
	for length, pairs := range byLength[:62] {
		if sum += pairs; sum > allowed {
			return 1 << length >> 1
		}
	}
	return 1 << 62
}

// limitShard is where the limit and the dense keys stand in the catalog.
const limitShard = 0

// write writes the limit and the keys of dense groups, and says whether there are any.
// It returns the path of the run.
func (f *crowdFn) write(crowds []work.Crowd, limit int64) (path string, dense bool, err error) {
	run := runfile.NewWriter(f.Job.Temp, f.Job.RunBytes)
	defer run.Abort()
	packed := binary.LittleEndian.AppendUint64(nil, uint64(limit))
	for _, c := range crowds {
		if c.Pairs > limit {
			packed = binary.LittleEndian.AppendUint64(packed, c.ID)
			dense = true
		}
	}
	if err := run.Section(records.Limit, limitShard, packed); err != nil {
		return "", false, err
	}
	path, err = run.Close()
	return path, dense, err
}

// readLimit returns what write wrote.
func readLimit(w *work.Place, catalog string) (limit int64, dense numbering.Set, err error) {
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

// readCrowd reads the documents of a crowd.
func readCrowd(c *records.CrowdReader, w *work.Place) []candidates.Record {
	growKeys(w, c.Documents)
	for i := range w.Keys {
		c.Record(&w.Keys[i])
	}
	return w.Keys
}

// crowds compares the crowds of a shard that are not dense, gathers the documents of
// those that are in heaps, and compares what has met under dense keys only.
func (f *groupFn) crowds(t work.Task, w *work.Place) error {
	limit, dense, err := readLimit(w, t.Catalog)
	if err != nil {
		return err
	}
	// Parts are numbered behind those of the first time.
	part := f.Job.Shards + t.Number
	var failed error
	pairs := newPairWriter(w, part)
	g := f.grouper(&pairs, &failed)
	g.DenseKeys = dense
	keys, err := sortKeys(w, records.Keys, t.Number, f.Job.Shards, func(packed []byte) uint64 {
		r := candidates.Record{Key: binary.LittleEndian.Uint64(packed), Position: binary.LittleEndian.Uint32(packed[28:]) &^ records.FirstKey}
		if _, isDense := dense.Find(g.KeyID(&r)); isDense {
			return 0 // such a group is not compared again
		}
		return candidates.Unmet
	})
	if err != nil {
		return err
	}
	g.Again(keys)
	packed, err := w.Read(0, records.Crowds)
	if err != nil {
		return err
	}
	heaps := heapWriter{run: &w.Run, part: part, grouper: g}
	for crowd := (records.CrowdReader{Packed: packed}); failed == nil && crowd.Next(); {
		switch {
		case crowd.Pairs <= limit:
			g.Crowd(readCrowd(&crowd, w))
		case f.Job.Similarity == methods.Containment:
			group := readCrowd(&crowd, w)
			g.Star(group)
			w.Outcome.Skipped.Add(f.Layout.Starred(group, crowd.Pairs))
		default:
			failed = heaps.add(&crowd)
		}
	}
	if failed != nil {
		return failed
	}
	return records.WritePart(&w.Run, records.Nodes, part, pairs.part)
}
