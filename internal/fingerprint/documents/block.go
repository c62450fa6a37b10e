package documents

import (
	"strconv"
	"strings"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/sketch"
)

type block struct {
	part     part
	file     int // number of the file of its first document
	builder  *sketchblock.Builder
	heads    []byte // of the sets, if they are for a state
	rejects  []byte
	forAudit AuditDocuments
	findings.Findings
	values    valueCounts // documents of each source, if a value is the source
	pages     []byte      // records of pages of sites
	pageTexts []byte
	sites     siteCounts // pages of each site, and redirects
	isWhole   bool       // see [Kept]
	capture   []byte     // of the last document
}

// newBlock returns an empty block for documents of that many band keys, and of SimHash fingerprints of that many bits.
func newBlock(keys, simHashBits int) *block {
	b := &block{
		builder: sketchblock.NewBuilder(keys, sketch.SimHashWords(simHashBits)),
		values:  valueCounts{},
		sites:   newSiteCounts(),
	}
	b.begin()
	return b
}

func (b *block) begin() {
	b.Findings = findings.Findings{Totals: findings.Totals{PassedOver: map[string]int64{}}}
}

func (b *block) reset() {
	b.builder.Reset()
	b.heads = nil
	b.forAudit.reset()
	b.rejects = b.rejects[:0]
	b.begin()
	clear(b.values)
	b.pages, b.pageTexts = b.pages[:0], b.pageTexts[:0]
	b.sites.forget()
}

func (b *block) shingles() int64 { return int64(len(b.builder.Sets()) / sketchblock.HashSize) }

func (b *block) reject(file *corpus.File, r *Record, fault string) {
	b.Counts.Rejected++
	name, inFile := file.Place(r.Position)
	if r.Damage {
		findings.Merge(&b.Damaged, map[string]int64{quoting.Text(name): 1})
	}
	if strings.Contains(fault, "memory") { // more may help, so the message names it
		findings.Merge(&b.Cramped, map[string]int64{name: 1})
	}
	url, date := CaptureOf(&r.Content)
	b.rejects = output.AppendRow(b.rejects, output.Reject{
		File:     quoting.Text(name),
		Position: inFile,
		URL:      url,
		Date:     date,
		Error:    quoting.Text(fault),
	})
}

func (b *block) unread(file *corpus.File, r *Record) {
	if b.reject(file, r, r.Fault); r.IsEmpty {
		b.Counts.Empty++
	}
	if r.Panic != nil {
		b.AddPanic(refText(file, r.Position), r.Panic)
	}
}

// blockEnd is how much a block has of what the mark of a document adds to it.
type blockEnd struct {
	counts                    findings.Counts
	pages, pageTexts, rejects int
}

func (b *block) end() blockEnd {
	return blockEnd{b.Counts, len(b.pages), len(b.pageTexts), len(b.rejects)}
}

// cut drops what was added behind an end. Counts of sites are added last, so there are none of a document that is cut.
func (b *block) cut(at blockEnd) {
	b.Counts, b.pages, b.rejects = at.counts, b.pages[:at.pages], b.rejects[:at.rejects]
	b.pageTexts = b.pageTexts[:at.pageTexts]
}

// refText returns the ref of a record of a file as users see it: path:position.
func refText(file *corpus.File, position int64) string {
	name, inFile := file.Place(position)
	return quoting.Text(strconv.AppendInt(append([]byte(name), ':'), inFile, 10))
}

func (b *block) countIgnored(d sketch.Document) {
	if d.Ignored == 0 {
		return
	}
	b.Counts.IgnoredIn++
	b.Counts.IgnoredShingles += int64(d.Ignored)
	if len(d.Set) == 0 {
		b.Counts.IgnoredWhole++
	}
}

// write adds the block to a run file. Rejects is the shard of its rejects.
func (b *block) write(run *runfile.Writer, split, rejects int) error {
	ofDocuments, ofSets := records.Documents, records.Sets
	if b.isWhole {
		ofDocuments, ofSets = records.WholeDocuments, records.WholeSets
	}
	if b.builder.Len() > 0 {
		if err := run.Section(ofDocuments, split, b.builder.Documents()...); err != nil {
			return err
		}
		// The heads come before the sets: who reads these has read the heads.
		if err := writeSections(run, section{records.Heads, split, b.heads}); err != nil {
			return err
		}
		if err := run.Section(ofSets, split, b.builder.Sets()); err != nil {
			return err
		}
	}
	if err := b.forAudit.Write(run, split); err != nil {
		return err
	}
	return writeSections(run, section{records.Rejects, rejects, b.rejects}, section{records.Pages, split, b.pages},
		section{records.PageTexts, split, b.pageTexts})
}

type section struct {
	kind  runfile.Kind
	shard int
	bytes []byte
}

func writeSections(run *runfile.Writer, sections ...section) error {
	for _, s := range sections {
		if len(s.bytes) == 0 {
			continue
		}
		if err := run.Section(s.kind, s.shard, s.bytes); err != nil {
			return err
		}
	}
	return nil
}

// Repeats remembers the last documents that a task has seen in its split. Equal documents share all keys, and
// under each key the first one stands for the others. So the first sends all its keys, and each of the others
// sends only one, which joins it to the first. The first document of the input sends all its keys even if it
// equals a document of the reference: some pairs are known by it. A document that Repeats has forgotten sends
// its keys again. That changes only the work.
type Repeats struct {
	FirstInput docref.Ref
	seen       [4096]seenDocument
}

type seenDocument struct {
	digest      digest.Digest
	mark        uint64
	isReference bool
	isThere     bool
}

// Has reports whether the document equals an earlier one, and remembers it.
func (r *Repeats) Has(ref docref.Ref, equal digest.Digest, mark uint64) bool {
	d := seenDocument{equal, mark, ref < r.FirstInput, true}
	at := equal[0] % uint64(len(r.seen))
	if d.isReference {
		at ^= 1 // keeps a document of the input and one of the reference from replacing each other
	}
	has := r.seen[at] == d
	r.seen[at] = d
	return has
}
