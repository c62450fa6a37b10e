// Package gathering brings pairs and sets to the buckets in which they are scored.
//
// Near-copies meet under many keys, so their pairs come first. Pairs join documents to components, and components are
// packed into places. Each set is sent once, to the place of its component. A component too large for one place is cut
// into blocks, and each two blocks meet at a place of their own. A set is sent to the places where it has a pair. Most
// documents are in no pair, and never travel.
//
// Where all pairs are compared there are no components. Then the places are blocks of documents of similar size. The
// documents of dense groups are joined to hot groups, which are packed into places of their own.
package gathering

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/graphs/union"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/joining"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
)

// hashBytes is the memory that a shingle of a set takes in a scoring task.
const hashBytes = 8

// Components joins the parts of the candidate graph, gives each component a place and makes the tasks that send pairs
// there. Where all pairs are compared, it places blocks of documents instead.
type Components struct {
	Inputs work.Path
	// PlaceBytes is about how many bytes the sets of a place may take in memory.
	PlaceBytes int64
	// GraphBytes is about how much memory the documents of the candidate graph may take.
	GraphBytes int64
	// Bounds say which stars are compared fully: stars are bounded together, as oversized groups are.
	Bounds groups.Bounds
	// Ranges, if above 0, is the number of ranges of document order whose components [PlacingRange] has placed.
	Ranges int

	layout documents.Layout
}

func (c *Components) Setup() error { return c.layout.Read(string(c.Inputs)) }

// Plan places components or blocks. The outcome of the step names the run file with the locations. It names none if no
// two documents are compared. The tasks are tasks of [Sending], with the step [PairsStep].
func (c *Components) Plan(_ context.Context, p *work.Planning) (err error) {
	runs := work.RunsBut(p.Outcomes, work.Gather, work.Fingerprint, work.Strip, work.Prune)
	p.Runs.Begin(&p.Run)
	defer p.Run.Abort()
	isAllPairs, err := c.placeBlocks(runs, p)
	if c.Ranges > 0 {
		runs = append(runs, work.RunsIn(p.Outcomes, work.Gather)...)
	} else {
		p.Runs.ReleaseStage(p.Outcomes, work.Gather) // the sets of hot groups have been scored
		if err == nil && !isAllPairs {
			err = c.placeComponents(runs, p)
		}
	}
	if err != nil {
		return err
	}
	if p.Outcome.Run, err = p.Run.Close(); err != nil {
		return err
	}
	if p.Outcome.Run != "" {
		runs = append(runs, p.Outcome.Run)
	} else if c.Ranges == 0 {
		return nil
	}
	d := work.Delivery{
		Step:       PairsStep,
		Needed:     []runfile.Kind{records.NodePairs},
		Extra:      []runfile.Kind{records.Nodes, records.Locations},
		IntoPlaces: true,
		Enough:     work.ManyTasks,
	}
	return p.Deliver(d.After(append(p.Outcomes, p.Outcome)), runs)
}

// placeComponents writes the locations of the nodes of each part. A document that has only one place is wanted there.
// Where other documents are wanted depends on their pairs.
func (c *Components) placeComponents(runs []string, p *work.Planning) error {
	stars, err := readStars(runs, c.Bounds, p.Counts.Documents+p.Counts.ReferenceDocuments, p.Memory)
	if err != nil {
		return err
	}
	graph, packer := work.GraphOf(runs, records.Nodes, p, c.GraphBytes), graphs.NewPacker(c.PlaceBytes/hashBytes)
	err = joining.Label(graph, &placing{run: &p.Run, layout: &c.layout, stars: stars, packer: packer, stride: 1})
	p.Outcome.Places = packer.Places()
	return err
}

type placing struct {
	run    *runfile.Writer
	layout *documents.Layout
	stars  *stars
	packer *graphs.Packer
	// The places are those whose number has a remainder of number, divided by stride.
	number, stride graphs.Place
}

func (p *placing) Count(joining.Component) {}

func (p *placing) Place(c joining.Component) (uint64, error) {
	location, err := p.packer.Pack(c.Weight)
	location.First = location.First*p.stride + p.number
	return location.Pack(), err
}

// Document returns the location of a document, and wants it there if it has only one place.
func (p *placing) Document(d joining.Document) (records.NodeLocation, error) {
	at := records.NodeLocation{Location: graphs.UnpackLocation(d.Component.Value), Star: p.stars.star(d.Ref)}
	if at.Blocks > 1 {
		at.Block = p.packer.Block(d.Before, d.Component.Weight)
		return at, nil
	}
	return at, want(p.run, p.layout, records.Want{Ref: d.Ref, Place: at.First})
}

func (p *placing) Node(part int, node graphs.Node, at records.NodeLocation) error {
	return records.WriteFixed(p.run, records.Locations, part, records.OfNode[records.NodeLocation]{Node: node, Is: at})
}

// want writes that a document is wanted at a place. The task of its split reads this.
func want(run *runfile.Writer, layout *documents.Layout, w records.Want) error {
	return records.Write(run, records.Wanted, documents.SplitOf(layout.Starts, w.Ref), &w)
}

