package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/sourcecode"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/keep/variants"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/util/panics"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// Sets says how much of the sets of documents a sketch block keeps.
type Sets string

// A block keeps all hashes of a set, some of the smallest, or none.
const (
	AllHashes      Sets = "all"
	SmallestHashes Sets = "smallest"
	NoHashes       Sets = "none"
)

// UsualSmallest is how many of the smallest hashes stand for a set, unless a job says otherwise.
const UsualSmallest = 128

// Kept says what a sketch block keeps of a document in addition to its ref, digest, sizes, id and SimHash fingerprint.
type Kept struct {
	Marking

	// Scheme is the scheme of the band keys. Without bands there are no keys.
	Scheme lshbands.Scheme
	// Whole says that common shingles are still to be removed from the sets. Then nothing is derived from the sets.
	Whole bool `json:",omitempty"`
	// OnlyMarks says that no fingerprints are made: blocks only name documents, whose pairs are known.
	OnlyMarks bool `json:",omitempty"`
	// Sets says how much is kept of the sets. Smallest is how many hashes [SmallestHashes] are, and 0 with the others.
	Sets     Sets
	Smallest int `json:",omitempty"`
	// Fingerprints is the kind of the fingerprints, empty for sets. Sets and Smallest are about that kind only.
	Fingerprints fingerprints.Name `json:",omitempty"`
	// ExcludeQuotations leaves quoted words out of sequences.
	ExcludeQuotations bool
	// Texts keeps the beginnings of texts, by which variants are told.
	Texts bool `json:",omitempty"`
}

// Of returns what is kept of a set, which ascends. It shares the memory of the set.
func (k *Kept) Of(set []uint64) []uint64 {
	switch k.Sets {
	case NoHashes:
		return nil
	case SmallestHashes:
		return sketch.BottomK(set, k.Smallest)
	}
	return set
}

// fingerprinter fills sketch blocks. It is not for concurrent use.
type fingerprinter struct {
	making
	shares audit.Shares
	inputs *Inputs
	source *recordDecoder
	marker *marker
	kind   *fingerprints.Kind
	made   fingerprints.Fingerprint // of the last document
	// isForSegments says that blocks do not know the numbers of their files: all refs have the number 0.
	isForSegments bool
	// wants, if not nil, selects the documents that are fingerprinted. Others are only counted.
	wants func(r *Record) bool
	// takes, if not nil, gets the fingerprinted documents and their sets, in place of the block.
	takes func(d *sketchblock.Document, set []uint64)
}

// newFingerprinter returns a fingerprinter of the documents of the inputs. Ranks is the list of preferred sources that
// kept names, nil for none. The options already include their stop words, and the fields the marking's.
func newFingerprinter(s Sketching, kept Kept, ranks *preference.Ranks, shares audit.Shares,
	inputs *Inputs,
) (*fingerprinter, error) {
	f := &fingerprinter{
		shares: shares,
		inputs: inputs,
		source: newRecordDecoder(inputs.Files, s.Wanted()),
	}
	var err error
	if f.kind, err = fingerprints.Of(kept.Fingerprints); err != nil {
		return nil, err
	}
	if f.marker, err = newMarker(kept.Marking, ranks, s.Options.Measure.Seed); err != nil {
		return nil, err
	}
	f.making, err = newMaking(s, kept)
	return f, err
}

