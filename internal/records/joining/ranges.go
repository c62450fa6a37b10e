package joining

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/storage"
)

const (
	// rangeBytes is the most memory that a document takes while its range is at hand.
	rangeBytes = 80
	// mostRanges bounds the number of ranges, and with it the number of sections of a file.
	mostRanges  = 1 << 10
	mostSampled = 1 << 16
)

// sample is a sample of the nodes of a graph: every one whose number is a multiple of step.
type sample struct {
	sampled []docref.Ref
	step    int
	next    int // how many nodes are to be passed over
}

func (s *sample) add(refs []docref.Ref) {
	for ; s.next < len(refs); s.next += s.step {
		s.sampled = append(s.sampled, refs[s.next])
		if len(s.sampled) == mostSampled {
			for i := range mostSampled / 2 {
				s.sampled[i] = s.sampled[2*i]
			}
			s.sampled = s.sampled[:mostSampled/2]
			// The last one kept came one step ago.
			s.next -= s.step
			s.step *= 2
		}
	}
	s.next -= len(refs)
}

// cut returns the first refs of ranges of nearly equal numbers of nodes. The first range begins with the ref 0.
func (s *sample) cut(ranges int) []docref.Ref {
	slices.Sort(s.sampled)
	starts := []docref.Ref{0}
	for i := 1; i < ranges; i++ {
		starts = append(starts, s.sampled[i*len(s.sampled)/ranges])
	}
	return slices.Compact(starts)
}

type ranges struct {
	*Graph
	starts []docref.Ref // the first ref of each range
	files  files
	finder finder
	refs   []docref.Ref // to be found
	most   int          // largest number of documents of a range
}

func newRanges(g *Graph, f found) *ranges {
	count := min(f.nodes*rangeBytes/max(g.Bytes, 1)+2, mostRanges, int64(len(f.sampled)))
	return &ranges{Graph: g, starts: f.cut(int(count)), files: newFiles(g), most: mostDocuments}
}

func (r *ranges) of(ref docref.Ref) int {
	return sort.Search(len(r.starts), func(i int) bool { return r.starts[i] > ref }) - 1
}

