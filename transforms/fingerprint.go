package transforms

import (
	"context"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"golang.org/x/sync/errgroup"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&fingerprintFn{})
}

// bottomK is the size of the sketch that is kept where the full sets are not:
// the standard error of an estimate is at most 1/(2 sqrt(k)), 4 %.
const bottomK = 128

// blockBytes is about how much of the input goes into one sketch block: enough
// for a read to be worth its call, little enough to stay in a core's cache.
const blockBytes = 512 << 10

// Fingerprint reads the documents of the splits and writes their sketch blocks
// and the rejects: PCollection<[]byte> of tasks to one of outcomes.
func Fingerprint(s beam.Scope, job Job, splits beam.PCollection) beam.PCollection {
	s = s.Scope("fingerprint")
	return sideBySide(s, &fingerprintFn{Job: job, bundle: newBundle(job)}, splits)
}

var fingerprintStage = newStage(work.Fingerprint)

type fingerprintFn struct {
	Job Job

	bundle

	inputs *documents.Inputs // read in Setup
	shares auditShares       // of the documents to set aside, made in Setup
}

func (f *fingerprintFn) Setup() (err error) {
	if f.inputs, err = documents.OpenInputs(f.Job.Inputs); err == nil {
		f.shares = newAuditShares(f.Job, f.inputs)
	}
	return err
}

func (f *fingerprintFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, fingerprintStage, element, f.split)
}

// split fingerprints one split. A split of plain text is one worker's; the
// single stream of a compressed file is inflated by one goroutine and
// fingerprinted by as many as there are cores.
func (f *fingerprintFn) split(ctx context.Context, t work.Task, w *work.Place) error {
	run, o, number := &w.Run, w.Outcome, t.Number
	reader := newSplitReader(ctx, f.Job, f.inputs.Files, f.inputs.Splits[number])
	defer reader.close()
	write := func(b *block) error {
		o.Counts.Add(b.counts)
		o.Shingles += int64(len(b.builder.Sets()) / sketchblock.HashSize)
		return b.write(run, number)
	}
	var err error
	if reader.compressed() {
		var others time.Duration
		others, err = f.parallel(ctx, reader, write)
		w.Figures.Cpu += others
	} else {
		err = f.serial(ctx, reader, write)
	}
	if err != nil {
		return err
	}
	w.Figures.Records += o.Counts.Documents + o.Counts.ReferenceDocuments
	w.Figures.Bytes += o.Counts.Bytes + o.Counts.ReferenceBytes
	if slices.Contains(f.Job.Emit, output.Unique) {
		if err := documents.WriteChecksums(run, number, reader.sums); err != nil {
			return err
		}
	}
	return nil
}

func (f *fingerprintFn) serial(ctx context.Context, reader *splitReader, write func(*block) error) error {
	worker, err := f.newFingerprinter()
	if err != nil {
		return err
	}
	b := newBlock(f.Job)
	defer b.release()
	for {
		if err := reader.fill(b); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := worker.fingerprint(b); err != nil {
			return err
		}
		b.release()
		if err := write(b); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// parallel passes blocks from the reader through the workers to write, which
// gets them in the order of the stream. The number of blocks bounds the memory. It
// returns the CPU time of its goroutines.
func (f *fingerprintFn) parallel(ctx context.Context, reader *splitReader, write func(*block) error) (time.Duration, error) {
	workers := work.Cores()
	free := make(chan *block, workers+2)
	for range cap(free) {
		b := newBlock(f.Job)
		defer b.release()
		free <- b
	}
	filled, ordered := make(chan *block, cap(free)), make(chan *block, cap(free))
	var cpu atomic.Int64
	group, groupCtx := errgroup.WithContext(ctx)
	reader.ctx = groupCtx
	start := func(do func() error) {
		group.Go(func() error {
			used, err := work.Measure(do)
			cpu.Add(int64(used))
			return err
		})
	}
	start(func() error {
		defer close(filled)
		defer close(ordered)
		for {
			var b *block
			select {
			case b = <-free:
			case <-groupCtx.Done():
				return groupCtx.Err()
			}
			if err := reader.fill(b); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			b.done = make(chan struct{})
			filled <- b
			ordered <- b
		}
	})
	for range workers {
		start(func() error {
			worker, err := f.newFingerprinter()
			if err != nil {
				return err
			}
			for b := range filled {
				err := worker.fingerprint(b)
				b.release()
				close(b.done)
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	start(func() error {
		for b := range ordered {
			select {
			case <-b.done:
			case <-groupCtx.Done():
				return groupCtx.Err()
			}
			if err := write(b); err != nil {
				return err
			}
			free <- b
		}
		return nil
	})
	err := group.Wait()
	return time.Duration(cpu.Load()), err
}

// block is a stretch of the input on its way to a sketch block.
type block struct {
	text    []byte // that batches hold
	batches []corpus.Batch
	builder *sketchblock.Builder
	rejects []byte
	sampled []byte // documents set aside for the audit
	probed  []byte // others, to look for partners in
	counts  work.Counts
	holds   bool          // the right to hold a long line
	done    chan struct{} // closed when fingerprinted, where that is another goroutine's work
}

func newBlock(job Job) *block {
	return &block{builder: sketchblock.NewBuilder(job.Scheme.Bands, job.SimHashBits/64)}
}

// keepBytes is the largest text whose memory is used again.
const keepBytes = 8 << 20

func (b *block) reset() {
	b.builder.Reset()
	if cap(b.text) > keepBytes {
		b.text = nil
	}
	b.text, b.batches, b.rejects, b.counts = b.text[:0], b.batches[:0], b.rejects[:0], work.Counts{}
	b.sampled, b.probed = b.sampled[:0], b.probed[:0]
}

// release frees the text, which has been fingerprinted or will not be, where it
// is that of a long line.
func (b *block) release() {
	if !b.holds {
		return
	}
	b.text, b.batches, b.holds = nil, nil, false
	documents.ReleaseLongLine()
}

func (b *block) reject(file string, position int64, fault string) {
	b.counts.Rejected++
	b.rejects = output.AppendReject(b.rejects, file, position, fault)
}

// write adds the block to the run file of the split.
func (b *block) write(run *runfile.Writer, split int) error {
	if b.builder.Len() > 0 {
		if err := run.Section(records.Documents, split, b.builder.Documents()...); err != nil {
			return err
		}
		if err := run.Section(records.Sets, split, b.builder.Sets()); err != nil {
			return err
		}
	}
	for _, section := range []struct {
		kind  runfile.Kind
		shard int
		bytes []byte
	}{{records.Sample, split, b.sampled}, {records.Probe, split, b.probed}, {records.Rejects, 0, b.rejects}} {
		if len(section.bytes) == 0 {
			continue
		}
		if err := run.Section(section.kind, section.shard, section.bytes); err != nil {
			return err
		}
	}
	return nil
}