// Where all pairs are compared there are no candidates to gather. The documents, ordered by size, are cut into blocks.
// Each set is sent once, to its block. The task of a block compares the block with itself and with earlier blocks, of
// smaller documents, while sizes allow the threshold.

// placeBlocks wants each distinct document at its block, and marks each block. It reports whether there are any blocks.
func (c *Components) placeBlocks(runs []string, p *work.Planning) (bool, error) {
	all, inputs, err := readDistinct(runs, p.Memory)
	if err != nil || len(all) == 0 {
		return false, err
	}
	blocks := graphs.Blocks(all, BlockShingles(c.PlaceBytes))
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(all[i].Ref, all[j].Ref) })
	for _, i := range order {
		ref := all[i].Ref
		if err := want(&p.Run, &c.layout, records.Want{Ref: ref, Place: blocks[i], Second: inputs[ref]}); err != nil {
			return false, err
		}
	}
	p.Outcome.Places = int(blocks[len(blocks)-1]) + 1
	for block := range p.Outcome.Places {
		if _, err := p.Run.Record(records.Blocks, block, 1); err != nil {
			return false, err
		}
	}
	return true, nil
}

// BlockShingles returns how many shingles a block holds, given the size of a place: a task holds two blocks.
func BlockShingles(placeBytes int64) int64 { return placeBytes / (2 * hashBytes) }

// readDistinct returns the distinct documents. Inputs has, for the reference, the equal one of the input.
func readDistinct(runs []string, m *work.Memory) (all []graphs.Sized, inputs map[docref.Ref]docref.Ref, err error) {
	inputs = map[docref.Ref]docref.Ref{}
	var part graphs.Part
	err = work.EachPart(runs, records.Distinct, m, func(_ int, nodes []byte) error {
		part = records.DecodePart(part, nodes)
		for i, ref := range part.Refs {
			if first := part.Refs[part.Parents[i]]; first != ref {
				inputs[first] = ref
				continue
			}
			all = append(all, graphs.Sized{Ref: ref, Size: part.Weights[i]})
		}
		return nil
	})
	return all, inputs, err
}

// Where many tasks join the parts of the candidate graph, each places the components that begin in a range of document
// order. The places of range 5 of 128 are 5, 133, 261 and so on, so no task needs to know how many another one makes.

func strideOf(ranges int) graphs.Place { return graphs.Place(max(ranges, 1)) }

// Uniting joins trees of the candidate graph; see [union.Uniting].
type Uniting struct {
	union.Uniting
	// Bounds are as in [Components].
	Bounds groups.Bounds
}

// Plan tells the tasks of [PlacingRange] which stars are not compared, and joins trees.
func (u *Uniting) Plan(ctx context.Context, p *work.Planning) error {
	runs := work.RunsBut(p.Outcomes, work.Gather, work.Fingerprint, work.Strip, work.Prune)
	stars, err := readStars(runs, u.Bounds, p.Counts.Documents+p.Counts.ReferenceDocuments, p.Memory)
	if err == nil {
		err = stars.write(string(p.Runs.Folder))
	}
	if err != nil {
		return err
	}
	return u.Uniting.Plan(ctx, p)
}

// PlacingRange places the components that begin in a range, and writes the locations of their nodes.
type PlacingRange struct {
	union.Finishing
	// PlaceBytes is as in [Components].
	PlaceBytes int64
}

// Task places the components of a range. Its outcome says how many places there are, if all ranges have as many.
func (r *PlacingRange) Task(_ context.Context, t work.Task, w *work.TaskContext) error {
	stars, err := openStars(string(w.Runs.Folder))
	if err != nil {
		return err
	}
	graph, err := r.Graph(w)
	if err != nil {
		return err
	}
	of := &placing{
		run:    &w.Run,
		layout: r.Layout(),
		stars:  stars,
		packer: graphs.NewPacker(r.PlaceBytes / hashBytes),
		number: graphs.Place(t.Number),
		stride: strideOf(r.Count),
	}
	if err := joining.Label(graph, of); err != nil {
		return err
	}
	places := of.packer.Places() * r.Count
	if places > math.MaxUint32 {
		return fmt.Errorf("place components: more than %d places", int64(math.MaxUint32))
	}
	w.Outcome.Places = places
	return nil
}

type starred struct {
	Ref  docref.Ref
	Star records.StarNumber
}

func starsPath(folder string) string { return storage.Join(folder, "stars") }

func (s *stars) write(folder string) error {
	var b []byte
	for document, ref := range s.documents.Keys {
		if star := s.of[document]; star != 0 {
			b = records.Append(b, &starred{docref.Ref(ref), star})
		}
	}
	if err := storage.WriteFile(starsPath(folder), b); err != nil {
		return fmt.Errorf("write stars: %w", err)
	}
	return nil
}

func openStars(folder string) (*stars, error) {
	b, err := storage.ReadFile(starsPath(folder))
	if err != nil {
		return nil, fmt.Errorf("read stars: %w", err)
	}
	s := &stars{}
	for one := range records.All[starred](b) {
		s.documents.Add(uint64(one.Ref))
		s.of = append(s.of, one.Star)
	}
	return s, nil
}
