package documents

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/sketch"
)

// Segment is what a state keeps of a stretch of a file, so that no later job has to read it: its sketch blocks, its
// rejects and what was counted. The blocks know positions in the file but not the number of the file, which changes as
// files come and go.
type Segment struct {
	// Run is the path of the run file that holds the segment, and Shard the number of the segment there.
	Run   string
	Shard int
	// Size is the length of the run file in bytes, 0 if it is not known.
	Size int64
	// IsRenamed says that the file had another name when the segment was made, which its rejects have.
	IsRenamed bool
}

// segmentVersion is raised when segments of this program differ from segments of an earlier one, and neither the
// version of the sketches nor the layout of blocks tells: when the text of a page or an archive is read in another way,
// or a count is new or counts something else. For the main text of pages alone, [webtext.MainVersion] is raised.
const segmentVersion = 12

// SegmentsHash identifies what decides the segments of a file: jobs of one hash make the same segments of it. The
// inputs have the lists of words, sources and shingles that do not count.
func (f Fingerprinting) SegmentsHash(in *Inputs) (string, error) {
	// Memory decides which zstd windows are read, and which documents are too large. That a file which was read once
	// stays as it is does no harm. The ranges of sites are as in the job that recalls a segment.
	f.WindowBytes, f.DocumentBytes, f.MaxExpanded, f.Kept.Pages.Ranges = 0, 0, 0, 0
	mainText := 0
	if f.PageText == webtext.Main {
		mainText = webtext.MainVersion
	}
	encoded, err := json.Marshal(struct {
		Sketching          Sketching
		Kept               Kept
		StopWords, Ranking string
		Ignored            string `json:",omitempty"`
		Versions           [3]int
		Unicode            string
		MainText           int `json:",omitempty"`
	}{
		f.Sketching, f.Kept, in.StopWords, in.Ranking, IgnoredHash(in.Ignored),
		[3]int{segmentVersion, sketch.Version, sketchblock.Layout},
		sketch.UnicodeVersion, mainText,
	})
	if err != nil {
		return "", fmt.Errorf("identify the sketches: %w", err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:8]), nil
}

type stretchFigures struct {
	Counts     findings.Counts
	PassedOver map[string]int64 `json:",omitempty"`
	Texts      findings.Texts
	Damaged    bool           `json:",omitempty"`
	Panicked   findings.Panic `json:",omitzero"`
	Shingles   int64
	// Unnamed, Cramped and Expanded are what was counted of documents without ids, of documents that memory had no room
	// for, and of the decoded bytes of a compressed file.
	Unnamed, Expanded int64 `json:",omitempty"`
	Cramped           bool  `json:",omitempty"`
	Checksum                // of the stretch
	// SampleBelow is the limit of the hashes of documents that the segment keeps for samples of the audit.
	SampleBelow uint64 `json:",omitempty"`
}

func (s *stretchFigures) add(b *block) {
	findings.Merge(&s.Counts, b.Counts)
	findings.Merge(&s.PassedOver, b.PassedOver)
	findings.Merge(&s.Texts, b.Texts)
	s.Damaged, s.Cramped = s.Damaged || len(b.Damaged) > 0, s.Cramped || len(b.Cramped) > 0
	s.Unnamed += b.Unnamed
	findings.Merge(&s.Panicked, b.Panicked)
	s.Shingles += b.shingles()
}

func (f *Fingerprinting) keep(ctx context.Context, number int, w *work.TaskContext) error {
	segments := f.inputs.Segments[number]
	if len(segments) == 0 {
		run, err := f.makeSegments(ctx, number, w)
		if err != nil {
			return err
		}
		w.Outcome.Kept = work.Path(run)
		for i := range f.inputs.Splits[number] {
			segments = append(segments, Segment{Run: run, Shard: i})
		}
	}
	if err := f.rejectUnread(number, w); err != nil {
		return err
	}
	return f.recall(ctx, number, segments, w)
}

