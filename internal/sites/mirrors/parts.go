package mirrors

import (
	"context"
	"encoding/binary"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/settle/standing"
)

// Nothing that sites have in common goes beyond a component of the similarity graph. So where a component stands, a night adds what the last run
// has noted of it: its part.

// part is what a component adds.
type part struct {
	spread  int64
	sums    []byte // packed
	classes []byte // each with the sites whose ranges it is sent to
}

// addSum adds a sum.
func (p *part) addSum(sum *records.SiteSum) { p.sums = records.Append(p.sums, sum) }

// addClass adds a class that matters to some sites.
func (p *part) addClass(sites []uint64, packed []byte) {
	b := binary.AppendUvarint(p.classes, uint64(len(sites)))
	for _, site := range sites {
		b = binary.LittleEndian.AppendUint64(b, site)
	}
	p.classes = append(binary.AppendUvarint(b, uint64(len(packed))), packed...)
}

// append packs the part. Nothing is appended if the component adds nothing.
func (p *part) append(b []byte) []byte {
	if p.spread == 0 && len(p.sums) == 0 && len(p.classes) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(p.spread))
	b = binary.AppendUvarint(b, uint64(len(p.sums)))
	return append(append(b, p.sums...), p.classes...)
}

// addPart adds a packed part. Classes get the ids from first on.
func (s *sums) addPart(packed []byte, first uint64) error {
	number := func() int {
		n, size := binary.Uvarint(packed)
		packed = packed[size:]
		return int(n)
	}
	s.spread += int64(number())
	end := number()
	for sum := range records.All[records.SiteSum](packed[:end]) {
		s.add(&sum)
	}
	for packed = packed[end:]; len(packed) > 0; {
		s.sites = s.sites[:0]
		for range number() {
			s.sites, packed = append(s.sites, binary.LittleEndian.Uint64(packed)), packed[8:]
		}
		end := number()
		s.packed = append(s.packed[:0], packed[:end]...)
		packed = packed[end:]
		if err := s.write(first); err != nil {
			return err
		}
	}
	return s.flushIfMany()
}

// noting notes the parts of the components of an output shard.
type noting struct {
	shard      int
	components []uint32 // of each document, by number
	documents  []int    // of each component
	component  uint32   // whose part is under way
	part       part
}

// newNoting finds the components of some documents. Each is a stretch of them.
func newNoting(shard, documents int, edges []records.Edge[records.Number]) *noting {
	n := &noting{shard: shard, components: make([]uint32, documents)}
	joined := graphs.NewForest[records.Number](documents)
	for _, e := range edges {
		joined.Union(e.A, e.B)
	}
	joined.Flatten()
	for i, first := range joined {
		if int(first) == i {
			n.documents = append(n.documents, 0)
		}
		n.components[i] = uint32(len(n.documents) - 1)
		n.documents[len(n.documents)-1]++
	}
	return n
}

// enter begins with the component of a document, unless its part is under way, and tells whether it has begun.
func (n *noting) enter(run *runfile.Writer, document records.Number) (isNew bool, err error) {
	component := n.components[document]
	if component == n.component {
		return false, nil
	}
	err = n.write(run)
	n.component = component
	return true, err
}

// write writes the part that is under way, if the component can stand.
func (n *noting) write(run *runfile.Writer) error {
	packed := n.part.append(nil)
	n.part = part{sums: n.part.sums[:0], classes: n.part.classes[:0]}
	if len(packed) == 0 || n.documents[n.component] > standing.Most {
		return nil
	}
	return (&records.SitePart{Component: int(n.component), Packed: packed}).Write(run, n.shard)
}

// Standing is the work of the stage site on components that stand. Its task adds what the last run has noted of them.
type Standing struct {
	// Parts is the path of the run file with the parts of the components of the last run.
	Parts work.Path
	// Ranges is as in [Summing].
	Ranges int
}

// Delivery returns the delivery of its task.
func (*Standing) Delivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.Standing}}
}

// Task adds the parts of the components that stand.
func (s *Standing) Task(ctx context.Context, _ work.Task, w *work.Desk) error {
	packed, err := w.Read(0, records.Standing)
	if err != nil {
		return err
	}
	pieces, err := runfile.Pieces(string(s.Parts))
	if err != nil {
		return err
	}
	sums, chosen := newSums(s.Ranges, nil, &w.Run), standing.Chosen(packed)
	for _, piece := range pieces {
		if piece.Kind != records.SiteParts {
			continue
		}
		if packed, err = w.ReadPiece(1, piece); err != nil {
			return err
		}
		for len(packed) > 0 && ctx.Err() == nil {
			var part records.SitePart
			part, packed = records.NextSitePart(packed)
			for len(chosen) > 0 && int(chosen[0]) < part.Component {
				chosen = chosen[1:]
			}
			if len(chosen) == 0 || int(chosen[0]) != part.Component {
				continue
			}
			w.Figures.Records++
			if err := sums.addPart(part.Packed, standingID(part.Component)); err != nil {
				return err
			}
		}
	}
	w.Outcome.Skipped.SpreadPages += sums.spread
	if err := sums.flush(); err != nil {
		return err
	}
	return ctx.Err()
}

// standingID returns the first id of the classes of a component that stands. Those of all output shards are below.
func standingID(component int) uint64 { return 1<<63 | uint64(component)*standing.Most }
