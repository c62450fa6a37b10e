// Package documents reads the documents of a job. A source gives records, records give fingerprints, and fingerprints
// fill sketch blocks. After that no text is read again.
//
//	lines        portions of the lines of a split, with what could not be read
//	Record       one record out of a portion: id and texts or features, or why there is none
//	Sketcher     the fingerprint of a record
//	block        sketch block, rejects and counts of a portion
//	Pool         passes portions through all cores and keeps their order
//
// [Fingerprinting] is the stage that does this for one split after the other. [Survey] does it for a plan, without
// writing anything. A query uses a [Sketcher] by itself.
//
// Code after a Record knows nothing of lines. A position identifies a record in its file. Positions ascend.
package documents

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
)

// Fingerprinting is the work of the stage fingerprint. A task reads the documents of one split. It writes their sketch
// blocks, the rejects, and the documents that the audit may want.
type Fingerprinting struct {
	Sketching

	Inputs work.Path
	Kept   Kept
	// Checksums writes the checksums of the input, for a stage that reads it again.
	Checksums bool
	// Shards is the number of ranges of hashes that the values of the source field are counted in.
	Shards int
	// Segments is the folder in which a state keeps segments, see [Segment]; empty: there is no state.
	Segments work.Path
	// HeadThreshold, if it is not 0, is the threshold for which segments have heads; see [sketchblock.Builder.Heads].
	HeadThreshold float64
	// PassageShingles, if it is not 0, is the number of shingles in the passages whose keys segments have; see
	// [fingerprints.Passages.Heads].
	PassageShingles int
	// AuditSample is about how many documents the audit samples. 0 means no audit.
	AuditSample int

	inputs *Inputs           // read in Setup, like the next three
	ranks  *preference.Ranks // nil if no list says what is kept
	shares audit.Shares
	// expansion counts for all tasks of the process.
	expansion *expansion
	words     Sketching // Sketching with the stop words, and the shingles that do not count
}

// allRanks are the lists of preferred sources of the jobs at work in this process. They may have millions of lines.
var allRanks work.Shared[preference.Ranks]

// Setup reads the inputs. It must be called before the first task.
func (f *Fingerprinting) Setup() (err error) {
	if f.inputs, err = OpenInputs(string(f.Inputs)); err != nil {
		return err
	}
	if f.Kept.Keep.Ranking() != "" {
		f.ranks, err = allRanks.Get(string(f.Inputs), func(string) (*preference.Ranks, error) {
			return preference.ReadRanks(f.inputs.Ranking)
		})
		if err != nil {
			return err
		}
	}
	if f.expansion, err = expansions.Get(string(f.Inputs), func(string) (*expansion, error) {
		return new(expansion), nil
	}); err != nil {
		return err
	}
	f.Fields.Others = f.Kept.fields()
	f.shares = f.inputs.AuditShares(f.AuditSample)
	f.words, err = f.WithLists(f.inputs)
	return err
}

// Task fingerprints the split of its number. With a state all comes from segments, which it makes if there are none.
func (f *Fingerprinting) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	if f.Segments != "" {
		return f.keep(ctx, t.Number, w)
	}
	if err := f.rejectUnread(t.Number, w); err != nil {
		return err
	}
	o := w.Outcome
	reader := newSplitReader(f.Reading, f.inputs.Files, f.inputs.Splits[t.Number], w.Runs.Ahead)
	defer reader.close()
	reader.total = f.expansion
	counts := newTally(&w.Run, f.rangeOf, f.Kept.Pages.rangeOf)
	err := f.read(ctx, reader, &w.Figures, func(b *block) error {
		findings.Merge(&o.Findings, b.Findings)
		if !f.Kept.Whole {
			o.Shingles += b.shingles()
		}
		if err := counts.add(b); err != nil {
			return err
		}
		return b.write(&w.Run, t.Number, 0)
	})
	if err == nil {
		err = counts.write()
	}
	if err != nil {
		return err
	}
	for _, one := range reader.expanding {
		o.Counts.Expanding += one
	}
	w.Figures.Records += o.Counts.Documents + o.Counts.ReferenceDocuments
	w.Figures.Bytes += o.Counts.Bytes + o.Counts.ReferenceBytes
	if f.Checksums {
		return WriteChecksums(&w.Run, t.Number, reader.sums)
	}
	return nil
}