// makeSegments fingerprints a split into a run file of segments, one for each stretch, and returns its path.
func (f *Fingerprinting) makeSegments(ctx context.Context, number int, w *work.TaskContext) (string, error) {
	split := f.inputs.Splits[number]
	reader := newSplitReader(f.Reading, f.inputs.Files, split, w.Runs.Ahead)
	defer reader.close()
	reader.alone, reader.total = true, f.expansion
	run := runfile.NewWriter(string(f.Segments), w.Runs.Held)
	run.Durable = true
	defer run.Abort()
	all, forAudits := make([]stretchFigures, len(split)), make([][]byte, len(split))
	shard, passages := 0, fingerprints.NewPassages(f.PassageShingles)
	thisSegment := func(uint64) int { return shard }
	counts := newTally(run, thisSegment, thisSegment)
	err := f.read(ctx, reader, &w.Figures, func(b *block) error {
		for split[shard].File != b.file { // a new split has one stretch of a file
			if err := counts.write(); err != nil {
				return err
			}
			shard++
		}
		all[shard].add(b)
		forAudits[shard] = append(forAudits[shard], b.forAudit.sampled...)
		b.forAudit.reset()
		if err := errors.Join(counts.add(b), f.makeHeads(b, passages)); err != nil {
			return err
		}
		return b.write(run, shard, shard)
	})
	if err == nil {
		err = counts.write()
	}
	if err != nil {
		return "", err
	}
	for i := range all {
		all[i].Counts.Expanding, all[i].Expanded = reader.expanding[i], reader.decoded[i]
		all[i].Checksum = reader.sums[i]
		if err := f.endSegment(run, i, forAudits[i], &all[i]); err != nil {
			return "", fmt.Errorf("keep the counts of %s: %w", f.inputs.Files[split[i].File].Name, err)
		}
		w.Figures.Records += all[i].Counts.Documents + all[i].Counts.ReferenceDocuments
		w.Figures.Bytes += all[i].Counts.Bytes + all[i].Counts.ReferenceBytes
	}
	return run.Close()
}

// endSegment writes what was counted of a segment, and the documents that a later audit may sample, which then need not
// look for them. While the number of documents is unknown, it takes the whole corpus to be like the segment.
func (f *Fingerprinting) endSegment(run *runfile.Writer, shard int, forAudit []byte, s *stretchFigures) error {
	documents := float64(f.inputs.Known)
	if documents == 0 {
		documents = float64(s.Counts.Documents) * max(float64(f.inputs.TextBytes())/float64(s.Counts.Bytes+1), 1)
	}
	if f.keepsSample() && documents > 0 {
		s.SampleBelow = audit.Limit(f.shares.Kept(documents))
	}
	sampled, err := sampledOf(forAudit, s.SampleBelow, 0)
	if err == nil {
		err = writeSections(run, section{records.Sample, shard, sampled})
	}
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return run.Section(records.StretchFigures, shard, encoded)
}

// keepsSample reports whether segments keep a sample for the audit, which without heads reads all blocks.
func (f *Fingerprinting) keepsSample() bool { return f.AuditSample > 0 && f.HeadThreshold > 0 }

// makeHeads makes heads of all documents, but where documents have band keys these rule them out, and the audit alone
// wants heads.
func (f *Fingerprinting) makeHeads(b *block, passages *fingerprints.Passages) (err error) {
	switch {
	case b.builder.Len() == 0:
	case f.HeadThreshold > 0:
		probed := audit.Limit(f.shares.Probed)
		b.heads = b.builder.Heads(f.HeadThreshold, func(ref docref.Ref, digest uint64) bool {
			return f.Kept.Scheme.Bands == 0 || f.inputs.auditHash(b.file, ref.Position(), digest) < probed
		})
	case f.PassageShingles > 0:
		b.heads, err = passages.Heads(b.builder)
	}
	return err
}

