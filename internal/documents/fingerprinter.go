package documents

import (
	"fmt"

	"mirrorbeam/internal/audit"
	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/preference"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/sources"
	"mirrorbeam/internal/work"
	"mirrorbeam/lshbands"
	"mirrorbeam/sketch"
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

// Kept says what a sketch block keeps of a document besides its ref, digest, sizes, id and SimHash fingerprint.
type Kept struct {
	Marking

	// Scheme is the scheme of the band keys. Without bands there are no keys.
	Scheme lshbands.Scheme
	// Whole says that common shingles are still to be taken out of the sets. Then nothing that follows from the sets is made.
	Whole bool `json:",omitempty"`
	// Sets says how much is kept of the sets. Smallest is how many hashes [SmallestHashes] are, and 0 with the others.
	Sets     Sets
	Smallest int `json:",omitempty"`
	// Boilerplate counts the documents that have each shingle of base texts.
	Boilerplate bool `json:",omitempty"`
	// Identity, if not empty, says when documents are the same. Then a block keeps nothing else of them: no sets, and one
	// key, which with the digest makes 128 bits.
	Identity sketch.Identity
	// Sequences keeps all shingles of a document, in the order of its one text, instead of its set. Such
	// documents have neither keys nor SimHash fingerprints.
	Sequences bool
	// ExcludeQuotations leaves quoted words out of sequences.
	ExcludeQuotations bool
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
	reading    Reading
	kept       Kept
	shares     audit.Shares
	files      []corpus.File
	source     *recordDecoder
	marker     *marker
	sketcher   *contentSketcher
	sequencer  *sketch.Sequencer  // replaces sketcher where sequences are kept
	identifier *sketch.Identifier // replaces it where documents are the same or not
	bands      *Bands
	packed     []byte
	// isForUnits says that blocks do not know the numbers of their files: all refs have the number 0.
	isForUnits bool
	// wants, if not nil, selects the documents that are fingerprinted. Others are only counted.
	wants func(r *Record, isReference bool) bool
}

// newFingerprinter returns a fingerprinter of the documents of the inputs. Ranks is the list of preferred sources that kept
// names, nil for none. The options already include their stop words, and the fields those of the marking.
func newFingerprinter(s Sketching, kept Kept, ranks *preference.Ranks, shares audit.Shares, inputs *Inputs) (*fingerprinter, error) {
	f := &fingerprinter{
		reading: s.Reading, kept: kept, shares: shares, files: inputs.Files,
		source: newRecordDecoder(inputs.Files, s.Wanted()),
	}
	var err error
	if f.bands, err = NewBands(kept.Scheme); err != nil {
		return nil, err
	}
	if f.marker, err = newMarker(kept.Marking, ranks, s.Options.Measure.Seed); err != nil {
		return nil, err
	}
	switch {
	case kept.Identity != "":
		f.identifier, err = sketch.NewIdentifier(s.Options, kept.Identity)
	case kept.Sequences:
		f.sequencer, err = sketch.NewSequencer(s.Options, kept.ExcludeQuotations)
	default:
		f.sketcher, err = newContentSketcher(s)
	}
	return f, err
}

// fingerprint fills the block from its portion of the input, and frees the portion.
func (f *fingerprinter) fingerprint(b *block) error {
	defer b.part.release()
	b.reset()
	b.file = b.part.batches[0].File
	for r := range f.source.records(&b.part) {
		if err := f.record(b, r); err != nil {
			return err
		}
	}
	return nil
}

// record adds one record to the block.
func (f *fingerprinter) record(b *block, r *Record) error {
	file := &f.files[r.File]
	documents, bytes := &b.counts.Documents, &b.counts.Bytes
	if file.Reference {
		documents, bytes = &b.counts.ReferenceDocuments, &b.counts.ReferenceBytes
	}
	*bytes += r.Bytes
	if r.IsBlank {
		return nil
	}
	if r.PassedOver != "" {
		b.passed = b.passed.Add(work.PassedOver{r.PassedOver: 1})
		return nil
	}
	if r.Fault != "" {
		if b.reject(file, r.Position, r.Fault); r.IsEmpty {
			b.counts.Empty++
		}
		return nil
	}
	number := r.File
	if f.isForUnits {
		number = 0
	}
	ref, err := docref.New(number, r.Position)
	if err != nil {
		return fmt.Errorf("file %s: %w", file.Path, err)
	}
	if err := f.reading.fits(contentLength(r.Content)); err != nil {
		b.reject(file, r.Position, err.Error())
		return nil
	}
	*documents++
	if source, value := f.marker.sourceOf(r); source != 0 {
		b.values.add(valueKey{source, sources.CorpusOf(file.Reference)}, value)
	} else {
		b.sources.Add(file.SourceAt(r.Position), 1)
	}
	if !file.Reference && file.Format.HasFields() {
		countTexts(&b.texts, r.Content.Texts)
	}
	switch {
	case f.wants != nil && !f.wants(r, file.Reference):
	case f.identifier != nil:
		f.addIdentity(b, ref, r)
	case f.sequencer != nil:
		f.addSequence(b, ref, r)
	default:
		f.addSet(b, ref, r)
	}
	return nil
}

// addSet adds a document to the block with its keys and its set.
func (f *fingerprinter) addSet(b *block, ref docref.Ref, r *Record) {
	d := f.sketcher.sketch(r.Raw, r.Content)
	if d.InvalidBytes > 0 {
		b.counts.InvalidUTF8++
	}
	b.countIgnored(d.Document)
	if f.kept.Boilerplate {
		for _, hash := range d.BaseText {
			b.baseTexts.Add(hash, ref)
		}
	}
	one := f.document(b, ref, r, d.Digest)
	one.Set, one.Size, one.Keys, one.SimHash = d.Set, len(d.Set), f.bands.Of(d.Set), d.SimHash
	f.marker.pages.add(b, ref, r, &f.files[r.File], one.Size)
	f.countShort(b, r, one.Size)
	b.aside.Add(f.shares, &one, f.files[r.File].Reference)
	one.Set = f.kept.Of(d.Set)
	b.builder.Add(one)
}

// countShort counts a short text among those of the input.
func (f *fingerprinter) countShort(b *block, r *Record, shingles int) {
	file := &f.files[r.File]
	if shingles < work.ShortText && len(r.Content.Texts) > 0 && !file.Reference && file.Format.HasFields() {
		b.texts.Short++
	}
}

// addIdentity adds a document to the block as one that is the same as others or not. Its text is its one element.
func (f *fingerprinter) addIdentity(b *block, ref docref.Ref, r *Record) {
	d := f.identifier.Texts(r.Content.Texts)
	if !d.IsValid {
		b.counts.InvalidUTF8++
	}
	size := 1
	if d.IsEmpty {
		size = 0
	}
	one := f.document(b, ref, r, d.Digest)
	one.Keys, one.Size = []uint64{d.Check}, size
	f.marker.pages.add(b, ref, r, &f.files[r.File], size)
	b.builder.Add(one)
}

// addSequence adds a document to the block as a sequence.
func (f *fingerprinter) addSequence(b *block, ref docref.Ref, r *Record) {
	d, sequence := f.sequencer.Sequence(r.Content.Texts[0])
	if d.InvalidBytes > 0 {
		b.counts.InvalidUTF8++
	}
	b.countIgnored(d)
	f.packed = sketchblock.AppendSequence(f.packed[:0], sketchblock.Sequence(sequence))
	one := f.document(b, ref, r, d.Digest)
	one.Sequence, one.Size = f.packed, len(d.Set)
	f.countShort(b, r, one.Size)
	b.builder.Add(one)
}

// document returns a document without its set.
func (f *fingerprinter) document(b *block, ref docref.Ref, r *Record, digest uint64) sketchblock.Document {
	scope, side := f.marker.scopeOf(r, &b.counts)
	source, _ := f.marker.sourceOf(r)
	return sketchblock.Document{
		Ref: ref, Digest: inScope(digest, scope), Scope: scope, Side: side, Source: source, ID: r.Content.ID,
		Standing: f.marker.standing(r, &f.files[r.File], &b.counts),
	}
}
