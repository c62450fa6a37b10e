// Package union joins the parts of a graph of documents by many tasks. It is for jobs so large that one task, which
// [joining.Label] is made for, would take hours.
//
// Document order is cut into ranges. A part is a forest, and each of its trees is named by its first document:
//
//  1. [Spreading] sends each node of a part, with the name of its tree, to the range of its document.
//  2. [Linking] finds the documents that are in trees of several names. Such names belong to one component, so it links them. It
//     sends each document on to the range of its first name.
//  3. [Uniting] is the one task that sees the whole graph, but only names that are linked. It joins them, and tells the range of each the
//     first document of its component.
//  4. [Moving] sends the documents of linked names to the range of the first document of their component.
//  5. So a range has all components that begin in it. What is to be done with them is a task of the stage that asks, which gets them
//     from [Finishing.Graph] as a graph to be labelled.
//
// Most trees of a component have the same first document, so most names are never linked.
package union

import (
	"context"
	"slices"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/joining"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

// Up to manyShards or manyBytes of input, one task joins the parts of a graph in less time than further stages take: a
// smaller corpus has many shards only where memory is scarce. Beyond, there is a range for shardsOfRange shards. Ranges
// are few, since the task of each reads a piece of what every part has written, and tells every split something.
const (
	manyShards    = 512
	manyBytes     = 64 << 30
	shardsOfRange = 32
)

// RangesOf returns the number of ranges for a job of that many shards of keys and bytes of input; 0: one task.
func RangesOf(shards int, input int64) int {
	if shards <= manyShards || input <= manyBytes {
		return 0
	}
	return shards / shardsOfRange
}

// Ranges cut document order.
type Ranges struct {
	Inputs work.Path
	// Count is the number of ranges, at least 1.
	Count int

	layout documents.Layout // read in Setup
}

func (r *Ranges) Setup() error { return r.layout.Read(string(r.Inputs)) }

// Layout returns the layout of the inputs.
func (r *Ranges) Layout() *documents.Layout { return &r.layout }

// of returns the range of a document. Each range has about as many splits.
func (r *Ranges) of(ref docref.Ref) int {
	return documents.SplitOf(r.layout.Starts, ref) * r.Count / len(r.layout.Starts)
}

// Spreading sends the nodes of a part to ranges.
type Spreading struct {
	Ranges
	Kind runfile.Kind
}

// SpreadingDelivery makes a task of [Spreading] for each part of a kind that run files have, for a number of ranges.
func SpreadingDelivery(kind runfile.Kind, count int, but ...work.Stage) work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{kind}, Into: count, Enough: work.FewTasks, OnlyCounted: but}
}

// Task sends the nodes of the part whose number the task has.
func (s *Spreading) Task(_ context.Context, t work.Task, w *work.TaskContext) error {
	packed, err := w.Read(0, s.Kind)
	if err != nil {
		return err
	}
	part := records.DecodePart(graphs.Part{}, packed)
	w.Figures.Records += int64(len(part.Refs))
	names := slices.Clone(part.Refs) // by root
	for node, ref := range part.Refs {
		root := part.Parents.Find(graphs.Node(node))
		names[root] = min(names[root], ref)
	}
	for node, ref := range part.Refs {
		of := records.Occurrence{
			First:  names[part.Parents.Find(graphs.Node(node))],
			Ref:    ref,
			Weight: uint64(part.Weights[node]),
			Origin: graphs.Origin{Part: uint32(t.Number), Node: graphs.Node(node)},
		}
		if err := records.WriteFixed(&w.Run, records.Occurrences, s.of(ref), of); err != nil {
			return err
		}
	}
	return nil
}

// Linking links the names of the trees that the documents of a range are in.
type Linking struct {
	Ranges
	// Bytes is about how much memory a task may take. It reads its nodes as often as sorting them within that takes.
	Bytes int64
}

// LinkingDelivery makes a task of [Linking] for each of a number of ranges.
func LinkingDelivery(count int) work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.Occurrences}, Into: count, Enough: work.FewTasks}
}

// linkBytes is the memory that an occurrence takes while it is sorted.
const linkBytes = records.OccurrenceSize + 32

