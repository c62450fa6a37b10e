package sketch

import (
	"container/heap"
	"hash/fnv"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// The programs that articles compare their own with, as yardsticks: nothing else uses them.

// CodeUnits returns a text as the article on single-hash MinHash has it: 16-bit characters, and spaces for all others.
func CodeUnits(text []byte) []uint16 {
	var units []uint16
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r > 0xffff || r == utf8.RuneError {
			r = ' '
		}
		units = append(units, utf16.Encode([]rune{r})...)
		text = text[size:]
	}
	return units
}

// naiveFingerprint is the naive program: words, then all shingles, then the smallest hashes.
func naiveFingerprint(units []uint16, o SingleHashOptions) (fingerprint []uint32, words int) {
	var texts [][]uint16
	for i := 0; i < len(units); {
		begin := i
		for i < len(units) && alphanumerics().unit(units[i]) {
			i++
		}
		if i > begin {
			texts = append(texts, append([]uint16(nil), units[begin:i]...))
		} else {
			i++
		}
	}
	for i := 0; i+o.Words <= len(texts); i++ {
		hash := fnv.New32a()
		for _, word := range texts[i : i+o.Words] {
			for _, c := range word {
				high := c >> 8
				if o.Article {
					high = 0
				}
				hash.Write([]byte{byte(c), byte(high)})
			}
		}
		fingerprint = append(fingerprint, hash.Sum32())
	}
	slices.Sort(fingerprint)
	fingerprint = slices.Compact(fingerprint)
	return fingerprint[:min(len(fingerprint), o.Size)], len(texts)
}

// eachArticleHash calls collect with the hashes of the shingles of three words, by the pipeline of the article.
func eachArticleHash(units []uint16, collect func(hash uint32)) {
	table := alphanumerics()
	pipeline := [3]uint32{fnvOffset, fnvOffset, fnvOffset}
	seen := 0
	for i := 0; i < len(units); {
		begin := i
		for ; i < len(units) && table.unit(units[i]); i++ {
			c := uint32(units[i])
			for k := range pipeline {
				pipeline[k] = ((pipeline[k]^c&0xff)*fnvPrime ^ c>>16) * fnvPrime
			}
		}
		if i == begin {
			i++
			continue
		}
		if seen++; seen >= len(pipeline) {
			collect(pipeline[0])
		}
		pipeline = [...]uint32{pipeline[1], pipeline[2], fnvOffset}
	}
}

func ownTable(s *smallest, units []uint16, fingerprint []uint32) []uint32 {
	s.reset()
	eachArticleHash(units, s.collect)
	return s.appendSorted(fingerprint[:0])
}

// SingleHashProgram is one of the programs that the article on single-hash MinHash compares.
type SingleHashProgram struct {
	Name string
	// Fingerprint returns the smallest hashes of the shingles of three words of a text, see [CodeUnits], ascending and
	// valid until the next call. It is not for concurrent use.
	Fingerprint func(units []uint16) []uint32
}

// SingleHashPrograms returns the four programs of the article in its order. Their fingerprints have up to size hashes,
// and are the same.
func SingleHashPrograms(size int) []SingleHashProgram {
	var fingerprint []uint32
	own := newSmallest(size)
	return []SingleHashProgram{
		{"naive", func(units []uint16) []uint32 {
			fingerprint, _ = naiveFingerprint(units, SingleHashOptions{Words: 3, Size: size, Article: true})
			return fingerprint
		}},
		{"pipeline, sort", func(units []uint16) []uint32 {
			fingerprint = fingerprint[:0]
			eachArticleHash(units, func(hash uint32) { fingerprint = append(fingerprint, hash) })
			slices.Sort(fingerprint)
			fingerprint = slices.Compact(fingerprint)
			return fingerprint[:min(len(fingerprint), size)]
		}},
		{"pipeline, set and heap", func(units []uint16) []uint32 {
			held, set := make(largestFirst, 0, size), map[uint32]struct{}{}
			eachArticleHash(units, func(hash uint32) { held.collect(set, hash, size) })
			slices.Sort(held)
			return held
		}},
		{"pipeline, own table and heap", func(units []uint16) []uint32 {
			fingerprint = ownTable(own, units, fingerprint)
			return fingerprint
		}},
	}
}

// largestFirst is a heap.
type largestFirst []uint32

func (l largestFirst) Len() int           { return len(l) }
func (l largestFirst) Less(i, j int) bool { return l[i] > l[j] }
func (l largestFirst) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *largestFirst) Push(x any)        { *l = append(*l, x.(uint32)) }
func (l *largestFirst) Pop() any          { return nil } // the largest is replaced

// collect takes a hash if it is among the smallest, which set has, too.
func (l *largestFirst) collect(set map[uint32]struct{}, hash uint32, size int) {
	if _, has := set[hash]; has || len(*l) == size && hash > (*l)[0] {
		return
	}
	set[hash] = struct{}{}
	if len(*l) < size {
		heap.Push(l, hash)
		return
	}
	delete(set, (*l)[0])
	(*l)[0] = hash
	heap.Fix(l, 0)
}

// SimHashByBits returns the SimHash of 64-bit hashes of weight 1 as most libraries make it, but without branches.
func SimHashByBits(set []uint64) uint64 {
	var tallies [64]int
	for _, hash := range set {
		for i := range tallies {
			tallies[i] += int(hash>>i&1)*2 - 1
		}
	}
	fingerprint := uint64(0)
	for i, tally := range tallies {
		if tally > 0 {
			fingerprint |= 1 << i
		}
	}
	return fingerprint
}

// SimHashByBytes is [SimHashByBits] with the counters of the FastSimHash article: eight a word, for 255 hashes.
func SimHashByBytes(set []uint64) uint64 {
	var counters [8]uint64
	var tallies [64]int
	for len(set) > 0 {
		part := set[:min(len(set), 255)]
		for _, hash := range part {
			for i := range counters {
				counters[i] += hash >> i & 0x0101010101010101
			}
		}
		for i := range tallies {
			tallies[i] += 2*int(counters[i%8]>>(i/8*8)&0xff) - len(part)
		}
		clear(counters[:])
		set = set[len(part):]
	}
	fingerprint := uint64(0)
	for i, tally := range tallies {
		if tally > 0 {
			fingerprint |= 1 << i
		}
	}
	return fingerprint
}
