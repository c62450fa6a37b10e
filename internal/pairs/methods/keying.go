package methods

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
)

// NewKeys returns the function that makes the keys of documents whose sets are at hand, as a job makes them. The
// counters have counted their shingles, for Ordered methods. The function is not for concurrent use.
func (m *Method) NewKeys(p *Parameters, counters *lshbands.Counters) (Keys, error) {
	made, err := m.Keys(p)
	if err != nil {
		return nil, err
	}
	keys := m.ofAll(made())
	if m.Ordered {
		var frequencies []byte
		return func(all []candidates.Record, d *Document) []candidates.Record {
			frequencies = counters.AppendFrequencies(frequencies[:0], d.Set)
			d.Frequencies = frequencies
			return keys(all, d)
		}, nil
	}
	if m.Reads&ReadsBands == 0 {
		return keys, nil
	}
	bands, err := fingerprints.NewBands(p.Scheme)
	if err != nil {
		return nil, err
	}
	return func(all []candidates.Record, d *Document) []candidates.Record {
		d.Bands = bands.Of(d.Set)
		return keys(all, d)
	}, nil
}

// ofAll returns keys of all documents, given the keys of documents with shingles. A document without shingles is only
// like documents of the same digest. Documents of different scopes share no key.
func (m *Method) ofAll(keys Keys) Keys {
	return func(all []candidates.Record, d *Document) []candidates.Record {
		before := len(all)
		if d.Size == 0 {
			all = AppendDigest(all, d)
		} else {
			all = keys(all, d)
		}
		if d.Scope != 0 {
			for i := range all[before:] {
				all[before+i].InScope(d.Scope, m.Exact)
			}
		}
		return all
	}
}

// allPairsStep is the step of tasks for a corpus that is small enough to compare all of its pairs.
const allPairsStep = 1

// Needs returns which records the tasks of a [Keying] get, which spread keys over a number of shards.
func (m *Method) Needs(shards int) work.Delivery {
	d := work.Delivery{Needed: []runfile.Kind{records.Documents}, Into: shards, Enough: work.ManyTasks}
	if m.Reads&ReadsContent != 0 {
		d.Extra = append(d.Extra, records.Sets)
	}
	if m.Ordered {
		d.Extra = append(d.Extra, records.Frequencies)
	}
	return d
}

// Keying writes the key records of the documents of a split, and the hashes of their ids, to find shared ones.
type Keying struct {
	Method Name
	Parameters

	method, small keyed
	layout        documents.Layout
}

type keyed struct {
	*Method
	keys func() Keys
}

func newKeyed(name Name, p *Parameters) (k keyed, err error) {
	if k.Method, err = mustOf(name); err != nil {
		return k, err
	}
	k.keys, err = k.Keys(p)
	return k, err
}

func (k *Keying) Setup() (err error) {
	if k.method, err = newKeyed(k.Method, &k.Parameters); err != nil {
		return err
	}
	if k.small, err = newKeyed(All, &k.Parameters); err != nil {
		return err
	}
	return k.layout.Read(string(k.Inputs))
}

