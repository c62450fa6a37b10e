package transforms

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/runfile"
)

func init() {
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func([]byte), error](&crowdFn{})
}

// Groups of more than fewComparisons pairs that have not met before are crowds: they
// wait until it is known how many there are.
const (
	fewComparisons = 128 * 127 / 2

	// SmallCorpus is up to how many documents a corpus is compared fully, whatever its
	// groups are. In a larger one crowds have spareComparisons pairs together, and comparisonsEach
	// for each document. A pair that is listed takes some .35 microseconds, a document
	// that is like no other 3 to 7.
	SmallCorpus      = 4096
	spareComparisons = 4 << 20
	comparisonsEach  = 8
)

// allowedComparisons returns how many pairs of crowds are compared in a corpus of that
// many documents.
func allowedComparisons(documents int64) int64 {
	if documents <= SmallCorpus {
		return documents * documents
	}
	return spareComparisons + comparisonsEach*documents
}

// crowd is a group that waits, as its task tells of it.
type crowd struct {
	Key   uint32 // as candidates.PreviousOf gives it
	Pairs int64
}

func addCrowd(crowds []crowd, key uint64, pairs int64) []crowd {
	return append(crowds, crowd{candidates.PreviousOf(key), pairs})
}

// crowdFn decides which crowds are compared and makes the tasks that do so.
type crowdFn struct {
	Job Job
}

func (f *crowdFn) ProcessElement(_ context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	outcomes, counts, err := readOutcomes(elements)
	if err != nil {
		return markFault(err)
	}
	var crowds []crowd
	for _, o := range outcomes {
		crowds = append(crowds, o.Crowds...)
	}
	if len(crowds) == 0 {
		releaseRuns(f.Job, outcomes, keyStage)
		return nil
	}
	limit := f.limit(crowds, counts.Documents+counts.ReferenceDocuments)
	list, dense, err := f.write(crowds, limit)
	if err != nil {
		return markFault(fmt.Errorf("list dense groups: %w", err))
	}
	d := delivery{Step: crowdsStep, Needed: []runfile.Kind{crowdsKind}, Extra: []runfile.Kind{limitKind}}
	isNeeded := func(o outcome) bool { return o.Stage == groupStage.name }
	if dense && f.Job.Keys != ExactKeys {
		// What has met under dense keys only is compared under others.
		d.Needed = append(d.Needed, keysKind)
		isNeeded = func(o outcome) bool { return o.Stage != fingerprintStage.name }
	} else {
		releaseRuns(f.Job, outcomes, keyStage)
	}
	runs := runsOf(slices.DeleteFunc(outcomes, func(o outcome) bool { return !isNeeded(o) }))
	if err := d.deliver(f.Job.Temp, append(runs, list), counts, emit); err != nil {
		return markFault(fmt.Errorf("make tasks of dense groups: %w", err))
	}
	return nil
}

// limit returns the largest number of pairs of a crowd that is compared. To compare two
// texts for passages takes hundreds of times what two sets take, so it is a small one
// there.
func (f *crowdFn) limit(crowds []crowd, documents int64) int64 {
	if f.Job.Similarity == Containment {
		return int64(f.Job.GroupComparisons)
	}
	return crowdLimit(crowds, allowedComparisons(documents))
}

// crowdLimit returns the largest number of pairs, a power of two, such that the crowds
// of up to that many have no more than allowed together.
func crowdLimit(crowds []crowd, allowed int64) int64 {
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

// write writes the limit and the keys of dense groups for every shard, and says whether
// there are any. It returns the path of the run.
func (f *crowdFn) write(crowds []crowd, limit int64) (path string, dense bool, err error) {
	run := runfile.NewWriter(f.Job.Temp, f.Job.RunBytes)
	defer run.Abort()
	packed := binary.LittleEndian.AppendUint64(nil, uint64(limit))
	for _, c := range crowds {
		if c.Pairs > limit {
			packed = binary.LittleEndian.AppendUint32(packed, c.Key)
			dense = true
		}
	}
	for shard := range f.Job.Shards {
		if err := run.Section(limitKind, shard, packed); err != nil {
			return "", false, err
		}
	}
	path, err = run.Close()
	return path, dense, err
}

// writeCrowd writes the records of a group that waits, and those of the documents that
// stand for a class beside them.
func writeCrowd(run *runfile.Writer, shard int, group, copies []candidates.Record) error {
	for _, records := range [][]candidates.Record{group, copies} {
		for i := range records {
			b, err := run.Record(crowdsKind, shard, keySize+4*records[i].Known())
			if err != nil {
				return err
			}
			putKey(b, records[i])
		}
	}
	return nil
}

// crowds compares the crowds of a shard that are not dense, gathers the documents of
// those that are in heaps, and compares what has met under dense keys only.
func (f *groupFn) crowds(shard int, w *workplace) error {
	packed, err := w.read(0, limitKind)
	if err != nil {
		return err
	}
	limit := int64(binary.LittleEndian.Uint64(packed))
	dense := map[uint32]bool{}
	for packed = packed[8:]; len(packed) > 0; packed = packed[4:] {
		dense[binary.LittleEndian.Uint32(packed)] = true
	}
	// Parts are numbered behind those of the first time.
	part := f.Job.Shards + shard
	var failed error
	pairs := newPairWriter(w, part)
	g := f.grouper(&pairs, &failed)
	g.DenseKeys = dense
	records, err := w.read(0, keysKind)
	if err != nil {
		return err
	}
	g.Again(w.sortKeys(records))
	if records, err = w.read(0, crowdsKind); err != nil {
		return err
	}
	heaps := heapWriter{run: &w.run, part: part, dense: g}
	g.MaxComparisons = limit
	g.Crowded = func(group []candidates.Record, skipped int64) {
		if f.Job.Similarity == Containment {
			g.Star(group)
			first, second := firstTwo(group)
			w.outcome.Skipped.add(f.layout.skipped(first, second, len(group), skipped-int64(len(group)-1)))
			return
		}
		if err := heaps.add(group, g.Copies()); err != nil {
			failed = err
		}
	}
	g.Crowds(w.sortKeys(records))
	if failed != nil {
		return failed
	}
	return writePart(&w.run, nodesKind, part, pairs.part)
}

// firstTwo returns the first two documents of a group.
func firstTwo(group []candidates.Record) (first, second docref.Ref) {
	first, second = group[0].Ref, group[1].Ref
	for _, r := range group {
		switch {
		case r.Ref < first:
			first, second = r.Ref, first
		case r.Ref != first && r.Ref < second:
			second = r.Ref
		}
	}
	return first, second
}

// skipped describes a dense group of so many documents, of which some pairs were
// skipped, by two of them.
func (l *layout) skipped(first, second docref.Ref, documents int, pairs int64) Skipped {
	return Skipped{Pairs: pairs, Groups: 1, Example: &SkippedGroup{
		Documents: int64(documents),
		First:     string(l.inputs.refText(nil, first)), Second: string(l.inputs.refText(nil, second)),
	}}
}
