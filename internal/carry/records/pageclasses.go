package records

import (
	"encoding/binary"
	"math"

	"mirrorbeam/internal/ground/runfile"
)

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
