package methods

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// init registers SimHash. Its keys are the prefixes of permuted SimHash fingerprints (package lshbands). A record holds
// the whole fingerprint, so the pairs within the distance are known as soon as a group is together. They are edges
// where the Hamming distance is the score, else candidates.
func init() {
	Register(Method{
		Name:     SimHash,
		Settings: Settings{Distance: true},
		Scorings: []Scoring{Jaccard, Hamming},
		Reads:    ReadsSimHash,
		Keys: func(p *Parameters) (func() Keys, error) {
			tables, err := p.Tables()
			return func() Keys { return tableKeys(tables) }, err
		},
		Records:         records.Fingerprints,
		Write:           writeFingerprint,
		Group:           groupSimHash,
		OversizedGroups: NeverWait,
		Scorer: func(p *Parameters) Scorer {
			s := bySets(p)
			if s.IsDistance = p.Scoring == Hamming; s.IsDistance {
				s.Reads = Nothing
			}
			s.NeedsAll = !s.IsDistance // documents of unlike sets may share a key too often
			return s
		},
		Tell: func(t *Told) string {
			text := fmt.Sprintf("SimHash fingerprints of %d bits that differ in at most %d", t.Bits, t.Distance)
			switch {
			case t.Recall != 1:
				return text +
					fmt.Sprintf(" are candidates for the threshold %g; only the audit shows how many pairs they find",
						t.Threshold)
			case t.Skips:
				return text +
					fmt.Sprintf(", by %s: no pair is missed except for skipped pairs", several(t.Tables, "table"))
			}
			return text + fmt.Sprintf(", by %s: no pair is missed", several(t.Tables, "table"))
		},
		Promise: func(p *Parameters) Promise {
			if p.Scoring == Hamming {
				return Promise{Recall: 1, ByConstruction: true}
			}
			return Promise{} // fingerprints of similar sets may be far apart
		},
	})
}

func tableKeys(tables *lshbands.Permuted) Keys {
	var keys []uint64
	return func(all []candidates.Record, d *Document) []candidates.Record {
		keys = keys[:0]
		for table := range tables.Tables() {
			keys = append(keys, prefixKey(table, tables.Prefix(table, d.SimHash)))
		}
		return candidates.AppendHashed(all, d.Record(), keys)
	}
}

// prefixKey returns the key of a prefix in a table. Keys are evenly spread.
func prefixKey(table int, prefix uint64) uint64 {
	x := (prefix ^ uint64(table)<<56) * 0x9e3779b97f4a7c15
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}

// sideSize is the size of the side of a document, which follows its fingerprint.
const sideSize = 8

// writeFingerprint writes a record. Key, ref, digest, size of the set and table stand as in other key records; the
// fingerprint takes the place of the previous keys. A document without shingles is only like documents of the same
// digest, so the first word of that stands for its fingerprint.
func writeFingerprint(run *runfile.Writer, shards int, r *candidates.Record, d *Document) error {
	size := records.KeySize + 8*len(d.SimHash)
	if r.Side != 0 {
		size += sideSize
	}
	b, err := run.Record(records.Fingerprints, records.ShardOf(r.Key, shards), size)
	if err != nil {
		return err
	}
	plain := *r
	plain.Key, plain.First, plain.Side = candidates.KeyOf(r.Key, 0), false, 0
	records.PutKey(b, plain)
	fingerprint := b[records.KeySize:][:8*len(d.SimHash)]
	if r.Side != 0 {
		binary.LittleEndian.PutUint64(b[size-sideSize:], r.Side)
	}
	if r.Size == 0 {
		clear(fingerprint)
		binary.LittleEndian.PutUint64(fingerprint, r.Digest[0])
		return nil
	}
	for k, word := range d.SimHash {
		binary.LittleEndian.PutUint64(fingerprint[8*k:], word)
	}
	return nil
}

// fingerprintRecord is a record whose fingerprint is elsewhere.
type fingerprintRecord struct {
	at    uint32 // number of the record, by which its fingerprint is found
	table uint32
	candidates.Record
}

