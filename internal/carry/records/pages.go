package records

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/runfile"
)

// Page is a document as a page of a site.
type Page struct {
	// Site and Path are hashes of the site's name and of the path on it.
	Site, Path uint64
	// Original is the hash of the name of another site, to which the page says that it belongs; 0 if it does not.
	Original uint64
	// Login says that the page asks for a password, and Start that it is the first page of its site. Named says, of such pages, that their
	// text has the name of the site.
	Login, Start, Named bool
	// Language is the code of its language in ISO 639, in small letters, with a zero byte behind two letters; zero if it is not
	// known.
	Language [3]byte
	// Markup is a sketch of the markup, nil for none: [MarkupSize] bytes.
	Markup []byte
	// Trace is a sketch of the text, nil for none: [TraceSize] bytes.
	Trace []byte
	// Address is the address as it stands in the document, shorter than 64 KiB.
	Address []byte
}

// SplitPage is a page in the order of documents.
type SplitPage struct {
	Ref docref.Ref
	Page
}

// ShardPage is a page at its output shard.
type ShardPage struct {
	Number Number
	// Size is the number of distinct shingles of the document.
	Size uint32
	Page
}

// pageHeader is the size of a page without its sketches and its address: site, path, marks, length of the address, language. The
// other site stands behind it.
const pageHeader = 8 + 8 + 2 + 2 + 3

// MarkupSize is the size of a sketch of markup.
const MarkupSize = 32

// The marks of a page.
const (
	loginMark  = 1 << iota
	markupMark // its sketch stands before its address
	startMark
	originalMark // another site stands before the sketch
	traceMark    // its trace stands before its address
	namedMark
)

func (p *Page) size() int {
	size := pageHeader + len(p.Markup) + len(p.Trace) + len(p.Address)
	if p.Original != 0 {
		size += 8
	}
	return size
}

func (p *Page) put(b []byte) {
	binary.LittleEndian.PutUint64(b, p.Site)
	binary.LittleEndian.PutUint64(b[8:], p.Path)
	marks := uint16(0)
	if p.Login {
		marks |= loginMark
	}
	if p.Markup != nil {
		marks |= markupMark
	}
	if p.Start {
		marks |= startMark
	}
	if p.Original != 0 {
		marks |= originalMark
	}
	if p.Named {
		marks |= namedMark
	}
	if p.Trace != nil {
		marks |= traceMark
	}
	binary.LittleEndian.PutUint16(b[16:], marks)
	binary.LittleEndian.PutUint16(b[18:], uint16(len(p.Address)))
	copy(b[20:], p.Language[:])
	b = b[pageHeader:]
	if p.Original != 0 {
		binary.LittleEndian.PutUint64(b, p.Original)
		b = b[8:]
	}
	b = b[copy(b, p.Markup):]
	b = b[copy(b, p.Trace):]
	copy(b, p.Address)
}

// packedSize returns the size of the first packed page.
func packedSize(b []byte) int {
	marks, size := binary.LittleEndian.Uint16(b[16:]), pageHeader+int(binary.LittleEndian.Uint16(b[18:]))
	for _, part := range []struct {
		mark uint16
		size int
	}{{originalMark, 8}, {markupMark, MarkupSize}, {traceMark, TraceSize}} {
		if marks&part.mark != 0 {
			size += part.size
		}
	}
	return size
}

func nextPage(b []byte) (Page, []byte) {
	marks, length := binary.LittleEndian.Uint16(b[16:]), int(binary.LittleEndian.Uint16(b[18:]))
	p := Page{Site: binary.LittleEndian.Uint64(b), Path: binary.LittleEndian.Uint64(b[8:]), Login: marks&loginMark != 0, Start: marks&startMark != 0, Named: marks&namedMark != 0}
	p.Language = [3]byte(b[20:])
	b = b[pageHeader:]
	if marks&originalMark != 0 {
		p.Original, b = binary.LittleEndian.Uint64(b), b[8:]
	}
	if marks&markupMark != 0 {
		p.Markup, b = b[:MarkupSize:MarkupSize], b[MarkupSize:]
	}
	if marks&traceMark != 0 {
		p.Trace, b = b[:TraceSize:TraceSize], b[TraceSize:]
	}
	p.Address = b[:length:length]
	return p, b[length:]
}

// AppendSplitPage appends the record of a page.
func AppendSplitPage(b []byte, p SplitPage) []byte {
	n := len(b)
	b = append(b, make([]byte, RefSize+p.size())...)
	PutRef(b[n:], p.Ref)
	p.put(b[n+RefSize:])
	return b
}

