package transforms

import (
	"fmt"
	"slices"
	"strings"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/sketch"
)

// fingerprinter turns lines into fingerprints; not for concurrent use.
type fingerprinter struct {
	job       Job
	shares    auditShares
	files     []corpus.File
	decoder   *corpus.Decoder
	sketcher  *sketch.Fingerprinter
	sequencer *sketch.Sequencer // in place of sketcher where passages are looked for
	minhash   *sketch.MinHash
	features  []sketch.Feature
	signature []uint32
	keys      []uint64
	packed    []byte
	// wants, if not nil, says which documents are fingerprinted; others are only
	// counted.
	wants func(line []byte, record corpus.Record, isReference bool) bool
}

func (f *fingerprintFn) newFingerprinter() (*fingerprinter, error) {
	options := sketch.Options{
		Measure: f.Job.Measure, Normalization: f.Job.Normalization, Weights: f.Job.Weights,
		StopWordUse: f.Job.StopWordUse, SimHashBits: f.Job.SimHashBits,
	}
	if f.inputs.StopWords != "" {
		normalizer, err := sketch.NewNormalizer(f.Job.Normalization)
		if err != nil {
			return nil, err
		}
		if options.StopWords, err = sketch.ReadStopWords(strings.NewReader(f.inputs.StopWords), normalizer); err != nil {
			return nil, err
		}
	}
	worker := &fingerprinter{
		job: f.Job, shares: f.shares, files: f.inputs.Files,
		decoder: corpus.NewDecoder(f.Job.Fields),
		minhash: sketch.NewMinHash(f.Job.Scheme.Components()),
	}
	var err error
	if f.Job.Similarity == methods.Containment {
		worker.sequencer, err = sketch.NewSequencer(options, f.Job.ExcludeQuotations)
	} else {
		worker.sketcher, err = sketch.NewFingerprinter(options)
	}
	return worker, err
}

// fingerprint fills the block's builder from its lines.
func (f *fingerprinter) fingerprint(b *block) error {
	for _, batch := range b.batches {
		file := &f.files[batch.File]
		documents, bytes := &b.counts.Documents, &b.counts.Bytes
		if file.Reference {
			documents, bytes = &b.counts.ReferenceDocuments, &b.counts.ReferenceBytes
		}
		// Both come in the order of the file.
		rejects := batch.Rejects
		for position, line := range batch.Lines() {
			for ; len(rejects) > 0 && rejects[0].Position < position; rejects = rejects[1:] {
				b.reject(file.Name, rejects[0].Position, rejects[0].Message)
			}
			*bytes += int64(len(line))
			if corpus.IsBlank(line) {
				continue
			}
			ref, err := docref.New(batch.File, position)
			if err != nil {
				return fmt.Errorf("file %s: %w", file.Path, err)
			}
			record, err := f.decoder.Decode(line)
			length := recordLength(record)
			if err == nil && length > f.job.MaxDocument {
				err = fmt.Errorf("text of %d bytes is longer than the %d bytes that --max-document allows", length, f.job.MaxDocument)
			}
			if err != nil {
				b.reject(file.Name, position, err.Error())
				continue
			}
			*documents++
			if f.wants != nil && !f.wants(line, record, file.Reference) {
				continue
			}
			f.document(b, ref, line, record, length)
		}
		for _, reject := range rejects {
			b.reject(file.Name, reject.Position, reject.Message)
		}
	}
	return nil
}

// document adds one document to the block.
func (f *fingerprinter) document(b *block, ref docref.Ref, line []byte, record corpus.Record, length int64) {
	if f.sequencer != nil {
		f.text(b, ref, record, length)
		return
	}
	d := f.sketch(line, record)
	if d.InvalidBytes > 0 {
		b.counts.InvalidUTF8++
	}
	f.signature = f.minhash.Signature(f.signature, d.Set)
	f.keys = f.job.Scheme.AppendKeys(f.keys[:0], f.signature)
	size := len(d.Set)
	b.setAside(f.shares, ref, d.Digest, d.Set, f.files[ref.File()].Reference)
	switch {
	case f.job.Scoring == methods.Hamming && !slices.Contains(f.job.Emit, output.Sketches):
		d.Set = nil // nobody reads it
	case f.job.Verify != methods.VerifyExact || f.job.Scoring == methods.Hamming:
		d.Set = sketch.BottomK(d.Set, bottomK)
	}
	b.builder.Add(sketchblock.Document{
		Ref: ref, Digest: d.Digest, Set: d.Set, Size: size, Length: int(length),
		Keys: f.keys, SimHash: d.SimHash, ID: record.ID,
	})
}

// text adds one document to the block as a sequence.
func (f *fingerprinter) text(b *block, ref docref.Ref, record corpus.Record, length int64) {
	d, sequence := f.sequencer.Sequence(record.Texts[0])
	if d.InvalidBytes > 0 {
		b.counts.InvalidUTF8++
	}
	f.packed = packSequence(f.packed, sequence)
	b.builder.Add(sketchblock.Document{
		Ref: ref, Digest: d.Digest, Sequence: f.packed, Size: len(d.Set), Length: int(length), ID: record.ID,
	})
}

// sketch returns the fingerprint of a record's texts or features.
func (f *fingerprinter) sketch(line []byte, record corpus.Record) sketch.Fingerprint {
	if f.job.Fields.Features == "" {
		return f.sketcher.Texts(record.Texts)
	}
	f.features = f.features[:0]
	for _, feature := range record.Features {
		f.features = append(f.features, sketch.Feature(feature))
	}
	return f.sketcher.Features(f.features, line)
}

// recordLength returns the length of a record's texts in bytes, or the number of
// its features.
func recordLength(record corpus.Record) int64 {
	length := int64(len(record.Features))
	for _, text := range record.Texts {
		length += int64(len(text))
	}
	return length
}
