package transforms

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"golang.org/x/sync/errgroup"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
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
	return sideBySide(s, &fingerprintFn{Job: job}, splits)
}

var fingerprintStage = newStage("fingerprint")

type fingerprintFn struct {
	Job Job

	bundle

	inputs Inputs      // read in Setup
	shares auditShares // of the documents to set aside, made in Setup
}

func (f *fingerprintFn) Setup() (err error) {
	f.inputs, err = readInputs(f.Job.Inputs)
	f.shares = newAuditShares(f.Job, f.inputs)
	return err
}

func (f *fingerprintFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	t := decodeTask(element)
	return f.begin(ctx, fingerprintStage, t.Number, f.Job.Lanes, func(ctx context.Context, o *outcome, m *memory) error { return f.split(ctx, t.Number, o, m) })
}

// split fingerprints one split. A split of plain text is one worker's; the
// single stream of a compressed file is inflated by one goroutine and
// fingerprinted by as many as there are cores.
func (f *fingerprintFn) split(ctx context.Context, number int, o *outcome, m *memory) error {
	run := &m.run
	run.Reset(f.Job.Temp, f.Job.RunBytes)
	defer run.Abort()
	reader := &splitReader{files: f.inputs.Files, rest: f.inputs.Splits[number], maxLine: lineLimit(f.Job.MaxDocument)}
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
		m.figures.cpu += others
	} else {
		err = f.serial(ctx, reader, write)
	}
	if err != nil {
		return err
	}
	m.figures.records += o.Counts.Documents + o.Counts.ReferenceDocuments
	m.figures.bytes += o.Counts.Bytes + o.Counts.ReferenceBytes
	o.Run, err = run.Close()
	return err
}

func (f *fingerprintFn) serial(ctx context.Context, reader *splitReader, write func(*block) error) error {
	worker, err := f.newFingerprinter()
	if err != nil {
		return err
	}
	b := newBlock(f.Job)
	for {
		if err := reader.fill(b); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := worker.fingerprint(b); err != nil {
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

// parallel passes blocks from the reader through the workers to write, which
// gets them in the order of the stream. The number of blocks bounds the memory. It
// returns the CPU time of its goroutines.
func (f *fingerprintFn) parallel(ctx context.Context, reader *splitReader, write func(*block) error) (time.Duration, error) {
	workers := Cores()
	free := make(chan *block, workers+2)
	for range cap(free) {
		free <- newBlock(f.Job)
	}
	filled, ordered := make(chan *block, cap(free)), make(chan *block, cap(free))
	var cpu atomic.Int64
	group, groupCtx := errgroup.WithContext(ctx)
	start := func(work func() error) {
		group.Go(func() error {
			used, err := measure(work)
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
	counts  Counts
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
	b.text, b.batches, b.rejects, b.counts = b.text[:0], b.batches[:0], b.rejects[:0], Counts{}
	b.sampled, b.probed = b.sampled[:0], b.probed[:0]
}

func (b *block) reject(file string, position int64, fault string) {
	b.counts.Rejected++
	b.rejects = output.AppendReject(b.rejects, file, position, fault)
}

// write adds the block to the run file of the split.
func (b *block) write(run *runfile.Writer, split int) error {
	if b.builder.Len() > 0 {
		if err := run.Section(documentsKind, split, b.builder.Documents()...); err != nil {
			return err
		}
		if err := run.Section(setsKind, split, b.builder.Sets()); err != nil {
			return err
		}
	}
	for _, section := range []struct {
		kind  runfile.Kind
		shard int
		bytes []byte
	}{{sampleKind, split, b.sampled}, {probeKind, split, b.probed}, {rejectsKind, 0, b.rejects}} {
		if len(section.bytes) == 0 {
			continue
		}
		if err := run.Section(section.kind, section.shard, section.bytes); err != nil {
			return err
		}
	}
	return nil
}

// splitReader reads the stretches of a split one after the other.
type splitReader struct {
	files   []corpus.File
	rest    corpus.Split
	maxLine int64
	reader  *corpus.Reader // nil before the first stretch
	reading bool           // the reader is within rest[0]
	buffer  []byte
	rejects []corpus.Reject // of the stretch, that come after what was read
}

// compressed reports whether the split holds compressed files.
func (r *splitReader) compressed() bool {
	for _, stretch := range r.rest {
		if r.files[stretch.File].Compression != corpus.None {
			return true
		}
	}
	return false
}

// fill reads about blockBytes into the block, which it empties first: a batch
// of a large file, or several small ones. It returns io.EOF where nothing is
// left.
func (r *splitReader) fill(b *block) error {
	b.reset()
	for len(b.text) < blockBytes && len(r.rest) > 0 {
		if err := r.open(); err != nil {
			return inputError{err}
		}
		batch, err := r.reader.Next(r.buffer)
		if err == io.EOF {
			if len(r.rejects) > 0 {
				b.batches = append(b.batches, corpus.Batch{File: r.rest[0].File, Rejects: r.rejects})
			}
			r.rest, r.reading, r.rejects = r.rest[1:], false, nil
			continue
		} else if err != nil {
			return inputError{err}
		}
		r.buffer = batch.Data
		r.order(&batch)
		if len(b.batches) == 0 && len(batch.Data) >= blockBytes/2 {
			// A large batch changes hands, which spares a copy.
			r.buffer, b.text = b.text, batch.Data
			b.batches = append(b.batches, batch)
			return nil
		}
		start := len(b.text)
		b.text = append(b.text, batch.Data...)
		batch.Data = b.text[start:len(b.text):len(b.text)]
		b.batches = append(b.batches, batch)
	}
	if len(b.batches) == 0 {
		return io.EOF
	}
	return nil
}

// order holds rejects back that come after the lines of the batch, since a
// stream may break in the middle of a line.
func (r *splitReader) order(batch *corpus.Batch) {
	all := append(r.rejects, batch.Rejects...)
	end, n := batch.Offset+int64(len(batch.Data)), 0
	for n < len(all) && all[n].Position < end {
		n++
	}
	batch.Rejects, r.rejects = all[:n:n], all[n:]
}

// open opens the next stretch unless one is open.
func (r *splitReader) open() (err error) {
	if r.reading {
		return nil
	}
	r.reading = true
	stretch := r.rest[0]
	if r.reader == nil {
		r.reader, err = corpus.Open(r.files[stretch.File], stretch, r.maxLine)
		return err
	}
	return r.reader.Reset(r.files[stretch.File], stretch)
}

func (r *splitReader) close() {
	if r.reader != nil {
		r.reader.Close() // a file that was only read
	}
}

// lineLimit is the longest line that may hold a document of the largest size:
// JSON takes up to six bytes for one.
func lineLimit(maxDocument int64) int64 { return 6*maxDocument + 1<<20 }
