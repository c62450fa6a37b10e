package query

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/inspect/index"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// searcher finds the documents of an index that are like another. It finds all whose similarity is at least the
// threshold, by the keys that they share, or whose fingerprints are within the distance. It is not for concurrent use.
type searcher struct {
	index     *Index
	threshold float64
	digester  *sketch.Digester

	shared  []uint32 // number of keys that each set of a segment shares with the given one
	touched []int    // sets that share any key
	set     []uint64

	probes           []lshbands.Probe // of the keys of the given set, or of its fingerprint in each table
	candidates, rows []uint64
	distances        []uint16

	found []found
}

type found struct {
	file     *indexFile
	segment  *index.Segment
	document int
	ref      docref.Ref
	match    output.Match
}

func newSearcher(x *Index, threshold float64) *searcher {
	most := 0
	for _, file := range x.files {
		for _, segment := range file.Segments {
			most = max(most, segment.Sets)
		}
	}
	return &searcher{
		index:     x,
		threshold: threshold,
		digester:  sketch.NewDigester(x.config.Seed.Number),
		shared:    make([]uint32, most),
	}
}

// search returns the documents that are like a fingerprint, the most similar
// first, then in document order. They are valid until the next call.
func (s *searcher) search(of sketch.Fingerprint) ([]found, error) {
	s.found = s.found[:0]
	for i := range s.index.files {
		file := &s.index.files[i]
		for j := range file.Segments {
			if err := s.searchSegment(file, file.Segments[j], of); err != nil {
				return nil, fmt.Errorf("search index %s: %w", file.path, err)
			}
		}
	}
	slices.SortFunc(s.found, func(a, b found) int {
		return cmp.Or(compareMatches(&a.match, &b.match), cmp.Compare(a.ref, b.ref))
	})
	return s.found, nil
}

func (s *searcher) searchSegment(file *indexFile, in *index.Segment, of sketch.Fingerprint) error {
	switch {
	case file.Tables == nil:
		return s.searchSets(file, in, of)
	case len(of.Set) == 0:
		for first, end := in.Keys.Range(of.Digest[0], 64); first < end; first++ {
			s.add(file, in, in.Sets-in.Keys.Len()+first, output.NewHammingMatch(0, 0))
		}
		return nil
	}
	return s.searchFingerprints(file, in, of.SimHash)
}

func (s *searcher) searchSets(file *indexFile, in *index.Segment, of sketch.Fingerprint) error {
	size := len(of.Set)
	if size == 0 {
		first, end := in.Keys.Range(index.DigestKey(of.Digest), 64)
		for ; first < end; first++ {
			if set := in.Posting(first); in.Digest(set) == of.Digest {
				s.add(file, in, set, output.NewIdenticalMatch())
			}
		}
		return nil
	}
	s.collect(in, of.Set)
	defer func() {
		for _, set := range s.touched {
			s.shared[set] = 0
		}
	}()
	other, need, least := -1, 0, 0 // of the set before: of very many, most are of few sizes
	for _, set := range s.touched {
		if n := in.Size(set); n != other {
			other, need = n, asmkernels.Required(s.threshold, size, n)
			least = leastShared(s.threshold, file.Header.Threshold, need, size, n)
		}
		if int(s.shared[set]) < least {
			continue
		}
		if in.Digest(set) == of.Digest {
			s.add(file, in, set, output.NewIdenticalMatch())
			continue
		}
		s.set = in.AppendSet(s.set[:0], set)
		if s.digester.Set(s.set) != in.Digest(set) {
			document, _ := in.DocumentsOf(set)
			return fmt.Errorf("the shingles of %s are damaged: %s", refName(file, in.Ref(document)), remedy(file.path))
		}
		if common := asmkernels.Intersect(of.Set, s.set, need); common >= need {
			s.add(file, in, set, output.NewMatch(common, size, other))
		}
	}
	return nil
}

// leastShared returns the least number of keys that two sets of these sizes share if they have need elements in common.
// The sets have the keys of two thresholds.
//
// One of the sets has the smaller last key. Common elements up to it are shared keys. Common elements beyond it are not
// among the keys of that set.
func leastShared(threshold, otherThreshold float64, need, size, other int) int {
	rest := size - index.KeyCount(threshold, size)
	otherRest := other - index.KeyCount(otherThreshold, other)
	return max(min(need, index.Common), need-max(rest, otherRest))
}

// collect counts the keys that sets of a segment share with a set, without sets whose size rules similarity out.
func (s *searcher) collect(in *index.Segment, set []uint64) {
	s.touched = s.touched[:0]
	size := float64(len(set))
	least := math.Ceil(s.threshold * size * (1 - 1e-9))
	most := min(math.Floor(size/s.threshold*(1+1e-9)), math.MaxUint32) // sizes have 32 bits
	low, high := in.SetsOfSize(int(least), int(most))
	if low == high {
		return
	}
	s.probes = s.probes[:0]
	for _, key := range set[:index.KeyCount(s.threshold, len(set))] {
		s.probes = append(s.probes, lshbands.Probe{Table: in.Keys, Prefix: key, PrefixBits: 64})
	}
	lshbands.Search(s.probes)
	for i := range s.probes {
		first, end := s.probes[i].First, s.probes[i].End
		// The sets of a key ascend, and sets of one size are next to each other.
		first += sort.Search(end-first, func(i int) bool { return in.Posting(first+i) >= low })
		for ; first < end; first++ {
			number := in.Posting(first)
			if number >= high {
				break
			}
			if s.shared[number] == 0 {
				s.touched = append(s.touched, number)
			}
			s.shared[number]++
		}
	}
}