// FirstPage returns the ref of the first page, and the size of its record.
func FirstPage(packed []byte) (docref.Ref, int) {
	return GetRef(packed), RefSize + packedSize(packed[RefSize:])
}

// NextSplitPage reads the first page and returns the bytes of the others.
func NextSplitPage(packed []byte) (p SplitPage, rest []byte) {
	p.Ref = GetRef(packed)
	p.Page, rest = nextPage(packed[RefSize:])
	return p, rest
}

// WriteShardPage writes the record of a page to its output shard.
func WriteShardPage(run *runfile.Writer, shard OutputShard, p ShardPage) error {
	b, err := run.Record(ShardPages, int(shard), 8+p.size())
	if err == nil {
		p.append(b[:0])
	}
	return err
}

func (p *ShardPage) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(p.Number))
	b = binary.LittleEndian.AppendUint32(b, p.Size)
	n, size := len(b), p.size()
	b = slices.Grow(b, size)[:n+size]
	p.put(b[n:])
	return b
}

func nextShardPage(b []byte) (p ShardPage, rest []byte) {
	p.Number, p.Size = Number(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint32(b[4:])
	p.Page, rest = nextPage(b[8:])
	return p, rest
}

// ReadShardPages returns the pages of an output shard, in no order.
func ReadShardPages(reader *runfile.Reader, pieces []runfile.Piece) ([]ShardPage, error) {
	packed, err := reader.ReadKind(nil, pieces, ShardPages)
	if err != nil {
		return nil, err
	}
	n := 0
	for rest := packed; len(rest) > 0; n++ {
		rest = rest[8+packedSize(rest[8:]):]
	}
	pages := make([]ShardPage, n)
	for i := range pages {
		pages[i], packed = nextShardPage(packed)
	}
	return pages, nil
}

// Text is a document as a pipeline hands it over: its id, and the text that is compared.
type Text struct{ ID, Text []byte }

// textHeader is the size of such a record without its strings: the length of each.
const textHeader = 8

// WriteText writes the record to a shard. Both strings are shorter than 4 GiB.
func WriteText[S ~string | ~[]byte](run *runfile.Writer, kind runfile.Kind, shard int, id, text S) error {
	b, err := run.Record(kind, shard, textHeader+len(id)+len(text))
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(b, uint32(len(id)))
	binary.LittleEndian.PutUint32(b[4:], uint32(len(text)))
	copy(b[textHeader+copy(b[textHeader:], id):], text)
	return nil
}

// NextText reads the first record and returns the bytes of the others.
func NextText(packed []byte) (Text, []byte) {
	middle := textHeader + int(binary.LittleEndian.Uint32(packed))
	end := middle + int(binary.LittleEndian.Uint32(packed[4:]))
	return Text{packed[textHeader:middle], packed[middle:end]}, packed[end:]
}

// TraceSize is the size of a [Trace] in bytes.
const TraceSize = 32

// Trace is a sketch of the text of a page, by which a later run knows the page again, even if some of its text has changed: the least
// shingle of each of 32 parts, a byte of it (one permutation hashing: Li, Owen, Zhang, 2012).
type Trace [TraceSize]byte

// TraceOf returns the trace of a set of shingles, in any order. A part without a shingle gets the shingle of the next part that has any (Shrivastava,
// Li, 2014).
func TraceOf(shingles []uint64) (t Trace) {
	var least [TraceSize]uint64
	for i := range least {
		least[i] = math.MaxUint64
	}
	for _, shingle := range shingles {
		part := shingle % TraceSize
		least[part] = min(least[part], shingle)
	}
	for i := range t {
		for away := range TraceSize {
			if shingle := least[(i+away)%TraceSize]; shingle != math.MaxUint64 {
				t[i] = byte(shingle/TraceSize) + byte(away)*37
				break
			}
		}
	}
	return t
}

// Similarity estimates the Jaccard similarity of two pages, with a standard error of at most .09.
func (t *Trace) Similarity(other *Trace) float64 {
	same := 0
	for i := range t {
		if t[i] == other[i] {
			same++
		}
	}
	const byChance = 1. / 256
	return max(0, (float64(same)/TraceSize-byChance)/(1-byChance))
}

// Traces are traces of different pages, ascending: a sample that the order of the pages does not change.
type Traces []Trace

// mostTraces is how many traces there are of the pages that two sites have in common.
const mostTraces = 16

// Add adds a trace if it is among the smallest.
func (s *Traces) Add(t *Trace) {
	at, found := slices.BinarySearchFunc(*s, *t, func(a, b Trace) int { return bytes.Compare(a[:], b[:]) })
	if at < mostTraces && !found {
		*s = slices.Insert(*s, at, *t)
		*s = (*s)[:min(len(*s), mostTraces)]
	}
}

// WriteOriginalTrace writes the trace of a page of a protected site: 32 bytes.
func WriteOriginalTrace(run *runfile.Writer, trace []byte) error {
	record, err := run.Record(OriginalTraces, 0, TraceSize)
	copy(record, trace)
	return err
}

// EachOriginalTrace visits the traces that stand in packed records.
func EachOriginalTrace(packed []byte, visit func(*Trace)) {
	for ; len(packed) > 0; packed = packed[TraceSize:] {
		visit((*Trace)(packed))
	}
}

// PageClass holds pages that are equal, and tells which other classes have copies of them.
type PageClass struct {
	ID     uint64
	Rarity int64
	Sites  int64 // sites that have a page of the class or a copy of it
	// Common is the highest similarity at which a copy of a page of a protected site says little, since many have such copies; 0 for none.
	Common   float64
	IsSpread bool // too many sites have it to be compared with each other
	Holdings []Holding
	Copies   []PageClassCopy
}

// Holding holds the pages of a class on one site, the first ones.
type Holding struct {
	Site        uint64
	IsProtected bool // the site is
	IsWatched   bool // its copies are found however many there are
	Pages       []ShardPage
}

// PageClassCopy leads to a class with copies of pages.
type PageClassCopy struct {
	Class      uint64
	Similarity float64
	// IsDerived says that it matters to protected sites only.
	IsDerived bool
}

// The marks of a class and of a holding.
const (
	spreadMark = 1 << iota
	protectedMark
	watchedMark
	derivedMark
	commonMark
)

func mark(is bool, mark byte) byte {
	if is {
		return mark
	}
	return 0
}

// Append packs the class.
func (c *PageClass) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, c.ID)
	b = append(b, mark(c.IsSpread, spreadMark)|mark(c.Common > 0, commonMark))
	if c.Common > 0 {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c.Common))
	}
	for _, n := range []int64{c.Rarity, c.Sites, int64(len(c.Holdings)), int64(len(c.Copies))} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for i := range c.Holdings {
		h := &c.Holdings[i]
		b = binary.LittleEndian.AppendUint64(b, h.Site)
		b = append(b, mark(h.IsProtected, protectedMark)|mark(h.IsWatched, watchedMark), byte(len(h.Pages)))
		for j := range h.Pages {
			b = h.Pages[j].append(b)
		}
	}
	for _, to := range c.Copies {
		b = binary.LittleEndian.AppendUint64(b, to.Class)
		b = append(binary.LittleEndian.AppendUint64(b, math.Float64bits(to.Similarity)), mark(to.IsDerived, derivedMark))
	}
	return b
}