type simhashGroups struct {
	*Parameters
	layout     *documents.Layout
	packed     []byte
	recordSize int
	matcher    *lshbands.Matcher

	fingerprints []uint64     // fingerprints of a group
	chosen       groupPairs   // of a group
	edges        groups.Edges // stars, and pairs if the distance is the score
	pairs        groups.Pairs // pairs if it is not
	run          *runfile.Writer
	skipped      findings.Skipped
	alike        findings.Most // the largest number of pairs within the distance under one key
	failed       error
}

func groupSimHash(ctx context.Context, p *Parameters, l *documents.Layout, shard int, w *work.TaskContext) error {
	tables, err := p.Tables()
	if err != nil {
		return err
	}
	g := simhashGroups{
		Parameters: p,
		layout:     l,
		recordSize: records.KeySize + p.fingerprintSize(),
		matcher:    tables.NewMatcher(),
		edges:      groups.NewEdges(w, shard),
		pairs:      groups.NewPairs(w, shard),
		run:        &w.Run,
	}
	if p.HasSides {
		g.recordSize += sideSize
	}
	if err := g.read(w, shard); err != nil {
		return err
	}
	for keys := range graphs.Runs(g.records(), func(a, b *fingerprintRecord) bool { return a.Key == b.Key }) {
		if len(keys) > 1 {
			g.key(keys)
		}
		if err := cmp.Or(g.failed, ctx.Err()); err != nil {
			return err
		}
	}
	findings.Merge(&w.Outcome.Skipped, g.skipped)
	w.Outcome.Alike = max(w.Outcome.Alike, g.alike)
	if err := g.pairs.Finish(); err != nil {
		return err
	}
	return g.edges.Finish()
}

func (g *simhashGroups) records() []fingerprintRecord {
	keys := make([]fingerprintRecord, len(g.packed)/g.recordSize)
	for i := range keys {
		keys[i] = g.record(g.packed[i*g.recordSize:])
		keys[i].at = uint32(i)
	}
	return graphs.RadixSort(keys, make([]fingerprintRecord, len(keys)), func(r *fingerprintRecord) uint64 {
		return r.Key
	})
}

func (g *simhashGroups) record(b []byte) fingerprintRecord {
	ref := records.GetRef(b[8:])
	r := fingerprintRecord{
		table: binary.LittleEndian.Uint32(b[36:]),
		Record: candidates.Record{
			Key:    binary.LittleEndian.Uint64(b),
			Ref:    ref,
			Second: ref,
			Digest: digest.Get(b[16:]),
			Size:   binary.LittleEndian.Uint32(b[32:]),
		},
	}
	if g.HasSides {
		r.Side = binary.LittleEndian.Uint64(b[g.recordSize-sideSize:])
	}
	return r
}

func (g *simhashGroups) words(r *fingerprintRecord) []byte {
	return g.packed[int(r.at)*g.recordSize+records.KeySize:][:g.fingerprintSize()]
}

// compare orders records so that it returns 0 for identical documents. They have equal fingerprints and, where sets are
// the score, equal sets. Equal sets may have different fingerprints, since their features may have other weights.
func (g *simhashGroups) compare(a, b *fingerprintRecord) int {
	order := bytes.Compare(g.words(a), g.words(b))
	if order == 0 {
		// A document without shingles has a part of its digest instead of a fingerprint.
		order = cmp.Compare(min(a.Size, 1), min(b.Size, 1))
	}
	if g.Scoring == Hamming && a.Size > 0 {
		return order
	}
	return cmp.Or(order, digest.Compare(a.Digest, b.Digest))
}

// key handles the records of one key, each table by itself: prefixes of several tables may have the same key.
func (g *simhashGroups) key(keys []fingerprintRecord) {
	slices.SortFunc(keys, func(a, b fingerprintRecord) int {
		return cmp.Or(cmp.Compare(a.table, b.table), g.compare(&a, &b), cmp.Compare(a.Ref, b.Ref))
	})
	for group := range graphs.Runs(keys, func(a, b *fingerprintRecord) bool { return a.table == b.table }) {
		g.group(group)
	}
}

