package gathering

import (
	"context"

	"mirrorbeam/internal/components"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/groups"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
)

// hashBytes is the memory that a shingle of a set takes in a scoring task.
const hashBytes = 8

// Components joins the parts of the candidate graph, gives each component a place and
// makes the tasks that send pairs there. Where all pairs are compared, it places blocks of
// documents instead.
type Components struct {
	// Inputs is the path of the file that [documents.WriteInputs] made.
	Inputs work.Path
	// PlaceBytes is about how many bytes the sets of a place may take in memory.
	PlaceBytes int64
	// Bounds say which stars are compared fully: stars are bounded together, as crowds are.
	Bounds groups.Bounds

	layout documents.Layout
}

// Setup reads the inputs.
func (c *Components) Setup() error { return c.layout.Read(string(c.Inputs)) }

// Plan places components or blocks. The outcome of the step names the run file with the locations. It names none if no two
// documents are compared. The tasks are tasks of [Sending], with the step [PairsStep].
func (c *Components) Plan(_ context.Context, p *work.Planning) (err error) {
	p.Runs.ReleaseStage(p.Outcomes, work.Gather) // the sets of heaps have been scored
	runs := work.RunsBut(p.Outcomes, work.Gather, work.Fingerprint)
	p.Runs.Begin(&p.Run)
	defer p.Run.Abort()
	isAllPairs, err := c.placeBlocks(runs, p.Memory)
	if err == nil && !isAllPairs {
		err = c.placeComponents(runs, p.Counts.Documents+p.Counts.ReferenceDocuments, p.Memory)
	}
	if err != nil {
		return err
	}
	if p.Outcome.Run, err = p.Run.Close(); err != nil || p.Outcome.Run == "" {
		return err
	}
	d := work.Delivery{Step: PairsStep, Needed: []runfile.Kind{records.NodePairs}, Extra: []runfile.Kind{records.Nodes, records.Locations}}
	return p.Deliver(d, append(runs, p.Outcome.Run))
}

// placeComponents writes the locations of the nodes of each part. A document that has only one place is wanted there.
// Where other documents are wanted depends on their pairs.
func (c *Components) placeComponents(runs []string, total int64, m *work.Memory) error {
	graph, err := work.ReadGraph(runs, records.Nodes, m)
	if err != nil {
		return err
	}
	stars, err := c.readStars(runs, total, m)
	if err != nil {
		return err
	}
	locations, _ := graph.Locations(max(c.PlaceBytes/hashBytes, 1))
	if err := writeLocations(runs, graph, locations, stars, m); err != nil {
		return err
	}
	for rank, ref := range graph.Refs() {
		if locations[rank].Blocks > 1 {
			continue
		}
		if err := want(&m.Run, &c.layout, records.Want{Ref: ref, Place: locations[rank].First}); err != nil {
			return err
		}
	}
	return nil
}

// writeLocations writes the location and the star of each node, by part.
func writeLocations(runs []string, graph *components.Graph, locations []components.Location, stars *stars, m *work.Memory) error {
	starOf := make([]records.StarNumber, graph.Len())
	for rank, ref := range graph.Refs() {
		starOf[rank] = stars.star(ref)
	}
	return work.EachPart(runs, records.Nodes, m, func(part int, nodes []byte) error {
		for ; len(nodes) > 0; nodes = nodes[records.NodeSize:] {
			b, err := m.Run.Record(records.Locations, part, records.LocationSize)
			if err != nil {
				return err
			}
			rank := graph.Rank(records.GetRef(nodes))
			records.PutLocation(b, locations[rank], starOf[rank])
		}
		return nil
	})
}

// want writes that a document is wanted at a place. The task of its split reads this.
func want(run *runfile.Writer, layout *documents.Layout, w records.Want) error {
	return records.WriteWanted(run, documents.SplitOf(layout.Starts, w.Ref), w)
}