// recall makes the run of a split from segments, one for each of its stretches. The sketch blocks stay where they are.
func (f *Fingerprinting) recall(ctx context.Context, number int, segments []Segment, w *work.TaskContext) error {
	r := recalling{
		Fingerprinting: f,
		TaskContext:    w,
		number:         number,
		isMade:         w.Outcome.Kept != "",
		runs:           map[string]map[int][]runfile.Piece{},
		counts:         newTally(&w.Run, f.rangeOf, f.Kept.Pages.rangeOf),
		originals:      map[uint64]bool{},
		digester:       sketch.NewDigester(f.Options.Measure.Seed),
	}
	hash := newValueHash(f.Options.Measure.Seed)
	for _, name := range f.inputs.Originals {
		r.originals[hash.of([]byte(name))] = true
	}
	err := r.eachSegment(ctx, segments, r.find)
	if err == nil {
		err = r.eachSegment(ctx, segments, r.segment)
	}
	if err == nil {
		err = errors.Join(r.forAudit.Write(&w.Run, number), r.counts.write())
	}
	if err != nil {
		return err
	}
	if f.Checksums {
		return WriteChecksums(&w.Run, number, r.sums)
	}
	return nil
}

type recalling struct {
	*Fingerprinting
	*work.TaskContext
	number int                                // of the split
	isMade bool                               // the segments were made just now
	runs   map[string]map[int][]runfile.Piece // pieces of the files of segments, by path and shard
	// lacksHeads says that some blocks have no heads. If all have, the audit finds by these what it looks at.
	lacksHeads bool
	forAudit   AuditDocuments // documents for the audit
	sums       []Checksum
	counts     *tally
	// originals are the hashes of the names of protected sites.
	originals map[uint64]bool
	digester  *sketch.Digester
}

func (r *recalling) eachSegment(ctx context.Context, segments []Segment,
	visit func(Segment, corpus.Stretch) error,
) error {
	for i, stretch := range r.inputs.Splits[r.number] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(segments[i], stretch); err != nil {
			return fmt.Errorf("recall %s: %w", r.inputs.Files[stretch.File].Name, err)
		}
	}
	return nil
}

func (r *recalling) find(u Segment, _ corpus.Stretch) error {
	if r.runs[u.Run] == nil {
		pieces, err := runfile.PiecesOf(u.Run, u.Size)
		if err != nil {
			return err
		}
		byShard := map[int][]runfile.Piece{}
		for _, piece := range pieces {
			byShard[piece.Shard] = append(byShard[piece.Shard], piece)
		}
		r.runs[u.Run] = byShard
	}
	hasBlocks := func(piece runfile.Piece) bool { return piece.Kind == records.Documents }
	if pieces := r.runs[u.Run][u.Shard]; slices.ContainsFunc(pieces, hasBlocks) && !work.HasHeads(pieces) {
		r.lacksHeads = true
	}
	return nil
}