// distinct returns the first document of each run of identical documents in a group; it stands for all. The stars of
// these are written in the first table.
func (g *simhashGroups) distinct(keys []fingerprintRecord) []fingerprintRecord {
	n := 0
	for same := range graphs.Runs(keys, func(a, b *fingerprintRecord) bool { return g.compare(a, b) == 0 }) {
		keys[n] = g.class(same)
		n++
	}
	return keys[:n]
}

func (g *simhashGroups) class(same []fingerprintRecord) fingerprintRecord {
	first := same[0]
	second := &first // the one that stands for the class where the first cannot
	for i := range same[1:] {
		r := &same[1+i]
		if second == &first &&
			(r.Side != first.Side || first.Ref < g.layout.FirstInput && r.Ref >= g.layout.FirstInput) {
			first.Second, second = r.Ref, r
		}
	}
	if first.table != 0 {
		return first
	}
	for i := range same[1:] {
		center, r := &first, &same[1+i]
		if r.Side != 0 && r.Side == first.Side {
			center = second // each makes a pair with its center, if there are several sides
		}
		g.add(&center.Record, &r.Record, g.same(&r.Record))
	}
	return first
}

// group handles the documents that share a prefix. A document without shingles is like documents of its class only.
func (g *simhashGroups) group(keys []fingerprintRecord) {
	table := int(keys[0].table)
	keys = slices.DeleteFunc(g.distinct(keys), func(r fingerprintRecord) bool { return r.Size == 0 })
	if len(keys) < 2 {
		return
	}
	slices.SortFunc(keys, func(a, b fingerprintRecord) int { return cmp.Compare(a.Ref, b.Ref) })
	g.fingerprints = g.fingerprints[:0]
	for i := range keys {
		for b := g.words(&keys[i]); len(b) > 0; b = b[8:] {
			g.fingerprints = append(g.fingerprints, binary.LittleEndian.Uint64(b))
		}
	}
	list := func(i, j int) {
		x, y, _ := candidates.Ends(keys[i].Class(), keys[j].Class(), g.layout.FirstInput)
		g.pair(keys[i].Of(x), keys[j].Of(y), g.distance(i, j))
	}
	allCompared := !g.HasSides && g.layout.FirstInput == 0
	g.chosen.reset(len(keys), g.Bounds.Group, int(g.Bounds.Noted))
	alike := findings.Most(0)
	g.matcher.Pairs(table, g.fingerprints, func(i, j, _ int) {
		if g.isReused(&keys[i], &keys[j]) {
			return
		}
		if !allCompared && candidates.Apart(keys[i].Class(), keys[j].Class(), g.layout.FirstInput) {
			return
		}
		alike++
		if g.chosen.add(i, j) {
			list(i, j)
		}
	})
	g.alike = max(g.alike, alike)
	g.chosen.rest(g.Scoring != Hamming, list) // whom a pivot is like by its set is not known yet
	if g.chosen.skipped == 0 {
		return
	}
	group := documents.SkippedGroup{Documents: int64(len(keys)), First: keys[0].Ref, Second: keys[1].Ref}
	findings.Merge(&g.skipped, g.layout.Skipped(&group, g.chosen.skipped))
	for i, missing := range g.chosen.missing {
		if missing > 0 && g.failed == nil {
			g.failed = g.layout.Mark(g.run, records.PartlyListed, keys[i].Ref)
		}
	}
}

func (g *simhashGroups) isReused(a, b *fingerprintRecord) bool {
	if g.reused == nil {
		return false
	}
	x, y, ok := candidates.Ends(a.Class(), b.Class(), g.layout.FirstInput)
	return ok && g.reused.Both(x, y)
}

func (g *simhashGroups) distance(i, j int) (distance int) {
	words := sketch.SimHashWords(g.SimHashBits)
	for k, word := range g.fingerprints[i*words:][:words] {
		distance += bits.OnesCount64(word ^ g.fingerprints[j*words+k])
	}
	return distance
}

