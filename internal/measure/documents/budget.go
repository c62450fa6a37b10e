package documents

import (
	"context"
	"fmt"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/sketch"
)

const (
	// smallDocument is how many bytes of memory a document may take while others of the process are fingerprinted. Prose of
	// some megabytes takes as much.
	smallDocument = 16 << 20
	// featureBytes is a feature of a record, which is there twice, and twice as long while a list of them grows.
	featureBytes = 2 * 2 * 24
	// baseMemory is the memory of a process without any task.
	baseMemory = 64 << 20
	// mostBlock is how many bytes of sets a block holds before it is written, whatever is left of its portion.
	mostBlock = 32 << 20
)

// newBudget returns the budget of a document that is read so. Without a limit it is nil.
func (r Reading) newBudget() *sketch.Budget {
	if r.DocumentBytes == 0 {
		return nil
	}
	return &sketch.Budget{Limit: r.DocumentBytes, Small: smallDocument}
}

// memoryOf returns how many bytes of memory a record of a format takes, its content included. The texts of pages lie beside the
// record, all others are mostly parts of it.
func memoryOf(r *Record, format corpus.Format) int64 {
	texts := int64(0)
	for _, text := range r.Content.Texts {
		texts += int64(len(text))
	}
	record := max(int64(len(r.Raw)), texts)
	if format == corpus.HTML || format == corpus.WARC {
		record = int64(len(r.Raw)) + texts
	}
	return record + featureBytes*int64(len(r.Content.Features))
}

// DocumentBytes returns how many bytes of memory one document may take while it becomes a fingerprint, in a process of the given bytes.
// The rest is for what belongs to no document, and for garbage.
func DocumentBytes(memory int64) int64 { return (memory - baseMemory) * 7 / 10 }

// spent returns what a reject says of a document that has spent its budget.
func (r Reading) spent(budget *sketch.Budget) string {
	const unit = 10 << 20
	much, enough := "more", "a larger --memory"
	if needs := budget.Needs(); needs > 0 {
		memory := needs*10/7 + baseMemory
		much, enough = fmt.Sprintf("about %d MiB of memory, which is more", needs>>20), fmt.Sprintf("--memory %dMiB or more", (memory/unit+1)*unit>>20)
	}
	return fmt.Sprintf("the document takes %s than the %d MiB that one may: give %s, or leave the document out", much, r.DocumentBytes>>20, enough)
}

// turn is the place of a block in its split.
type turn struct {
	// await waits until all earlier blocks are written.
	await func() error
	// write writes a block.
	write func(*block) error
}

// beginLarge waits until no other document of the process is large, until its block is written. Earlier blocks are written
// then, so the worker never waits for one that waits for it.
func (t turn) beginLarge(ctx context.Context) error {
	if err := t.await(); err != nil {
		return err
	}
	return work.BeginLarge(ctx)
}

// fingerprint fills the block from its portion of the input, and frees the portion. It writes the block early if that
// grows, and after a large document.
func (f *fingerprinter) fingerprint(ctx context.Context, b *block, t turn) error {
	defer b.part.release()
	defer f.endLarge()
	f.budget.Await(func() error {
		err := t.beginLarge(ctx)
		f.isLarge = err == nil
		return err
	})
	b.reset()
	b.file = b.part.batches[0].File
	for r := range f.source.records(&b.part) {
		if err := f.record(b, r); err != nil {
			return err
		}
		if !f.isLarge && len(b.builder.Sets()) <= mostBlock {
			continue
		}
		if err := f.writeEarly(b, t); err != nil {
			return err
		}
	}
	return nil
}

// writeEarly writes the block and empties it, and ends a large document. New buffers replace those that have grown with it.
func (f *fingerprinter) writeEarly(b *block, t turn) error {
	if err := t.await(); err != nil {
		return err
	}
	if err := t.write(b); err != nil {
		return err
	}
	b.reset()
	if !f.isLarge {
		return nil
	}
	f.endLarge()
	return f.renew()
}

// endLarge gives the right to fingerprint a large document back, if the fingerprinter has it.
func (f *fingerprinter) endLarge() {
	if f.isLarge {
		f.isLarge = false
		work.EndLarge()
	}
}