func (f *fingerprinter) record(b *block, r *Record) error {
	file := &f.inputs.Files[r.File]
	documents, bytes := &b.Counts.Documents, &b.Counts.Bytes
	if file.Reference {
		documents, bytes = &b.Counts.ReferenceDocuments, &b.Counts.ReferenceBytes
	}
	*bytes += r.Bytes
	if r.IsBlank {
		return nil
	}
	if r.PassedOver != "" {
		b.PassedOver[r.PassedOver]++
		f.marker.pages.redirect(b, r, file)
		return nil
	}
	if r.Fault != "" {
		b.unread(file, r)
		return nil
	}
	number := r.File
	if f.isForSegments {
		number = 0
	}
	ref, err := docref.New(number, r.Position)
	if err != nil {
		return fmt.Errorf("file %s: %w", file.Path, err)
	}
	if err := f.sketching.fits(contentLength(r.Content)); err != nil {
		b.reject(file, r, err.Error())
		return nil
	}
	f.budget.Begin(memoryOf(r, file.Format))
	err = f.add(b, ref, r)
	if errors.Is(err, sketch.ErrSpent) {
		b.reject(file, r, f.sketching.spent(f.budget))
		return nil
	} else if fault := panics.Of(err); fault != nil {
		r.Fault, r.Panic = fault.Error(), fault
		b.unread(file, r)
		return f.renew()
	} else if err != nil {
		return err
	}
	*documents++
	if r.Content.IsInteger {
		b.Counts.IntegerIDs++
	}
	if source, value := f.marker.sourceOf(r); source != 0 {
		b.values.add(valueKey{source, sources.CorpusOf(file.Reference)}, value)
	} else {
		b.Sources.Documents.Add(file.SourceAt(r.Position), 1)
	}
	if !file.Reference {
		countKind(&b.Texts, file.Format, &r.Content)
		if file.Format.HasFields() {
			countTexts(&b.Texts, r.Content.Texts)
		}
	}
	return nil
}

// add adds a wanted document to the block, but nothing of one that has spent its budget or over which it panics.
func (f *fingerprinter) add(b *block, ref docref.Ref, r *Record) error {
	if f.wants != nil && !f.wants(r) {
		return f.budget.Err()
	}
	d, file, before := &f.made, &f.inputs.Files[r.File], b.end()
	err := panics.Over(fingerprinted, func() error {
		if f.kept.OnlyMarks {
			f.mark(&d.Stored, b, ref, r)
			return nil
		}
		*d = f.maker.Make(r.Raw, r.Content)
		if err := f.budget.Err(); err != nil {
			return err
		}
		f.mark(&d.Stored, b, ref, r)
		elements := d.Set
		if !f.kind.HasShingles {
			elements = d.Digest[:d.Stored.Size]
		}
		f.marker.pages.add(b, ref, r, file, elements)
		return nil
	})
	if err != nil {
		b.cut(before)
		return err
	}
	if d.InvalidBytes > 0 {
		b.Counts.InvalidUTF8++
	}
	b.countIgnored(d.Document)
	one := &d.Stored
	if f.kind.HasShingles && one.Size < findings.ShortText && len(r.Content.Texts) > 0 && !file.Reference &&
		file.Format.HasFields() {
		b.Texts.Short++
	}
	if f.kind.HasShingles && one.Size < findings.TinyText && !file.Reference {
		b.Texts.Tiny++
	}
	if f.shares.Sampled > 0 {
		b.forAudit.Add(f.shares, one, d.Set, f.inputs.auditHash(r.File, r.Position, one.Digest[0]), file.Reference)
	}
	if f.takes != nil {
		f.takes(one, d.Set)
	} else {
		b.builder.Add(*one)
	}
	return nil
}

func (f *fingerprinter) mark(d *sketchblock.Document, b *block, ref docref.Ref, r *Record) {
	d.Scope, d.Side = f.marker.scopeOf(r, &b.Counts)
	d.Source, _ = f.marker.sourceOf(r)
	d.Ref, d.Digest, d.ID = ref, sketchblock.InScope(d.Digest, d.Scope), r.Content.ID
	b.capture = records.AppendCapture(b.capture[:0], r.Content.URL, r.Content.Date, r.Content.Title)
	if f.kept.Texts {
		b.capture = records.AppendText(b.capture, variants.MostBytes, r.Content.Texts...)
	}
	d.Capture = b.capture
	d.Priority, d.Ties = f.marker.priority(r, &f.inputs.Files[r.File], &b.Counts)
	if len(d.ID) == 0 {
		b.Unnamed++
	}
}