func (g *simhashGroups) same(r *candidates.Record) records.Score {
	if g.Scoring == Hamming {
		return records.HammingScore(0, g.SimHashBits)
	}
	return records.NewScore(int(r.Size), int(r.Size), false)
}

// pair passes on a pair within the distance, the first document before the second.
func (g *simhashGroups) pair(a, b *candidates.Record, distance int) {
	if g.Scoring == Hamming {
		g.add(a, b, records.HammingScore(distance, g.SimHashBits))
		return
	}
	low, high := a, b
	if low.Size > high.Size {
		low, high = high, low
	}
	if float64(low.Size)/float64(high.Size) < g.Threshold {
		return
	}
	if err := g.pairs.Add(low, high); err != nil {
		g.failed = err
	}
}

func (g *simhashGroups) add(a, b *candidates.Record, score records.Score) {
	if err := g.edges.Add(a, b, score); err != nil {
		g.failed = err
	}
}

// groupPairs chooses the pairs of a large group that are listed. It sees each once. A group of few pairs lists all.
// Of another one the documents that are like no pivot before them are its pivots. A document that is like pivots has a
// pair with each of these that is noted, so it may be removed for one of them. Further pairs hold the group
// together. So clusters are whole, and few pairs are listed, however many there are.
type groupPairs struct {
	isSmall bool // all pairs are listed, however many there are

	all    int64 // number of pairs that are listed whatever they are
	noted  int   // the number of documents noted for each one that is like them
	listed graphs.Forest[uint32]
	joined graphs.Forest[uint32]
	// holding are pairs that join two documents which no pair before has joined.
	holding [][2]uint32
	// alike holds, for each document, the first noted ones before it that are like it, each as twice its
	// place in the group, and one more if the pair is listed.
	alike   []uint32
	missing []uint32 // by document: its pairs that are not listed
	skipped int64
}

// nobody is returned instead of a document that is alike, where there is none.
const nobody = ^uint32(0)

func (g *groupPairs) reset(documents int, all int64, noted int) {
	g.skipped = 0
	if g.isSmall = candidates.PairsOf(int64(documents), 0) <= all; g.isSmall {
		return
	}
	*g = groupPairs{
		all:     all,
		noted:   max(noted, 1),
		listed:  graphs.NewForest[uint32](documents),
		joined:  graphs.NewForest[uint32](documents),
		alike:   g.alike,
		missing: slices.Grow(g.missing[:0], documents)[:documents],
		holding: g.holding[:0],
	}
	g.alike = slices.Grow(g.alike[:0], g.noted*documents)[:g.noted*documents]
	clear(g.missing)
	for i := range g.alike {
		g.alike[i] = nobody
	}
}

// add takes a pair i < j, and reports whether it is listed at once.
func (g *groupPairs) add(i, j int) (isListed bool) {
	if g.isSmall {
		return true
	}
	a, b := uint32(i), uint32(j)
	mark := uint32(0)
	if isListed = g.all > 0; isListed {
		g.all--
		mark = 1
		g.listed.Union(a, b)
	} else {
		g.skipped++
		g.missing[i]++
		g.missing[j]++
	}
	if x, y := g.joined.Find(a), g.joined.Find(b); x != y {
		g.joined.Union(x, y)
		g.holding = append(g.holding, [2]uint32{a, b})
	}
	g.note(j, 2*a|mark)
	return isListed
}

// note notes a document that is like document j, if it is one of the first.
func (g *groupPairs) note(j int, document uint32) {
	alike := g.alike[j*g.noted:][:g.noted]
	at := len(alike)
	for at > 0 && alike[at-1] > document {
		at--
	}
	if at < len(alike) {
		copy(alike[at+1:], alike[at:])
		alike[at] = document
	}
}