// searchFingerprints looks in each table for the fingerprints that share the prefix. It takes those within the distance
// that no earlier table has shown.
func (s *searcher) searchFingerprints(file *indexFile, in *index.Segment, of []uint64) error {
	tables, words := file.Tables, len(of)
	fingerprints := in.Fingerprints(words)
	s.probes = s.probes[:0]
	for table, keys := range in.Permuted {
		prefix, prefixBits := index.KeyPrefix(tables.Prefix(table, of), tables.PrefixBits(table))
		s.probes = append(s.probes, lshbands.Probe{Table: keys, Prefix: prefix, PrefixBits: prefixBits})
	}
	lshbands.Search(s.probes)
	for table := range s.probes {
		s.candidates = s.probes[table].AppendKeys(s.candidates[:0])
		s.rows = s.rows[:0]
		for _, key := range s.candidates {
			number := index.NumberOf(key)
			if number >= fingerprints {
				return fmt.Errorf("table %d has a fingerprint %d of %d: %s", table, number, fingerprints,
					remedy(file.path))
			}
			s.rows = in.AppendFingerprint(s.rows, number, words)
		}
		s.distances = slices.Grow(s.distances[:0], len(s.candidates))[:len(s.candidates)]
		asmkernels.Hamming(s.distances, of, s.rows)
		for i, distance := range s.distances {
			if int(distance) <= tables.Distance() && tables.FirstCommon(of, s.rows[i*words:][:words]) == table {
				s.add(file, in, index.NumberOf(s.candidates[i]), output.NewHammingMatch(int(distance), tables.Bits()))
			}
		}
	}
	return nil
}

func (s *searcher) add(file *indexFile, in *index.Segment, set int, match output.Match) {
	first, end := in.DocumentsOf(set)
	for document := first; document < end; document++ {
		s.found = append(s.found, found{file, in, document, in.Ref(document), match})
	}
}

func refName(file *indexFile, ref docref.Ref) string {
	name, position, _ := file.Header.Place(ref)
	return fmt.Sprintf("%s:%d", name, position)
}

func nameOf(id []byte, isInteger bool) []byte {
	if isInteger && corpus.IsInteger(id) {
		return bytes.Clone(id)
	}
	return quoting.AppendString(nil, id)
}

func (f *found) row(id, ref []byte) output.Match {
	match := f.match
	match.ID, match.Ref = id, ref
	match.MatchRef = quoting.AppendString(nil, refName(f.file, f.ref))
	match.Match = match.MatchRef
	if id := f.segment.ID(f.document); len(id) > 0 {
		match.Match = nameOf(id, f.file.Header.AreIntegers)
	}
	match.Reference = f.ref.File() < f.file.Header.References
	return match
}

// readStream reads lines from a stream, compressed or not. A batch ends where the stream pauses, so that a writer that
// waits after a line gets the answer. A blank line ends one, too.
func readStream(stream io.Reader, limits corpus.Limits, pass func(file *corpus.File, batch corpus.Batch) error) error {
	decoded, err := corpus.Decoded(stream)
	if err != nil {
		return failure.New(failure.Input, fmt.Errorf("read -: %w", err))
	}
	defer decoded.Close()
	reader := bufio.NewReaderSize(decoded, corpus.BatchBytes)
	file := &corpus.File{Name: "-"}
	var batch corpus.Batch
	// a later read returns the error again
	if mark, _ := reader.Peek(len(corpus.ByteOrderMark)); string(mark) == corpus.ByteOrderMark {
		skipped, _ := reader.Discard(len(mark))
		batch.Offset = int64(skipped)
	}
	for {
		start := len(batch.Data)
		data, length, err := appendLine(batch.Data, reader, limits)
		batch.Data = data
		isLong, isBlank := length > limits.Line, string(data[start:]) == "\n"
		if isLong {
			batch.Rejects = append(batch.Rejects, corpus.Reject{
				Position: batch.Offset + int64(start),
				Message:  corpus.TooLong("line", length, limits.Line, limits.Setting()),
			})
		}
		switch isEnd := err == io.EOF; { // a wrapped one is a failure
		case err != nil && !isEnd:
			return failure.New(failure.Input, fmt.Errorf("read -: %w", err))
		case !isEnd && !isLong && !isBlank && reader.Buffered() > 0 && len(batch.Data) < corpus.BatchBytes:
			continue
		default:
			if err := pass(file, batch); err != nil || isEnd {
				return err
			}
			batch = corpus.Batch{Offset: batch.Offset + int64(len(batch.Data))}
			if isLong {
				batch.Offset += length + 1
			}
		}
	}
}

// appendLine appends the next line with its line feed. A line longer than the limit is skipped. It returns the length
// without the line feed.
func appendLine(data []byte, reader *bufio.Reader, limits corpus.Limits) (_ []byte, length int64, err error) {
	start, held := len(data), false
	for {
		if length > corpus.LongLine && !held && limits.Hold != nil {
			if err := limits.Hold(); err != nil {
				return data, length, err
			}
			held = true
		}
		var part []byte
		part, err = reader.ReadSlice('\n')
		length += int64(len(part))
		if err == nil {
			length--
		}
		if length > limits.Line {
			data = data[:start]
		} else {
			data = append(data, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return data, length, err
		}
	}
}
