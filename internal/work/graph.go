package work

import (
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/joining"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
)

// GraphOf returns the graph whose parts are in the run files. Its documents may take about so many bytes of memory.
func GraphOf(runs []string, kind runfile.Kind, p *Planning, bytes int64) *joining.Graph {
	return &joining.Graph{Bytes: bytes, Folder: string(p.Runs.Folder), Parts: func(visit func(int, components.Part) error) error {
		var part components.Part
		return EachPart(runs, kind, p.Memory, func(number int, nodes []byte) error {
			part = records.DecodePart(part, nodes)
			return visit(number, part)
		})
	}}
}

// EachPart visits the parts of a graph in the run files, with the shard and the
// nodes of each.
func EachPart(runs []string, kind runfile.Kind, m *Memory, visit func(shard int, nodes []byte) error) error {
	var reader runfile.Reader
	defer reader.Close()
	for _, run := range runs {
		pieces, err := runfile.Pieces(run)
		if err != nil {
			return err
		}
		if m.Buffers[0], err = reader.ReadKind(m.Buffers[0][:0], pieces, kind); err != nil {
			return err
		}
		for _, piece := range pieces {
			// A run holds at most one part.
			if piece.Kind == kind {
				if err := visit(piece.Shard, m.Buffers[0]); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// EachRecordOf visits the records of a kind in the runs of a stage, one section at a time.
func EachRecordOf(outcomes []Outcome, stage Stage, kind runfile.Kind, m *Memory, visit func(packed []byte) error) error {
	var reader runfile.Reader
	defer reader.Close()
	return eachRun(outcomes, stage, func(pieces []runfile.Piece) error {
		return eachSection(&reader, pieces, kind, &m.Buffers[0], visit)
	})
}

// EachEdges visits the edges that a stage has written. For each part of the graph it calls part with the nodes, and
// then visit, the result, with the edges.
func EachEdges(outcomes []Outcome, stage Stage, m *Memory, part func(nodes []byte) (visit func(edges []byte))) error {
	var reader runfile.Reader
	defer reader.Close()
	return eachRun(outcomes, stage, func(pieces []runfile.Piece) (err error) {
		if m.Buffers[0], err = reader.ReadKind(m.Buffers[0][:0], pieces, records.EdgeNodes); err != nil {
			return err
		}
		visit := part(m.Buffers[0])
		return eachSection(&reader, pieces, records.Edges, &m.Buffers[1], func(edges []byte) error {
			visit(edges)
			return nil
		})
	})
}

// eachRun visits the pieces of each run file that a stage has written.
func eachRun(outcomes []Outcome, stage Stage, visit func(pieces []runfile.Piece) error) error {
	for _, o := range outcomes {
		if o.Stage != stage || o.Run == "" {
			continue
		}
		pieces, err := runfile.Pieces(o.Run)
		if err == nil {
			err = visit(pieces)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachSection reads the pieces of a kind into the buffer, one after the other.
func eachSection(reader *runfile.Reader, pieces []runfile.Piece, kind runfile.Kind, buffer *[]byte, visit func(packed []byte) error) (err error) {
	for _, piece := range pieces {
		if piece.Kind != kind {
			continue
		}
		if *buffer, err = reader.Read((*buffer)[:0], piece); err != nil {
			return err
		}
		if err := visit(*buffer); err != nil {
			return err
		}
	}
	return nil
}