func (r *recalling) segment(u Segment, stretch corpus.Stretch) (err error) {
	var blocks, sets, samples []runfile.Piece
	isCounted, sampleBelow := false, uint64(0)
	for _, piece := range r.runs[u.Run][u.Shard] {
		switch piece.Kind {
		case records.Documents, records.WholeDocuments:
			piece.Mark = uint32(stretch.File)
			blocks = append(blocks, piece)
			err = r.Run.Link(piece.Kind, r.number, piece, piece.Mark)
		case records.Sets, records.WholeSets:
			sets = append(sets, piece)
			err = r.Run.Link(piece.Kind, r.number, piece, 0)
		case records.Heads:
			if !r.Kept.Whole { // else these are no heads of the sets that are left
				err = r.Run.Link(piece.Kind, r.number, piece, 0)
			}
		case records.Sample:
			samples = append(samples, piece)
		case records.Rejects:
			err = r.rejects(piece, u, stretch)
		case records.Pages:
			piece.Mark = uint32(stretch.File)
			err = errors.Join(r.Run.Link(piece.Kind, r.number, piece, piece.Mark), r.traces(piece))
		case records.PageTexts:
			err = r.Run.Link(piece.Kind, r.number, piece, uint32(stretch.File))
		case records.SiteCounts:
			err = r.countSites(piece)
		case records.Redirects:
			err = r.countRedirects(piece)
		case records.SourceCounts:
			err = r.countValues(piece)
		case records.StretchFigures:
			isCounted = true
			sampleBelow, err = r.count(piece, stretch)
		}
		if err != nil {
			return err
		}
	}
	if !isCounted || len(blocks) != len(sets) {
		return &storage.DamagedError{
			Op:   "recall segments of",
			Path: u.Run,
			Err:  fmt.Errorf("it has no whole segment %d", u.Shard),
		}
	}
	if r.AuditSample > 0 && !r.lacksHeads && !u.IsRenamed && sampleBelow >= audit.Limit(r.shares.Sampled) {
		return r.takeSample(samples, stretch.File)
	}
	return r.look(blocks, sets, r.inputs.Files[stretch.File].Reference)
}

// rejects passes on the rows of rejects of a segment, with the name that the file has now.
func (r *recalling) rejects(piece runfile.Piece, u Segment, stretch corpus.Stretch) (err error) {
	if r.Buffers[0], err = r.Reader.Read(r.Buffers[0][:0], piece); err != nil {
		return err
	}
	packed := r.Buffers[0]
	if u.IsRenamed {
		name, _ := r.inputs.Files[stretch.File].Place(stretch.Start)
		packed = nil
		for line := range bytes.Lines(r.Buffers[0]) {
			var row output.Reject
			if err := json.Unmarshal(line, &row); err != nil {
				return err
			}
			row.File = quoting.Text(name)
			packed = output.AppendRow(packed, row)
		}
	}
	return r.Run.Section(piece.Kind, 0, packed)
}

