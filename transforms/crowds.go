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
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/runfile"
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

// SmallCorpus is up to how many documents a corpus is compared fully, whatever its groups
// are.
const SmallCorpus = 4096

// UsualBounds returns the bounds of all jobs but for tests.
func UsualBounds() Bounds {
	return Bounds{
		Group:  128 * 127 / 2, // all pairs of 128 documents
		Corpus: SmallCorpus, Spare: 4 << 20, Each: 8,
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

// crowd is a group that waits, as its task tells of it.
type crowd struct {
	ID    uint64 // of the key, as candidates.Grouper.KeyID gives it
	Pairs int64
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
	if dense && f.Job.Keys == MinHash {
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
		return f.Job.Bounds.Passages
	}
	return crowdLimit(crowds, f.Job.Bounds.allowed(documents))
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

// limitShard is where the limit and the dense keys stand in the catalog.
const limitShard = 0

// write writes the limit and the keys of dense groups, and says whether there are any.
// It returns the path of the run.
func (f *crowdFn) write(crowds []crowd, limit int64) (path string, dense bool, err error) {
	run := runfile.NewWriter(f.Job.Temp, f.Job.RunBytes)
	defer run.Abort()
	packed := binary.LittleEndian.AppendUint64(nil, uint64(limit))
	for _, c := range crowds {
		if c.Pairs > limit {
			packed = binary.LittleEndian.AppendUint64(packed, c.ID)
			dense = true
		}
	}
	if err := run.Section(limitKind, limitShard, packed); err != nil {
		return "", false, err
	}
	path, err = run.Close()
	return path, dense, err
}

// readLimit returns what write wrote.
func readLimit(w *workplace, catalog string) (limit int64, dense numbering.Set, err error) {
	pieces, err := runfile.ReadCatalog(catalog, limitShard)
	if err != nil {
		return 0, dense, err
	}
	packed, err := w.reader.ReadKind(nil, pieces, limitKind)
	if err != nil {
		return 0, dense, err
	}
	limit = int64(binary.LittleEndian.Uint64(packed))
	for packed = packed[8:]; len(packed) > 0; packed = packed[8:] {
		dense.Add(binary.LittleEndian.Uint64(packed))
	}
	return limit, dense, nil
}

// A crowd is written as its key, how many pairs and documents it has, and these.
const crowdHeader = 20

func writeCrowd(run *runfile.Writer, shard int, group []candidates.Record, pairs int64) error {
	b, err := run.Record(crowdsKind, shard, crowdHeader)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(b, group[0].Key)
	binary.LittleEndian.PutUint64(b[8:], uint64(pairs))
	binary.LittleEndian.PutUint32(b[16:], uint32(len(group)))
	for i := range group {
		r := &group[i]
		size := crowdedSize + 4*r.Known()
		if r.Input != r.Ref {
			size += refSize
		}
		if b, err = run.Record(crowdsKind, shard, size); err != nil {
			return err
		}
		putCrowded(b, r)
	}
	return nil
}

// crowdReader reads crowds one after the other.
type crowdReader struct {
	packed []byte

	key       uint64
	pairs     int64
	documents int
}

// next goes on to the next crowd. Its documents must have been read.
func (c *crowdReader) next() bool {
	if len(c.packed) == 0 {
		return false
	}
	c.key = binary.LittleEndian.Uint64(c.packed)
	c.pairs = int64(binary.LittleEndian.Uint64(c.packed[8:]))
	c.documents = int(binary.LittleEndian.Uint32(c.packed[16:]))
	c.packed = c.packed[crowdHeader:]
	return true
}

// record reads the next document of the crowd.
func (c *crowdReader) record(r *candidates.Record) {
	r.Key = c.key
	c.packed = getCrowded(c.packed, r)
}

// group reads the documents of the crowd.
func (c *crowdReader) group(w *workplace) []candidates.Record {
	w.growKeys(c.documents)
	for i := range w.keys {
		c.record(&w.keys[i])
	}
	return w.keys
}

// crowds compares the crowds of a shard that are not dense, gathers the documents of
// those that are in heaps, and compares what has met under dense keys only.
func (f *groupFn) crowds(t task, w *workplace) error {
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
	keys, err := w.sortKeys(keysKind, t.Number, f.Job.Shards, func(packed []byte) uint64 {
		r := candidates.Record{Key: binary.LittleEndian.Uint64(packed), Position: binary.LittleEndian.Uint32(packed[28:]) &^ firstKey}
		if _, isDense := dense.Find(g.KeyID(&r)); isDense {
			return 0 // such a group is not compared again
		}
		return candidates.Unmet
	})
	if err != nil {
		return err
	}
	g.Again(keys)
	packed, err := w.read(0, crowdsKind)
	if err != nil {
		return err
	}
	heaps := heapWriter{run: &w.run, part: part, grouper: g}
	for crowd := (crowdReader{packed: packed}); failed == nil && crowd.next(); {
		switch {
		case crowd.pairs <= limit:
			g.Crowd(crowd.group(w))
		case f.Job.Similarity == Containment:
			group := crowd.group(w)
			g.Star(group)
			w.outcome.Skipped.add(f.layout.starred(group, crowd.pairs))
		default:
			failed = heaps.add(&crowd)
		}
	}
	if failed != nil {
		return failed
	}
	return writePart(&w.run, nodesKind, part, pairs.part)
}

// starred describes a dense group whose documents are compared with the first one.
func (l *layout) starred(group []candidates.Record, pairs int64) Skipped {
	var s skippedGroup
	for i := range group {
		s.note(group[i].Ref)
	}
	return l.skipped(&s, pairs-int64(len(group)-1))
}

// skippedGroup is how a dense group is known to the user.
type skippedGroup struct {
	documents     int64
	first, second docref.Ref
}

// note notes a document of the group.
func (s *skippedGroup) note(ref docref.Ref) {
	switch s.documents++; {
	case s.documents == 1:
		s.first = ref
	case ref < s.first:
		s.first, s.second = ref, s.first
	case s.documents == 2 || ref < s.second:
		s.second = ref
	}
}

// skipped describes a dense group, some pairs of which were skipped.
func (l *layout) skipped(s *skippedGroup, pairs int64) Skipped {
	return Skipped{Pairs: pairs, Groups: 1, Example: &SkippedGroup{
		Documents: s.documents,
		First:     string(l.inputs.refText(nil, s.first)), Second: string(l.inputs.refText(nil, s.second)),
	}}
}