// Task writes the records of one split. A document that repeats an earlier one sends its first record only.
func (k *Keying) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	m := k.method
	if t.Step == allPairsStep {
		m = k.small
	}
	s := splitKeys{
		keyed:  m,
		shards: k.Shards,
		pruned: k.Pruned,
		keys:   m.ofAll(m.keys()),
		reader: reader{parts: m.Reads},
		known:  documents.Repeats{FirstInput: k.layout.FirstInput},
	}
	kind := m.Kind()
	if m.Reads&ReadsContent != 0 {
		s.reader.content = kind.Block()
	}
	if m.Ordered {
		packed, err := w.Read(2, records.Frequencies)
		if err != nil {
			return err
		}
		if s.frequencies, err = newFrequencies(packed); err != nil {
			return fmt.Errorf("read frequencies of shingles: %w", err)
		}
	}
	document := func(block *sketchblock.Block, i int, packed []byte) error {
		w.Figures.Records++
		w.Figures.Bytes += int64(len(packed))
		if err := w.Expect(kind.TimesRead * int64(len(packed))); err != nil {
			return err
		}
		return s.document(&w.Run, block, i, packed)
	}
	if m.Reads&ReadsContent != 0 {
		if err := w.EachSet(ctx, document); err != nil {
			return err
		}
		return s.frequencies.close()
	}
	return w.EachBlock(ctx, func(block *sketchblock.Block, _ runfile.Piece) error {
		for i := range block.Len() {
			if err := document(block, i, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

type splitKeys struct {
	keyed
	shards      int
	pruned      bool
	keys        Keys
	reader      reader
	known       documents.Repeats
	records     []candidates.Record
	frequencies frequencies
}

// document writes the records of document i of a block. Packed is its set or sequence, if the method reads these.
func (s *splitKeys) document(run *runfile.Writer, block *sketchblock.Block, i int, packed []byte) (err error) {
	if block.IsResolved(i) {
		return nil
	}
	d := &s.reader.Document
	hash := s.reader.read(block, i, packed)
	// Equal documents of different sides do not stand for each other. Both must be found under each key.
	isRepeat := s.known.Has(d.Ref, d.Digest, hash^d.Side)
	if err := s.reader.readContent(packed, isRepeat && s.DigestFirst); err != nil {
		return err
	}
	if s.Ordered {
		if d.Frequencies, err = s.frequencies.append(d.Frequencies[:0], d.Set); err != nil {
			return err
		}
	}
	s.records = s.keys(s.records[:0], d)
	if isRepeat && len(s.records) > 1 {
		s.records = s.records[:1]
	}
	for k := range s.records {
		if err := s.Write(run, s.shards, &s.records[k], d); err != nil {
			return err
		}
	}
	id := block.ID(i)
	if s.pruned || len(id) == 0 { // ids of a narrowed corpus are written by the stage that narrows it
		return nil
	}
	return groups.WriteID(run, s.shards, d.Ref, groups.HashID(id))
}

// Ordering makes the tasks of a [Keying] that make keys of rare shingles first.
type Ordering struct {
	Method Name
	Parameters
}

// Plan makes the tasks: as the method makes them or, for a small corpus, tasks that compare all pairs.
func (o *Ordering) Plan(_ context.Context, p *work.Planning) error {
	name, step := o.Method, 0
	if o.isSmall(p.Counts) {
		name, step = All, allPairsStep
	}
	m, err := mustOf(name)
	if err != nil {
		return err
	}
	p.Runs.ReleaseStage(p.Outcomes, work.Spread)
	d := m.Needs(o.Shards)
	d.Step = step
	return p.Deliver(d, work.RunsBut(p.Outcomes, work.Spread))
}

// GroupNeeds returns which records the tasks of a [Grouping] get.
func (m *Method) GroupNeeds() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{m.Records, allRecords, records.IDs}}
}

// Oversized returns the step that decides about oversized groups. There is nothing to decide if they [NeverWait].
func (m *Method) Oversized(bounds groups.Bounds) groups.OversizedGroups {
	return groups.OversizedGroups{Bounds: bounds, Exact: m.Exact, Stars: m.OversizedGroups == ToStars}
}

// Grouping brings the documents of a shard of keys together, and finds the documents that share an id.
type Grouping struct {
	Method Name
	Parameters

	method, small *Method
	layout        documents.Layout
}

func (g *Grouping) Setup() (err error) {
	if g.method, err = mustOf(g.Method); err != nil {
		return err
	}
	if g.small, err = mustOf(All); err != nil {
		return err
	}
	if err = g.layout.Read(string(g.Inputs)); err != nil {
		return err
	}
	if g.Pruned {
		g.unchanged = g.layout.Inputs.Unchanged()
	}
	if g.HasPairs() {
		g.reused = g.unchanged
	}
	return nil
}

// Task goes through a shard or, in [groups.OversizedStep], through the oversized groups that have waited.
func (g *Grouping) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	if t.Step == groups.OversizedStep {
		return g.method.keyed(&g.Parameters, &g.layout).OversizedGroups(w, t)
	}
	m := g.method
	if w.Has(g.small.Records) {
		m = g.small
	}
	if err := m.Group(ctx, &g.Parameters, &g.layout, t.Number, w); err != nil {
		return err
	}
	err := groups.RepeatedIDs(w, &g.layout)
	if g.HasSides {
		// Equal documents of one side are in no pair, but may be joined: an incremental run, which forms fewer such
		// groups, must count the same.
		w.Outcome.Counts.NamedByRef += w.Outcome.Repeated.Documents
	}
	return err
}

const (
	// Up to fewCounts tasks, pieces cost next to nothing. More tasks count some ranges each, usualRanges at the most,
	// since a task reads their shingles at once. But each split writes a piece for each task, and gets one back. So
	// above manyCounts tasks, which are enough for all workers, a task counts as many ranges as its memory allows.
	fewCounts   = 64
	usualRanges = 8
	manyCounts  = 512
	// heldInRange is the number of bytes of shingles that a task holds back for each range; heldStride is what they
	// take, with room for a byte that is too many.
	heldInRange = 676 * records.CountedSize
	heldStride  = 2 << 10
)

// CountTasks returns the number of tasks of [Count] for documents that have that many shingles in all. A task may hold
// bytes of shingles. It changes no result.
func CountTasks(shingles, bytes int64) int {
	ranges := lshbands.Ranges(shingles)
	each := min(ranges/fewCounts+1, usualRanges)
	if held := bytes / (shingles*records.CountedSize/int64(ranges) + 1); held > usualRanges {
		each = max(each, min((ranges-1)/manyCounts+1, int(min(held, int64(ranges)))))
	}
	return (ranges-1)/each + 1
}

// SpreadPlanning makes the tasks that spread shingles over ranges of hashes, for Ordered methods.
type SpreadPlanning struct {
	Parameters
}

// Plan makes a task for each split, unless all pairs of the corpus are compared.
func (s *SpreadPlanning) Plan(_ context.Context, p *work.Planning) error {
	if s.isSmall(p.Counts) {
		return nil
	}
	shingles := int64(0)
	for _, o := range p.Outcomes {
		shingles += o.Shingles
	}
	tasks := CountTasks(shingles, s.CountBytes)
	d := work.Delivery{Needed: []runfile.Kind{records.Sets}, Into: tasks, Enough: work.ManyTasks}
	err := d.Deliver(string(p.Runs.Folder), work.RunsOf(p.Outcomes), p.Counts, func(t work.Task) {
		t.Shingles, t.Shards = shingles, tasks
		p.Emit(t)
	})
	if err != nil {
		return fmt.Errorf("make tasks that spread shingles: %w", err)
	}
	return nil
}

// Spread writes the shingles of a split by ranges of hashes. Those of a range keep their order.
func Spread(ctx context.Context, t work.Task, w *work.TaskContext) error {
	s := newSpreading(t, w)
	for _, piece := range w.Pieces {
		if err := ctx.Err(); err != nil {
			return err
		}
		sets, err := w.ReadPiece(0, piece)
		if err != nil {
			return err
		}
		w.Figures.Bytes += int64(len(sets))
		w.Figures.Records += int64(len(sets) / sketchblock.HashSize)
		// The ends of sets do not matter here.
		w.Hashes = sketchblock.AppendSet(w.Hashes[:0], sets)
		if err := s.add(w.Hashes); err != nil {
			return err
		}
	}
	return s.close()
}

// spreading collects the shingles of a split in stretches.
type spreading struct {
	run    *runfile.Writer
	split  int
	each   int    // ranges that a task counts
	held   []byte // of each range, at most heldInRange bytes
	filled []int  // how many these are
}

func newSpreading(t work.Task, w *work.TaskContext) *spreading {
	ranges := lshbands.Ranges(t.Shingles)
	w.Buffers[1] = slices.Grow(w.Buffers[1][:0], ranges*heldStride)[:ranges*heldStride]
	return &spreading{
		run:    &w.Run,
		split:  t.Number,
		each:   (ranges-1)/max(t.Shards, 1) + 1,
		held:   w.Buffers[1],
		filled: make([]int, ranges),
	}
}

func (s *spreading) add(hashes []uint64) error {
	for _, hash := range hashes {
		in := lshbands.RangeOf(hash, len(s.filled))
		n := s.filled[in]
		binary.LittleEndian.PutUint32(s.held[in*heldStride+n:], uint32(hash))
		if s.filled[in] = n + records.CountedSize; n+records.CountedSize == heldInRange {
			if err := s.write(in); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *spreading) write(in int) error {
	packed := s.held[in*heldStride:][:s.filled[in]]
	s.filled[in] = 0
	return records.Write(s.run, records.Shingles, in/s.each, &records.Stretch{
		Range:  in,
		Ranges: len(s.filled),
		Split:  s.split,
		Packed: packed,
	})
}

func (s *spreading) close() error {
	for in, n := range s.filled {
		if n == 0 {
			continue
		}
		if err := s.write(in); err != nil {
			return err
		}
	}
	return nil
}

// CountNeeds returns which records the tasks of [Count] get.
func CountNeeds() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.Shingles}, Back: true, Enough: work.ManyTasks}
}