// countTexts counts the texts of a document. A document without texts has features.
func countTexts(counts *findings.Texts, texts [][]byte) {
	if len(texts) == 0 {
		return
	}
	counts.Records++
	isAddress, isPage := true, false
	for _, text := range texts {
		if text = bytes.TrimSpace(text); len(text) > 0 {
			isAddress = isAddress && isWebAddress(text)
			isPage = isPage || isMarkup(text)
		}
	}
	if isPage {
		counts.Markup++
	}
	switch {
	case isBlank(texts):
		counts.Empty++
	case isAddress:
		counts.Addresses++
	}
}

// isBlank reports whether a document has texts, and they have no character but white space.
func isBlank(texts [][]byte) bool {
	return len(texts) > 0 && !slices.ContainsFunc(texts, func(text []byte) bool {
		return len(bytes.TrimSpace(text)) > 0
	})
}

func countKind(counts *findings.Texts, format corpus.Format, content *corpus.Record) {
	if isBlank(content.Texts) {
		counts.Blank++
	}
	switch {
	case format.Definition().HasPages:
		counts.Pages++
	case sourcecode.IsNameOfCode(content.ID):
		counts.Code++
	}
}

func isMarkup(text []byte) bool {
	for _, begin := range []string{"<!doctype html", "<html"} {
		if len(text) >= len(begin) && strings.EqualFold(string(text[:len(begin)]), begin) {
			return true
		}
	}
	return false
}

// longestAddress is the length of the longest address that servers and browsers are sure to take, in bytes.
const longestAddress = 2048

func isWebAddress(text []byte) bool {
	return len(text) <= longestAddress &&
		(bytes.HasPrefix(text, []byte("http://")) || bytes.HasPrefix(text, []byte("https://"))) &&
		!bytes.ContainsAny(text, " \t\r\n")
}

const (
	// smallDocument is how many bytes a document may take without waiting for its turn: prose of some megabytes.
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

// memoryOf returns how many bytes of memory a record of a format takes, its content included. The texts of pages lie
// next to the record, all others are mostly parts of it.
func memoryOf(r *Record, format corpus.Format) int64 {
	texts := int64(0)
	for _, text := range r.Content.Texts {
		texts += int64(len(text))
	}
	record := max(int64(len(r.Raw)), texts)
	if format.Definition().HasPages {
		record = int64(len(r.Raw)) + texts
	}
	return record + featureBytes*int64(len(r.Content.Features))
}

// DocumentBytes returns how many bytes of memory one document may take while it becomes a fingerprint, in a process of
// the given bytes. The rest is for what belongs to no document, and for garbage.
func DocumentBytes(memory int64) int64 { return (memory - baseMemory) * 7 / 10 }

func (r Reading) spent(budget *sketch.Budget) string {
	const segment = 10 << 20
	much, enough := "more", "a larger --memory"
	if needs := budget.Needs(); needs > 0 {
		memory := needs*10/7 + baseMemory
		much = fmt.Sprintf("about %d MiB of memory, which is more", needs>>20)
		enough = fmt.Sprintf("--memory %dMiB or more", (memory/segment+1)*segment>>20)
	}
	return fmt.Sprintf("the document takes %s than the %d MiB that one may: give %s, or leave the document out", much,
		r.DocumentBytes>>20, enough)
}

type turn struct {
	// await waits until all earlier blocks are written.
	await func() error
	write func(*block) error
}

// fingerprint fills the block from its portion of the input, and frees the portion. It writes the block early if that
// grows, and after a large document.
func (f *fingerprinter) fingerprint(ctx context.Context, b *block, t turn) error {
	defer b.part.release()
	defer f.endLarge()
	f.takeTurns(func() error {
		// Earlier blocks are written before the wait for other large documents, so no worker waits for one that does.
		if err := t.await(); err != nil {
			return err
		}
		return work.BeginLarge(ctx)
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

// writeEarly writes the block, empties it and ends a large document, whose grown buffers are replaced.
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