// Task writes the links as a forest, and sends each document to the range of the first name.
func (l *Linking) Task(_ context.Context, t work.Task, w *work.TaskContext) error {
	bytes := runfile.SizeOf(w.Pieces, records.Occurrences)
	passes := uint64(bytes/records.OccurrenceSize*linkBytes/max(l.Bytes, 1) + 1)
	links := links{Linking: l, run: &w.Run, nodes: &w.Nodes}
	links.nodes.Reset()
	for pass := range passes {
		links.held = links.held[:0]
		err := w.EachPiece(records.Occurrences, func(packed []byte) error {
			for ; len(packed) > 0; packed = packed[records.OccurrenceSize:] {
				of := packed[:records.OccurrenceSize]
				if audit.Hash(uint64(records.Get[records.Occurrence](of).Ref))%passes == pass {
					links.held = append(links.held, of...)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		w.Figures.Records += int64(len(links.held) / records.OccurrenceSize)
		if err := links.sort(); err != nil {
			return err
		}
	}
	return records.WritePart(&w.Run, records.Links, t.Number, links.part)
}

type links struct {
	*Linking
	run   *runfile.Writer
	nodes *graphs.Numbering[graphs.Node] // of names
	part  graphs.Part                    // the forest of names
	held  []byte                         // occurrences of all trees of some documents
}

// sorted is the document of an occurrence, and the number of the occurrence among the ones that are held.
type sorted struct {
	ref docref.Ref
	at  uint32
}

func (l *links) at(s sorted) records.Occurrence {
	return records.At[records.Occurrence](l.held, int(s.at))
}

func (l *links) node(name docref.Ref) graphs.Node {
	node, isNew := l.nodes.Add(uint64(name))
	if isNew {
		l.part.Add(name, 0)
	}
	return node
}

// sort brings the occurrences of each document together. It links their names and sends them on.
func (l *links) sort() error {
	all := make([]sorted, len(l.held)/records.OccurrenceSize)
	for i := range all {
		all[i].at = graphs.Next[uint32](i)
		all[i].ref = l.at(all[i]).Ref
	}
	all = graphs.RadixSort(all, make([]sorted, len(all)), func(s *sorted) uint64 { return uint64(s.ref) })
	for same := range graphs.Runs(all, func(a, b *sorted) bool { return a.ref == b.ref }) {
		name := l.at(same[0]).First
		for _, s := range same {
			name = min(name, l.at(s).First)
		}
		for _, s := range same {
			of := l.at(s)
			if of.First != name {
				l.part.Parents.Union(l.node(name), l.node(of.First))
				of.First = name
			}
			if err := records.WriteFixed(l.run, records.Trees, l.of(name), of); err != nil {
				return err
			}
		}
	}
	return nil
}

// Uniting joins names that are linked.
type Uniting struct {
	Ranges
	// GraphBytes is about how much memory the names may take.
	GraphBytes int64
}

// Plan tells the ranges of linked names what their components are, and makes the tasks of [Moving].
func (u *Uniting) Plan(_ context.Context, p *work.Planning) error {
	p.Runs.Begin(&p.Run)
	defer p.Run.Abort()
	runs := work.RunsIn(p.Outcomes, p.Outcome.Stage)
	graph := work.GraphOf(runs, records.Links, p, u.GraphBytes)
	graph.IsUniform, graph.OnlyDocuments = true, true
	if err := joining.Label(graph, &renamer{&u.Ranges, p}); err != nil {
		return err
	}
	run, err := p.Run.Close()
	if err != nil || run == "" {
		return err
	}
	d := work.Delivery{
		Needed: []runfile.Kind{records.Renamed},
		Extra:  []runfile.Kind{records.Trees},
		Into:   u.Count,
		Enough: work.FewTasks,
	}
	return p.Deliver(d, append(runs, run))
}

type renamer struct {
	ranges *Ranges
	p      *work.Planning
}

func (*renamer) Count(joining.Component) {}

func (*renamer) Place(joining.Component) (uint64, error) { return 0, nil }

// Document tells the range of a name what the first document of its component is.
func (r *renamer) Document(d joining.Document) (none struct{}, err error) {
	r.p.Figures.Records++
	if d.Ref == d.Component.First {
		return none, nil
	}
	pair := records.Pair{A: d.Ref, B: d.Component.First}
	return none, records.WriteFixed(&r.p.Run, records.Renamed, r.ranges.of(d.Ref), pair)
}

func (*renamer) Node(int, graphs.Node, struct{}) error { return nil }

type renamed struct {
	names  graphs.Numbering[uint32]
	firsts []docref.Ref // of their components
}

func readRenamed(w *work.TaskContext) (*renamed, error) {
	packed, err := w.Read(0, records.Renamed)
	r := &renamed{}
	for pair := range records.Each[records.Pair](packed) {
		r.names.Add(uint64(pair.A))
		r.firsts = append(r.firsts, pair.B)
	}
	return r, err
}

// of returns the first document of the component of a name, if that is another document.
func (r *renamed) of(name docref.Ref) (first docref.Ref, is bool) {
	number, is := r.names.Find(uint64(name))
	if !is {
		return 0, false
	}
	return r.firsts[number], true
}

// Moving sends the documents of names that are linked to the range of the first document of their component.
type Moving struct{ Ranges }

// Task moves the documents of a range. It passes on what it was told of names.
func (m *Moving) Task(_ context.Context, _ work.Task, w *work.TaskContext) error {
	renamed, err := readRenamed(w)
	if err != nil {
		return err
	}
	for piece := range records.Renamed.Of(w.Pieces) {
		if err := w.Run.Link(piece.Kind, piece.Shard, piece, piece.Mark); err != nil {
			return err
		}
	}
	return w.EachPiece(records.Trees, func(packed []byte) error {
		for of := range records.Each[records.Occurrence](packed) {
			first, is := renamed.of(of.First)
			if !is {
				continue
			}
			of.First = first
			w.Figures.Records++
			if err := records.WriteFixed(&w.Run, records.Trees, m.of(first), of); err != nil {
				return err
			}
		}
		return nil
	})
}

// ComponentsDelivery makes a task for each range in which a component begins, from [Linking] and [Moving].
func ComponentsDelivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.Trees}, Extra: []runfile.Kind{records.Renamed}}
}

// Finishing is the part of a task that gets the components which begin in a range.
type Finishing struct {
	Ranges
	// GraphBytes is about how much memory the documents of the components may take.
	GraphBytes int64
}

// Graph returns the graph of the components that begin in the range of a task. Its nodes are from the first parts.
func (f *Finishing) Graph(w *work.TaskContext) (*joining.Graph, error) {
	renamed, err := readRenamed(w)
	part, names := graphs.Part{}, graphs.Numbering[graphs.Node]{}
	return &joining.Graph{
		Bytes:   f.GraphBytes,
		Folder:  string(w.Runs.Folder),
		Stopped: w.Run.Stopped,
		Parts: func(visit func(int, graphs.Part) error) error {
			return w.EachPiece(records.Trees, func(packed []byte) error {
				part = graphs.Part{
					Refs:    part.Refs[:0],
					Weights: part.Weights[:0],
					Parents: part.Parents[:0],
					Origins: part.Origins[:0],
				}
				names.Reset()
				for of := range records.Each[records.Occurrence](packed) {
					if _, hasMoved := renamed.of(of.First); hasMoved {
						continue
					}
					name, _ := names.Add(uint64(of.First))
					part.Refs, part.Weights = append(part.Refs, of.Ref), append(part.Weights, uint32(of.Weight))
					part.Parents, part.Origins = append(part.Parents, name), append(part.Origins, of.Origin)
				}
				if len(part.Refs) == 0 {
					return nil
				}
				// The names are nodes behind all others.
				documents := len(part.Refs)
				for i := range part.Parents {
					part.Parents[i] += graphs.Node(documents)
				}
				for _, name := range names.Keys {
					part.Parents = append(part.Parents, graphs.Next[graphs.Node](len(part.Refs)))
					part.Refs = append(part.Refs, docref.Ref(name))
				}
				return visit(0, part)
			})
		},
	}, err
}