func (f *Fingerprinting) rejectUnread(split int, w *work.TaskContext) error {
	if split > 0 || len(f.inputs.Unread) == 0 {
		return nil
	}
	b := newBlock(0, 0)
	for i := range f.inputs.Unread {
		b.reject(&f.inputs.Unread[i], &Record{}, f.inputs.Unread[i].Fault)
	}
	findings.Merge(&w.Outcome.Counts, b.Counts)
	return w.Run.Section(records.Rejects, 0, b.rejects)
}

// rangeOf returns the task that counts the documents of a source, given the hash of its value.
func (f *Fingerprinting) rangeOf(source uint64) int { return records.ShardOf(source, f.Shards) }

// read fingerprints the portions of the reader and passes their blocks on, in order. One worker reads a split of plain
// lines. An uncut file, such as a compressed one, is read by one goroutine and fingerprinted by all cores.
func (f *Fingerprinting) read(ctx context.Context, reader *splitReader, figures *work.Figures,
	write func(*block) error,
) error {
	if !reader.isUncut() {
		return f.serial(ctx, reader, write)
	}
	others, err := f.parallel(ctx, reader, write)
	figures.CPU += others
	return err
}

func (f *Fingerprinting) serial(ctx context.Context, reader *splitReader, write func(*block) error) error {
	worker, err := f.fingerprinter()
	if err != nil {
		return err
	}
	b := f.block()
	defer b.part.release()
	first := turn{func() error { return nil }, write}
	for {
		// A failure to read may wrap io.EOF. Only the bare one is the end.
		if err := reader.fill(ctx, &b.part); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := worker.fingerprint(ctx, b, first); err != nil {
			return err
		}
		if err := write(b); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// parallel fingerprints the portions of the reader on all cores. It returns the CPU time of its goroutines.
func (f *Fingerprinting) parallel(ctx context.Context, reader *splitReader,
	write func(*block) error,
) (time.Duration, error) {
	pool := Pool[*block]{
		New: f.block,
		End: func(b *block) { b.part.release() },
		Readers: []Reader[*block]{func(ctx context.Context, put func(func(*block) error) error) error {
			return putAll(ctx, reader, put)
		}},
		Worker: func() (func(context.Context, *block, func() error) error, error) {
			worker, err := f.fingerprinter()
			return func(ctx context.Context, b *block, await func() error) error {
				return worker.fingerprint(ctx, b, turn{await, write})
			}, err
		},
		Write: write,
	}
	return pool.Run(ctx)
}

func (f *Fingerprinting) block() *block {
	b := newBlock(0, 0)
	if kind, err := fingerprints.Of(f.Kept.Fingerprints); err == nil && kind.HasColumns {
		b = newBlock(f.Kept.Scheme.Bands, f.Options.SimHashBits)
	}
	b.isWhole = f.Kept.Whole
	return b
}

func (f *Fingerprinting) fingerprinter() (*fingerprinter, error) {
	if f.Segments == "" {
		return newFingerprinter(f.words, f.Kept, f.ranks, f.shares, f.inputs)
	}
	var kept audit.Shares
	if f.keepsSample() {
		kept.Sampled = f.shares.Kept(float64(f.inputs.Known))
	}
	worker, err := newFingerprinter(f.words, f.Kept, f.ranks, kept, f.inputs)
	if err == nil {
		worker.isForSegments = true
	}
	return worker, err
}

func putAll(ctx context.Context, reader *splitReader, put func(func(*block) error) error) error {
	for {
		err := put(func(b *block) error { return reader.fill(ctx, &b.part) })
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Pool passes items from readers through one worker for each core to a writer. The writer gets them in the
// order of reading. Items are reused. The number of items in use is limited, which bounds the memory.
type Pool[T any] struct {
	// New makes an item. End, if not nil, gets each item in the end, also after a failure. It may be in any state.
	New func() T
	End func(T)
	// Readers run side by side. The input ends when each of them has returned.
	Readers []Reader[T]
	// Worker makes the function that works on the items of one goroutine. Await waits until all earlier items are
	// written. From then until it returns, the function may also do what Write does.
	Worker func() (do func(ctx context.Context, one T, await func() error) error, err error)
	// Write gets the items one at a time. If there are several readers, only the items of the same reader are in order.
	Write func(T) error
}

// Reader reads items for a [Pool] and calls put for each. Put waits for a free item, calls fill with it, and passes it
// on. If fill returns an error, put returns it, and the item is free again. Put also returns the error of the context.
type Reader[T any] func(ctx context.Context, put func(fill func(T) error) error) error

type item[T any] struct {
	value T
	first chan struct{} // closed when all earlier items are written
	done  chan struct{} // closed when a worker is done with it
}

// Run works until all readers have ended and their items are written, or until the first error, which it returns. The
// context of the readers and workers ends then. Run also returns the CPU time of all goroutines.
func (p Pool[T]) Run(ctx context.Context) (time.Duration, error) {
	workers := work.Cores()
	r := &poolRun[T]{Pool: p, free: make(chan *item[T], workers+len(p.Readers)+1)}
	r.filled, r.ordered = make(chan *item[T], cap(r.free)), make(chan *item[T], cap(r.free))
	for range cap(r.free) {
		one := &item[T]{value: p.New()}
		if p.End != nil {
			defer p.End(one.value)
		}
		r.free <- one
	}
	group, ctx := errgroup.WithContext(ctx)
	var cpu atomic.Int64
	start := func(do func() error) {
		group.Go(func() error {
			used, err := work.Measure(func() error { return work.Shielded(do) })
			cpu.Add(int64(used))
			return err
		})
	}
	var reading atomic.Int32
	reading.Store(int32(len(p.Readers)))
	for _, reader := range p.Readers {
		start(func() error {
			defer func() {
				if reading.Add(-1) == 0 {
					close(r.filled)
					close(r.ordered)
				}
			}()
			return reader(ctx, func(fill func(T) error) error { return r.put(ctx, fill) })
		})
	}
	for range workers {
		start(func() error { return r.work(ctx) })
	}
	start(func() error { return r.write(ctx) })
	err := group.Wait()
	return time.Duration(cpu.Load()), err
}

type poolRun[T any] struct {
	Pool[T]
	free, filled, ordered chan *item[T]
}

func (r *poolRun[T]) put(ctx context.Context, fill func(T) error) error {
	var one *item[T]
	select {
	case one = <-r.free:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := fill(one.value); err != nil {
		r.free <- one
		return err
	}
	one.first, one.done = make(chan struct{}), make(chan struct{})
	r.filled <- one
	r.ordered <- one
	return nil
}

func (r *poolRun[T]) work(ctx context.Context) error {
	do, err := r.Worker()
	if err != nil {
		return err
	}
	for one := range r.filled {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		await := func() error {
			select {
			case <-one.first:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := do(ctx, one.value, await); err != nil {
			return err
		}
		close(one.done)
	}
	return nil
}

func (r *poolRun[T]) write(ctx context.Context) error {
	for one := range r.ordered {
		close(one.first)
		select {
		case <-one.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := r.Write(one.value); err != nil {
			return err
		}
		r.free <- one
	}
	return nil
}

// AuditHash returns the hash by which the audit chooses a document, given the first word of its digest: it chooses the
// document if the hash is below the [audit.Limit] of a share. The hash depends on the name of the file and the position
// there, so that files which come or go do not change it. Equal documents of the reference are chosen together, since
// only the first of them can be in a pair of the job.
func (in *Inputs) AuditHash(ref docref.Ref, digest uint64) uint64 {
	return in.auditHash(ref.File(), ref.Position(), digest)
}

func (in *Inputs) auditHash(number int, position int64, digest uint64) uint64 {
	file := &in.Files[number]
	if file.Reference {
		return audit.Hash(digest)
	}
	name, inFile := file.Place(position)
	return audit.Hash(xxh3.HashString(name) ^ uint64(inFile))
}

// AuditDocuments collects the documents of a split that the audit may want, with their sets. The zero value is usable.
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
