package work

import (
	"mirrorbeam/internal/carry/joining"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/runfile"
)

// GraphOf returns the graph whose parts are in the run files. Its documents may take about the given bytes of memory.
func GraphOf(runs []string, kind runfile.Kind, p *Planning, bytes int64) *joining.Graph {
	return &joining.Graph{Bytes: bytes, Folder: string(p.Runs.Folder), Stopped: p.Run.Stopped, Parts: func(visit func(int, graphs.Part) error) error {
		var part graphs.Part
		return EachPart(runs, kind, p.Memory, func(number int, nodes []byte) error {
			part = records.DecodePart(part, nodes)
			return visit(number, part)
		})
	}}
}

// EachPart visits the parts of a graph in the run files, with the shard and the
// nodes of each.
func EachPart(runs []string, kind runfile.Kind, m *Memory, visit func(shard int, nodes []byte) error) error {
	return eachLoaded(runs, []runfile.Kind{kind}, m, func(l loaded) error {
		for _, piece := range l.pieces {
			// A run holds at most one part.
			if piece.Kind == kind {
				return visit(piece.Shard, l.packed[0])
			}
		}
		return nil
	})
}

// EachRecordOf visits the records of a kind in the runs of a stage, one section at a time.
func EachRecordOf(outcomes []Outcome, stage Stage, kind runfile.Kind, m *Memory, visit func(packed []byte) error) error {
	return eachLoaded(runsOf(outcomes, stage), []runfile.Kind{kind}, m, func(l loaded) error {
		rest := l.packed[0]
		for _, piece := range l.pieces {
			if piece.Kind != kind {
				continue
			}
			if err := visit(rest[:piece.Length]); err != nil {
				return err
			}
			rest = rest[piece.Length:]
		}
		return nil
	})
}

// EachEdges visits the edges that a stage has written. For each part of the graph it calls part with the nodes, and
// then visit, the result, with the edges.
func EachEdges(outcomes []Outcome, stage Stage, m *Memory, part func(nodes []byte) (visit func(edges []byte))) error {
	return eachLoaded(runsOf(outcomes, stage), []runfile.Kind{records.EdgeNodes, records.Edges}, m, func(l loaded) error {
		part(l.packed[0])(l.packed[1])
		return nil
	})
}

// runsOf returns the run files that a stage has written.
func runsOf(outcomes []Outcome, stage Stage) (runs []string) {
	for _, o := range outcomes {
		if o.Stage == stage && o.Run != "" {
			runs = append(runs, string(o.Run))
		}
	}
	return runs
}