// WritePageClass writes a class that [PageClass.Append] has packed to a range of hashes of sites.
func WritePageClass(run *runfile.Writer, number int, packed []byte) error {
	b, err := run.Record(PageClasses, number, len(packed))
	copy(b, packed)
	return err
}

// NextPageClass reads the first class and returns the bytes of the others. Addresses and sketches lie in the packed bytes.
func NextPageClass(packed []byte) (c PageClass, rest []byte) {
	c.ID = binary.LittleEndian.Uint64(packed)
	marks := packed[8]
	c.IsSpread, packed = marks&spreadMark != 0, packed[9:]
	if marks&commonMark != 0 {
		c.Common, packed = math.Float64frombits(binary.LittleEndian.Uint64(packed)), packed[8:]
	}
	next := func() int64 {
		n, size := binary.Uvarint(packed)
		packed = packed[size:]
		return int64(n)
	}
	c.Rarity, c.Sites = next(), next()
	holdings, copies := next(), next()
	c.Holdings, c.Copies = make([]Holding, holdings), make([]PageClassCopy, copies)
	for i := range c.Holdings {
		h := &c.Holdings[i]
		h.Site, h.IsProtected, h.IsWatched = binary.LittleEndian.Uint64(packed), packed[8]&protectedMark != 0, packed[8]&watchedMark != 0
		h.Pages, packed = make([]ShardPage, packed[9]), packed[10:]
		for j := range h.Pages {
			h.Pages[j], packed = nextShardPage(packed)
		}
	}
	for i := range c.Copies {
		c.Copies[i] = PageClassCopy{binary.LittleEndian.Uint64(packed), math.Float64frombits(binary.LittleEndian.Uint64(packed[8:])), packed[16]&derivedMark != 0}
		packed = packed[17:]
	}
	return c, packed
}