func (r *recalling) look(blocks, sets []runfile.Piece, isReference bool) (err error) {
	if r.AuditSample == 0 {
		return nil
	}
	for i := range blocks {
		if r.lacksHeads {
			err = r.auditDocuments(blocks[i], sets[i], isReference)
		} else if !isReference {
			err = r.sampleForAudit(blocks[i], sets[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeSample passes on the documents from which the audit draws its sample, among all that a segment has for that.
func (r *recalling) takeSample(samples []runfile.Piece, file int) error {
	for _, piece := range samples {
		packed, err := r.ReadPiece(1, piece)
		if err == nil {
			packed, err = sampledOf(packed, audit.Limit(r.shares.Sampled), file)
		}
		if err == nil {
			err = writeSections(&r.Run, section{records.Sample, r.number, packed})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// count adds what was counted of a stretch. It returns the limit of the hashes of what the segment keeps for a sample.
func (r *recalling) count(piece runfile.Piece, stretch corpus.Stretch) (sampleBelow uint64, err error) {
	b, err := r.Reader.Read(r.Buffers[0][:0], piece)
	r.Buffers[0] = b
	var s stretchFigures
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		return 0, err
	}
	o, file := r.Outcome, &r.inputs.Files[stretch.File]
	findings.Merge(&o.Counts, s.Counts)
	findings.Merge(&o.PassedOver, s.PassedOver)
	findings.Merge(&o.Texts, s.Texts)
	name, _ := file.Place(stretch.Start)
	if s.Damaged {
		findings.Merge(&o.Damaged, map[string]int64{quoting.Text(name): 1})
	}
	findings.Merge(&o.Panicked, s.Panicked)
	if s.Cramped {
		findings.Merge(&o.Cramped, map[string]int64{name: 1})
	}
	if o.Unnamed += s.Unnamed; !r.isMade {
		if err := r.expansion.add(s.Expanded, r.MaxExpanded, file.Path); err != nil {
			return 0, err
		}
	}
	if !r.Kept.Whole {
		o.Shingles += s.Shingles
	}
	if r.Kept.SourceField == "" {
		o.Sources.Documents.Add(file.SourceAt(stretch.Start), s.Counts.Documents+s.Counts.ReferenceDocuments)
	}
	r.sums = append(r.sums, s.Checksum)
	return s.SampleBelow, nil
}

// sampleForAudit keeps the documents of a block of the input from which the audit draws its sample.
func (r *recalling) sampleForAudit(documents, sets runfile.Piece) error {
	block, err := r.ReadBlock(documents)
	if err != nil {
		return err
	}
	some, sampled := r.SetsOf(&block, sets, work.HasDigest(&block, r.digester)), audit.Limit(r.shares.Sampled)
	for i := range block.Len() {
		if r.inputs.AuditHash(block.Ref(i), 0) >= sampled || block.Stored(i) == 0 {
			continue
		}
		set, err := some.Set(i)
		if err != nil {
			return err
		}
		r.addForAudit(&block, i, set, false)
	}
	return nil
}

func (r *recalling) addForAudit(block *sketchblock.Block, i int, set []byte, isReference bool) {
	r.Hashes = sketchblock.AppendSet(r.Hashes[:0], set)
	d := sketchblock.Document{Ref: block.Ref(i), Digest: block.Digest(i), Scope: block.Scope(i), Side: block.Side(i)}
	r.forAudit.Add(r.shares, &d, r.Hashes, r.inputs.AuditHash(d.Ref, d.Digest[0]), isReference)
}

func (r *recalling) auditDocuments(documents, sets runfile.Piece, isReference bool) error {
	block, err := r.ReadBlock(documents)
	if err != nil {
		return err
	}
	isChosen := func(i int) bool {
		sampled, probed := chosen(r.shares, r.inputs.AuditHash(block.Ref(i), block.DigestLead(i)), isReference)
		return sampled || probed
	}
	first := 0
	for first < block.Len() && !isChosen(first) {
		first++
	}
	if first == block.Len() {
		return nil // the sets need not be read
	}
	packed, err := r.ReadPiece(1, sets)
	if err != nil {
		return err
	}
	for i, set := range block.Sets(packed) {
		if i >= first && isChosen(i) {
			r.addForAudit(&block, i, set, isReference)
		}
	}
	return nil
}

func (r *recalling) traces(piece runfile.Piece) error {
	if len(r.originals) == 0 {
		return nil // the pages need not be read
	}
	return eachOf(r, piece, func(page *records.SplitPage) error {
		if !r.originals[page.Site] || page.Trace == nil {
			return nil
		}
		return records.WritePacked(&r.Run, records.OriginalTraces, 0, page.Trace)
	})
}

func (r *recalling) countValues(piece runfile.Piece) error {
	return eachOf(r, piece, func(count *records.SourceCount) error {
		known := &valueCount{name: bytes.Clone(count.Name), documents: count.Documents}
		r.counts.values.addAll(valueCounts{{count.Hash, count.Corpus}: known})
		return r.counts.writeMany()
	})
}

func (r *recalling) countSites(piece runfile.Piece) error {
	return eachOf(r, piece, func(count *records.SiteCount) error {
		r.counts.sites.add(*count, func() string { return count.Name })
		return r.counts.writeMany()
	})
}

func (r *recalling) countRedirects(piece runfile.Piece) error {
	return eachOf(r, piece, func(one *records.Redirect) error {
		r.counts.sites.redirects[[2]uint64{one.Site, one.Other}] += one.Pages
		return r.counts.writeMany()
	})
}

func eachOf[T any](r *recalling, piece runfile.Piece, visit func(*T) error) error {
	packed, err := r.ReadPiece(0, piece)
	for err == nil && len(packed) > 0 {
		var one T
		one, packed = records.Next[T](packed)
		err = visit(&one)
	}
	return err
}