// Count counts the documents that have each shingle of some ranges of hashes. It writes the frequencies back to the
// splits: for each split by ascending ranges, and in a range in the order in which the split has its shingles.
func Count(ctx context.Context, _ work.Task, w *work.TaskContext) error {
	packed, err := w.Read(0, records.Shingles)
	if err != nil {
		return err
	}
	byRange := map[int][]records.Stretch{}
	for len(packed) > 0 {
		var s records.Stretch
		if s, packed, err = records.NextStretch(packed); err != nil {
			return err
		}
		byRange[s.Range] = append(byRange[s.Range], s)
	}
	var counter lshbands.Counter
	for _, in := range slices.Sorted(maps.Keys(byRange)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := countRange(w, &counter, byRange[in]); err != nil {
			return err
		}
	}
	return nil
}

func countRange(w *work.TaskContext, counter *lshbands.Counter, stretches []records.Stretch) error {
	shingles := 0
	for _, s := range stretches {
		shingles += s.Len()
	}
	w.Figures.Records += int64(shingles)
	counter.Reset(shingles)
	for _, s := range stretches {
		counter.Add(s.Packed)
	}
	for _, s := range stretches {
		w.Buffers[1] = counter.AppendFrequencies(w.Buffers[1][:0], s.Packed)
		s.Packed = w.Buffers[1]
		if err := records.Write(&w.Run, records.Frequencies, s.Split, &s); err != nil {
			return err
		}
	}
	return nil
}