// rest visits the pairs that are listed beyond those that add has listed. With allNoted these are all pairs with
// documents that are noted, else the pairs with pivots.
func (g *groupPairs) rest(allNoted bool, visit func(i, j int)) {
	if g.skipped == 0 {
		return
	}
	list := func(i, j uint32) {
		g.skipped--
		g.missing[i]--
		g.missing[j]--
		g.listed.Union(i, j)
		visit(int(i), int(j))
	}
	leads := make([]bool, len(g.missing))
	for j := range leads {
		leads[j] = true
		for _, document := range g.alike[j*g.noted:][:g.noted] {
			if document == nobody {
				break
			}
			i, isListed := document/2, document%2 == 1
			if !allNoted && !leads[i] {
				continue
			}
			if leads[j] = false; !isListed {
				list(i, uint32(j))
			}
		}
	}
	for _, pair := range g.holding {
		if g.listed.Find(pair[0]) != g.listed.Find(pair[1]) {
			list(pair[0], pair[1])
		}
	}
}

// identicals are documents of a large shard that are identical under one key. Of very many of them the task holds the
// first one, and the first one of the input. The others become edges while they are read: all documents of a corpus may
// be equal. With sides two further documents may be needed for pairs, so none become edges then.
type identicals struct {
	first    []byte // the packed record
	center   groups.Center
	hasInput bool
}

// read reads the records of a shard. In a large one, a vote finds the classes of very many identical documents first.
func (g *simhashGroups) read(w *work.TaskContext, shard int) (err error) {
	size := runfile.SizeOf(w.Pieces, records.Fingerprints)
	w.Figures.Bytes += size
	w.Figures.Records += size / int64(g.recordSize)
	if g.HasSides || size < cmp.Or(g.large, groups.LargeShard) {
		g.packed, err = w.Read(0, records.Fingerprints)
		return err
	}
	var votes graphs.Votes
	if err := g.eachPacked(w, func(b []byte) error { votes.Add(g.identity(b)); return nil }); err != nil {
		return err
	}
	classes := map[uint64]*identicals{}
	for hash := range votes.Frequent() {
		classes[hash] = &identicals{}
	}
	stars := groups.NewStars(&w.Run, shard, g.Shards)
	return g.eachPacked(w, func(b []byte) error {
		class := classes[g.identity(b)]
		if class == nil || !class.takes(g, b) {
			g.packed = append(g.packed, b...)
			return nil
		}
		if r := g.record(b); r.table == 0 {
			return stars.Join(&class.center, &r.Record, g.same(&r.Record))
		}
		return nil
	})
}

func (g *simhashGroups) eachPacked(w *work.TaskContext, visit func(b []byte) error) error {
	for piece := range records.Fingerprints.Of(w.Pieces) {
		packed, err := w.ReadPiece(0, piece)
		for ; err == nil && len(packed) > 0; packed = packed[g.recordSize:] {
			err = visit(packed[:g.recordSize])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// identity returns a hash of what is the same in the packed records of identical documents under one key.
func (g *simhashGroups) identity(b []byte) uint64 {
	key := binary.LittleEndian.Uint64(b) ^ uint64(binary.LittleEndian.Uint32(b[36:]))
	hash := xxh3.HashSeed(b[records.KeySize:], key)
	if g.Scoring == Hamming && !isEmpty(b) {
		return hash
	}
	return xxh3.HashSeed(b[16:32], hash)
}

func isEmpty(b []byte) bool { return binary.LittleEndian.Uint32(b[32:]) == 0 }

// takes reports whether a document becomes an edge. It is one of those with the identity of the class.
func (c *identicals) takes(g *simhashGroups, b []byte) bool {
	ref := records.GetRef(b[8:])
	isInput := ref >= g.layout.FirstInput
	if c.first == nil {
		*c = identicals{first: bytes.Clone(b), center: groups.Center{Ref: ref}, hasInput: isInput}
		return false
	}
	first := c.first
	same := bytes.Equal(b[:8], first[:8]) && bytes.Equal(b[36:40], first[36:40]) &&
		bytes.Equal(b[records.KeySize:], first[records.KeySize:]) &&
		isEmpty(b) == isEmpty(first) && (g.Scoring == Hamming && !isEmpty(b) || bytes.Equal(b[16:32], first[16:32]))
	if !same || ref <= c.center.Ref {
		return false
	}
	if isInput && !c.hasInput {
		c.hasInput = true
		return false
	}
	return true
}
