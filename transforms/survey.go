package transforms

import (
	"context"
	"io"
	"math"
	"sync"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
)

// Seen is a document that a survey has read, before it is fingerprinted.
type Seen struct {
	// Hash is evenly spread and the same for equal texts.
	Hash uint64
	// Bytes is the length of its line.
	Bytes int
	// Length is that of its text in bytes, or the number of its features.
	Length int64
	// Reference says that it is of the reference corpus.
	Reference bool
}

// Surveyed is a fingerprinted document as [Survey] shows it. Its slices are valid
// until the next one.
type Surveyed struct {
	Seen
	Ref    docref.Ref
	Digest uint64
	// Set holds the distinct shingle hashes, ascending.
	Set []uint64
	// SimHash is the SimHash fingerprint, nil where the job has none.
	SimHash []uint64
}

// Visitor gets a part of the documents of a survey, in no order.
type Visitor struct {
	// Wants gets each document that was read and says whether to fingerprint it.
	Wants func(*Seen) bool
	// Visit gets those that Wants wants, and nil after the last of a block.
	Visit func(*Surveyed)
}

// Survey reads the documents of the inputs as the job does, without Beam and without
// writing anything, on all cores, and fingerprints those that the visitors want.
// Each core has a visitor of its own, which newVisitor makes. Survey returns what it
// has counted: documents, bytes, rejects.
func Survey(ctx context.Context, job Job, inputs documents.Inputs, newVisitor func() Visitor) (work.Counts, error) {
	// Blocks hold the full sets, and no key of the job.
	job.Verify, job.Scoring = methods.VerifyExact, methods.Jaccard
	job.Scheme.Bands = 0
	f := &fingerprintFn{Job: job, inputs: &inputs}
	workers := work.Cores()
	free, filled := make(chan *block, 2*workers), make(chan *block, 2*workers)
	for range cap(free) {
		b := newBlock(job)
		defer b.release()
		free <- b
	}
	splits := make(chan int)
	counts := make(chan work.Counts, workers)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(splits)
		for i := range inputs.Splits {
			select {
			case splits <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	var readers sync.WaitGroup
	for range workers {
		readers.Add(1)
		group.Go(func() error {
			defer readers.Done()
			for i := range splits {
				if err := f.readSplit(ctx, i, free, filled); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		readers.Wait()
		close(filled)
		return nil
	})
	for range workers {
		group.Go(func() error {
			total, err := f.survey(ctx, free, filled, newVisitor())
			counts <- total
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return work.Counts{}, err
	}
	close(counts)
	var total work.Counts
	for c := range counts {
		total.Add(c)
	}
	return total, nil
}

// readSplit passes the blocks of a split on.
func (f *fingerprintFn) readSplit(ctx context.Context, number int, free, filled chan *block) error {
	reader := newSplitReader(ctx, f.Job, f.inputs.Files, f.inputs.Splits[number])
	defer reader.close()
	for {
		var b *block
		select {
		case b = <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := reader.fill(b); err == io.EOF {
			free <- b
			return nil
		} else if err != nil {
			return err
		}
		select {
		case filled <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// survey shows the documents of blocks to a visitor.
func (f *fingerprintFn) survey(ctx context.Context, free chan<- *block, filled <-chan *block, visitor Visitor) (work.Counts, error) {
	var total work.Counts
	worker, err := f.newFingerprinter()
	if err != nil {
		return total, err
	}
	var wanted []Seen // of the block at hand
	worker.wants = func(line []byte, record corpus.Record, isReference bool) bool {
		seen := Seen{hashOf(record), len(line), recordLength(record), isReference}
		if !visitor.Wants(&seen) {
			return false
		}
		wanted = append(wanted, seen)
		return true
	}
	var documents []byte
	for b := range filled {
		if ctx.Err() != nil {
			return total, ctx.Err()
		}
		wanted = wanted[:0]
		if err := worker.fingerprint(b); err != nil {
			return total, err
		}
		b.release()
		total.Add(b.counts)
		documents = documents[:0]
		for _, part := range b.builder.Documents() {
			documents = append(documents, part...)
		}
		if err := show(documents, b.builder.Sets(), wanted, visitor.Visit); err != nil {
			return total, err
		}
		free <- b
	}
	return total, nil
}

// show passes the documents of a sketch block on.
func show(documents, sets []byte, seen []Seen, visit func(*Surveyed)) error {
	stored, err := sketchblock.Parse(documents)
	if err != nil {
		return err
	}
	var d Surveyed
	for i := range stored.Len() {
		size := sketchblock.HashSize * stored.Stored(i)
		d.Seen, d.Ref, d.Digest = seen[i], stored.Ref(i), stored.Digest(i)
		d.Set = sketchblock.AppendSet(d.Set[:0], sets[:size])
		d.SimHash = stored.SimHash(d.SimHash[:0], i)
		sets = sets[size:]
		visit(&d)
	}
	visit(nil)
	return nil
}

// hashOf returns a hash of the texts or features of a record.
func hashOf(record corpus.Record) uint64 {
	hash := uint64(0)
	for _, text := range record.Texts {
		hash = asmkernels.SplitMix(hash ^ xxh3.Hash(text))
	}
	for _, feature := range record.Features {
		hash = asmkernels.SplitMix(hash ^ feature.Hash ^ math.Float64bits(feature.Weight))
	}
	return hash
}

// AuditShares returns the share of the documents that an audit samples, and that in
// which it looks for partners; 0 where there is none.
func AuditShares(job Job, inputs *documents.Inputs) (sampled, probed float64) {
	shares := newAuditShares(job, inputs)
	return shares.sampled, shares.probed
}

// AuditElements is how many shingles an audit holds at most, of a corpus of that many.
func AuditElements(all float64) float64 { return float64(auditShares{scale: 1}.elements(int64(all))) }