// deal deals the nodes and the edges of all parts to ranges. An edge goes to the range of the later document.
func (r *ranges) deal() error {
	return r.files.write(func() error {
		return r.Parts(func(number int, part graphs.Part) error {
			for node, ref := range part.Refs {
				if of, is := part.Origin(number, node); is {
					err := r.files.put(nodes, r.of(ref), uint64(ref), uint64(part.Weights[node])<<32|uint64(of.Node),
						uint64(of.Part))
					if err != nil {
						return err
					}
				}
				if parent := part.Refs[part.Parents[node]]; parent != ref {
					if err := r.putEdge(ref, parent); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
}

func (r *ranges) putEdge(a, b docref.Ref) error {
	return r.files.put(edges, r.of(max(a, b)), uint64(max(a, b)), uint64(min(a, b)))
}

// ranksOf returns the ranks of the refs that stand in words, one in every size.
func (r *ranges) ranksOf(refs []docref.Ref, words []uint64, size int) []rank {
	r.refs = r.refs[:0]
	for record := range slices.Chunk(words, size) {
		r.refs = append(r.refs, docref.Ref(record[0]))
	}
	return r.finder.ranks(refs, r.refs)
}

func (r *ranges) documents(number int) (refs []docref.Ref, weights []uint32, err error) {
	var all collector
	err = r.files.each(nodes, number, func(words []uint64) error {
		for record := range slices.Chunk(words, 3) {
			all.add(docref.Ref(record[0]))
		}
		if len(all.refs) > r.most {
			return fmt.Errorf("range %d of %d has more than %d documents", number, len(r.starts), r.most)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	refs = all.finish()
	weights = make([]uint32, len(refs))
	err = r.files.each(nodes, number, func(words []uint64) error {
		for i, rank := range r.ranksOf(refs, words, 3) {
			weights[rank] = uint32(words[3*i+1] >> 32)
			if r.IsUniform {
				weights[rank] = 1
			}
		}
		return nil
	})
	return refs, weights, err
}

type group struct {
	refs    []docref.Ref
	weights []uint32
	roots   []rank
}

func (r *ranges) group(number int) (g group, err error) {
	err = r.files.each(grouped, number, func(words []uint64) error {
		for record := range slices.Chunk(words, 2) {
			g.refs = append(g.refs, docref.Ref(record[0]))
			g.weights = append(g.weights, uint32(record[1]>>32))
			g.roots = append(g.roots, rank(record[1]))
		}
		return nil
	})
	return g, err
}

// tops returns the first document of the component of each group, by root.
func (r *ranges) tops(number int, g group) ([]docref.Ref, error) {
	tops := slices.Clone(g.refs)
	err := r.files.each(answers, number, func(words []uint64) error {
		for record := range slices.Chunk(words, 2) {
			tops[record[0]] = docref.Ref(record[1])
		}
		return nil
	})
	return tops, err
}

// rank is the number of a document among those at hand, from 0, in document order.
type rank uint32

// collector collects distinct documents. It takes 8 bytes a document, and up to twice as much while it grows.
type collector struct {
	refs             []docref.Ref // ascending, each once
	pending, scratch []docref.Ref // to be merged
}

const (
	// leastPending and mostPending are how many documents are merged at a time.
	leastPending, mostPending = 1 << 14, 1 << 22
)

func (c *collector) add(refs ...docref.Ref) {
	c.pending = append(c.pending, refs...)
	if len(c.pending) >= min(max(leastPending, len(c.refs)/4), mostPending) {
		c.merge()
	}
}

func (c *collector) merge() {
	c.scratch = slices.Grow(c.scratch[:0], len(c.pending))[:len(c.pending)]
	fresh := graphs.RadixSort(c.pending, c.scratch, func(ref *docref.Ref) uint64 { return uint64(*ref) })
	if len(fresh) > 0 && &fresh[0] == &c.scratch[0] {
		c.pending, c.scratch = c.scratch, c.pending
	}
	fresh = slices.Compact(fresh)
	at := 0
	fresh = slices.DeleteFunc(fresh, func(ref docref.Ref) bool {
		at = seek(c.refs, at, ref)
		return at < len(c.refs) && c.refs[at] == ref
	})
	old, to := len(c.refs)-1, len(c.refs)+len(fresh)-1
	c.refs = slices.Grow(c.refs, len(fresh))[:to+1]
	for i := len(fresh) - 1; i >= 0; to-- {
		if old >= 0 && c.refs[old] > fresh[i] {
			c.refs[to] = c.refs[old]
			old--
		} else {
			c.refs[to] = fresh[i]
			i--
		}
	}
	c.pending = c.pending[:0]
}

func (c *collector) finish() []docref.Ref {
	c.merge()
	return c.refs
}

// seek returns the first index from at on whose ref is not below ref. It is fast if the way is short.
func seek(refs []docref.Ref, at int, ref docref.Ref) int {
	step := 1
	for at+step <= len(refs) && refs[at+step-1] < ref {
		at += step
		step *= 2
	}
	return at + sort.Search(min(step, len(refs)-at), func(i int) bool { return refs[at+i] >= ref })
}

// finder finds the ranks of documents, in ascending order, since random access to many documents is slow.
type finder struct {
	queries, scratch []query
	found            []rank
}

type query struct {
	ref   docref.Ref
	index uint32
}

// ranks returns the rank of each of some documents, all of which are in refs. It is valid until the next call.
func (f *finder) ranks(refs, of []docref.Ref) []rank {
	f.queries = f.queries[:0]
	for i, ref := range of {
		f.queries = append(f.queries, query{ref, uint32(i)})
	}
	f.scratch = slices.Grow(f.scratch[:0], len(of))[:len(of)]
	f.found = slices.Grow(f.found[:0], len(of))[:len(of)]
	at := 0
	for _, q := range graphs.RadixSort(f.queries, f.scratch, func(q *query) uint64 { return uint64(q.ref) }) {
		at = seek(refs, at, q.ref)
		f.found[q.index] = rank(at)
	}
	return f.found
}

// The kinds of records of the files. A record consists of words, and its shard is a range. No file outlives the step
// that writes it, so the numbers may change.
const (
	nodes    runfile.Kind = iota + 1 // document; weight and node; part
	edges                            // later document, earlier document
	grouped                          // document; weight and rank of the root of its group
	requests                         // parent; rank of the root and range that asks
	answers                          // rank of the root, first document of the component
	shares                           // first document of the component, weight, last document, range
	placings                         // the same first document, last document, weight, value, weight in earlier ranges
)

const wordSize = 8

type files struct {
	folder string
	held   int
	paths  []string
	pieces map[address][]runfile.Piece
	writer runfile.Writer
	reader runfile.Reader
	buffer []byte
	words  []uint64
}

type address struct {
	kind   runfile.Kind
	number int // of the range
}

func newFiles(g *Graph) files {
	const least, most = 4 << 10, 64 << 20
	f := files{folder: g.Folder, held: int(min(max(g.Bytes/8, least), most)), pieces: map[address][]runfile.Piece{}}
	f.writer.Stopped, f.reader.Stopped = g.Stopped, g.Stopped
	return f
}

func (f *files) write(fill func() error) error {
	f.writer.Reset(f.folder, f.held)
	defer f.writer.Abort()
	if err := fill(); err != nil {
		return err
	}
	path, err := f.writer.Close()
	if err != nil || path == "" {
		return err
	}
	f.paths = append(f.paths, path)
	pieces, err := runfile.Pieces(path)
	for _, piece := range pieces {
		at := address{piece.Kind, piece.Shard}
		f.pieces[at] = append(f.pieces[at], piece)
	}
	return err
}

func (f *files) put(kind runfile.Kind, number int, words ...uint64) error {
	b, err := f.writer.Record(kind, number, wordSize*len(words))
	if err != nil {
		return err
	}
	for i, word := range words {
		binary.LittleEndian.PutUint64(b[wordSize*i:], word)
	}
	return nil
}

// each visits the records of a kind for a range as they were written, many at a time, valid until visit returns.
func (f *files) each(kind runfile.Kind, number int, visit func(words []uint64) error) (err error) {
	for _, piece := range f.pieces[address{kind, number}] {
		if f.buffer, err = f.reader.Read(f.buffer[:0], piece); err != nil {
			return err
		}
		f.words = f.words[:0]
		for b := f.buffer; len(b) > 0; b = b[wordSize:] {
			f.words = append(f.words, binary.LittleEndian.Uint64(b))
		}
		if err := visit(f.words); err != nil {
			return err
		}
	}
	return nil
}

func (f *files) close() error {
	f.reader.Close()
	var faults []error
	for _, path := range f.paths {
		faults = append(faults, storage.Remove(path))
	}
	return errors.Join(faults...)
}
