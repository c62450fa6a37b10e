package transforms

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"mirrorbeam/internal/audit"
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/storage"
)

// writeAudit sees which of the audited pairs the job has found, in the components of
// the graph and in the edges of the runs, and writes what that says of the job.
func writeAudit(job Job, outcomes []outcome, graph *components.Graph, firstInput docref.Ref, m *memory) error {
	classes, scope, err := readClasses(outcomes, m)
	if err != nil || classes == nil {
		return err
	}
	listing := audit.NewListing(classes)
	if err := listStars(listing, outcomes, firstInput, m); err != nil {
		return err
	}
	if err := listEdges(listing, outcomes, m); err != nil {
		return err
	}
	b, err := json.Marshal(classes.Estimate(listing, graph.Joined, scope))
	if err == nil {
		err = storage.WriteFile(auditPath(job.Temp), b)
	}
	if err != nil {
		return fmt.Errorf("write audit: %w", err)
	}
	return nil
}

// readClasses reads what the tasks of the audit saw. It returns nil if nothing was
// sampled.
func readClasses(outcomes []outcome, m *memory) (*audit.Classes, audit.Scope, error) {
	var scope audit.Scope
	var classes *audit.Classes
	for _, o := range outcomes {
		if o.Sampled > 0 {
			classes = &audit.Classes{}
			scope.AllSampled = o.SampledAll
		}
	}
	if classes == nil {
		return nil, scope, nil
	}
	err := eachRecordOf(outcomes, auditStage, sampleKind, m, func(packed []byte) error {
		for ; len(packed) > 0; packed = packed[sampledSize:] {
			classes.AddSample(binary.LittleEndian.Uint32(packed[refSize:]), getRef(packed))
		}
		return nil
	})
	if err != nil {
		return nil, scope, err
	}
	var class audit.Class
	err = eachRecordOf(outcomes, auditStage, auditKind, m, func(packed []byte) error {
		for len(packed) > 0 {
			packed = nextClass(packed, &class)
			classes.Add(class)
		}
		return nil
	})
	if err != nil {
		return nil, scope, err
	}
	err = eachRecordOf(outcomes, auditStage, probeKind, m, func([]byte) error {
		scope.AllProbed = true
		return nil
	})
	return classes, scope, err
}

// eachEdges visits the edges that a stage has written: of the nodes of each part of
// the graph part makes what the edges of the part are shown to.
func eachEdges(outcomes []outcome, stage *stage, m *memory, part func(nodes []byte) (visit func(edges []byte))) error {
	var reader runfile.Reader
	defer reader.Close()
	for _, o := range outcomes {
		if o.Stage != stage.name || o.Run == "" {
			continue
		}
		pieces, err := runfile.Pieces(o.Run)
		if err != nil {
			return err
		}
		if m.buffers[0], err = reader.ReadKind(m.buffers[0][:0], pieces, edgeNodesKind); err != nil {
			return err
		}
		visit := part(m.buffers[0])
		for _, piece := range pieces {
			if piece.Kind != edgesKind {
				continue
			}
			if m.buffers[1], err = reader.Read(m.buffers[1][:0], piece); err != nil {
				return err
			}
			visit(m.buffers[1])
		}
	}
	return nil
}

// listStars says which documents stand for audited classes of equal documents: the
// center of a star and, where that is of the reference, the first one of the input.
func listStars(l *audit.Listing, outcomes []outcome, firstInput docref.Ref, m *memory) error {
	stars := func() error {
		return eachEdges(outcomes, groupStage, m, func(nodes []byte) func([]byte) {
			return func(edges []byte) { listStarsOf(l, nodes, edges, firstInput) }
		})
	}
	if err := stars(); err != nil || firstInput == 0 {
		return err
	}
	// A star may be cut by the sections of a run. What its end says of the class is
	// known now where it begins.
	return stars()
}

// listStarsOf is listStars for one section. The edges of a star come one after the
// other.
func listStarsOf(l *audit.Listing, nodes, edges []byte, firstInput docref.Ref) {
	ref := func(node uint32) docref.Ref { return getRef(nodes[nodeSize*node:]) }
	var representatives, known []docref.Ref
	for len(edges) > 0 {
		center := getEdge(edges).A
		representatives, known = append(representatives[:0], ref(center)), known[:0]
		for ; len(edges) > 0 && getEdge(edges).A == center; edges = edges[edgeSize:] {
			other := ref(getEdge(edges).B)
			if ref(center) < firstInput && other >= firstInput && len(representatives) == 1 {
				representatives = append(representatives, other)
			}
			if _, isKnown := l.Class(other); isKnown {
				known = append(known[:0], other)
			}
		}
		l.Star(representatives, known)
	}
}

// listEdges shows the edges between audited classes to the listing.
func listEdges(l *audit.Listing, outcomes []outcome, m *memory) error {
	const none = ^uint32(0)
	var classes []uint32 // of the nodes of a part
	return eachEdges(outcomes, scoreStage, m, func(nodes []byte) func([]byte) {
		classes = classes[:0]
		for ; len(nodes) > 0; nodes = nodes[nodeSize:] {
			class, known := l.Class(getRef(nodes))
			if !known {
				class = none
			}
			classes = append(classes, class)
		}
		return func(edges []byte) {
			for ; len(edges) > 0; edges = edges[edgeSize:] {
				if e := getEdge(edges); classes[e.A] != none && classes[e.B] != none {
					l.Edge(classes[e.A], classes[e.B])
				}
			}
		}
	})
}

func auditPath(temp string) string { return storage.Join(temp, "audit.json") }

// ReadAudit returns the audit of the pipeline whose folder is temp, nil if there
// was none.
func ReadAudit(temp string) (*audit.Result, error) {
	b, err := storage.ReadFile(auditPath(temp))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var result audit.Result
	if err == nil {
		err = json.Unmarshal(b, &result)
	}
	if err != nil {
		return nil, fmt.Errorf("read audit: %w", err)
	}
	return &result, nil
}
