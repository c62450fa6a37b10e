package transforms

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/keep"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/radix"
	"mirrorbeam/internal/runfile"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&writeFn{})
}

// The outputs that rows are written to.
const (
	Clusters = "clusters"
	Pairs    = "pairs"
	Removed  = "removed"
	Unique   = "unique"
	Rejects  = "rejects"
)

// SplitMode says what a cluster is.
type SplitMode string

const (
	// Component: documents joined by edges, directly or through others.
	Component SplitMode = "component"
	// Star: a document that is kept and those that go for it.
	Star SplitMode = "star"
)

// Write decides which documents of each cluster stay and writes the output
// files, under temporary names, and a result that lists them.
//
// It takes the outcomes of Cluster and Fingerprint and, to sum up the counts, of
// other stages.
func Write(s beam.Scope, job Job, clusters, sketches beam.PCollection, others ...beam.PCollection) {
	s = s.Scope("write")
	tasks := exchange(s, job, delivery{Output: true, Extra: []runfile.Kind{shardMembersKind, shardEdgesKind, rejectsKind}}, clusters, sketches)
	written := inLanes(s, job, &writeFn{Job: job}, tasks)
	outcomes := append([]beam.PCollection{written, sketches}, others...)
	if slices.Contains(job.Emit, Unique) {
		outcomes = append(outcomes, unique(s.Scope("unique"), job, written, sketches))
	}
	beam.ParDo0(s.Scope("finish"), &finishFn{Temp: job.Temp}, together(s.Scope("finish"), outcomes...))
}

var writeStage = newStage("write")

// writeFn writes the rows of an output shard.
type writeFn struct {
	Job Job

	inputs Inputs // read in Setup
}

func (f *writeFn) Setup() (err error) {
	f.inputs, err = readInputs(f.Job.Inputs)
	return err
}

func (f *writeFn) ProcessElement(ctx context.Context, element []byte, emit func([]byte)) error {
	t := decodeTask(element)
	return emitOutcome(ctx, writeStage, t.Number, emit, func(o *outcome, _ *memory) error { return f.shard(ctx, t, o) })
}

func (f *writeFn) shard(ctx context.Context, t task, o *outcome) error {
	pieces, err := runfile.ReadCatalog(t.Catalog, t.Number)
	if err != nil {
		return err
	}
	var reader runfile.Reader
	defer reader.Close()
	members, err := readMembers(&reader, pieces)
	if err != nil {
		return err
	}
	edges, err := readEdges(&reader, pieces)
	if err != nil {
		return err
	}
	shard, err := newOutputShard(&f.inputs, members, edges)
	if err != nil {
		return err
	}
	shard.decide(f.Job.Keep)
	if f.Job.Split == Star {
		shard.splitStars()
	}
	shard.count(&o.Counts)
	writeStage.records.Inc(ctx, int64(len(members)+len(edges)))

	number, shards := t.Number, t.Shards
	for _, rows := range []struct {
		output string
		write  func(row func([]byte) error) error
	}{{Clusters, shard.clusterRows}, {Pairs, shard.pairRows}, {Removed, shard.removedRows}} {
		if !slices.Contains(f.Job.Emit, rows.output) {
			continue
		}
		name := output.ShardName(rows.output, number, shards, f.Job.Format)
		file, err := writeFile(f.Job, output.File{Name: name, Output: rows.output}, rows.write)
		if err != nil {
			return err
		}
		writeStage.bytes.Inc(ctx, file.Bytes)
		o.Files = append(o.Files, file)
	}
	if number == 0 {
		file, err := writeRejects(f.Job, &reader, pieces)
		if err != nil {
			return err
		}
		o.Files = append(o.Files, file)
	}
	if !slices.Contains(f.Job.Emit, Unique) {
		return nil
	}
	o.Run, err = shard.writeRemovedRefs(f.Job.Temp)
	return err
}

// writeFile makes one output file of what write passes to its row function.
func writeFile(job Job, file output.File, write func(row func([]byte) error) error) (output.File, error) {
	w, err := output.NewWriter(job.Partial, file, job.Format)
	if err != nil {
		return output.File{}, err
	}
	defer w.Abort()
	if err := write(w.Row); err != nil {
		return output.File{}, err
	}
	return w.Close()
}

// readEdges returns the edges of an output shard, sorted by A, then B.
func readEdges(reader *runfile.Reader, pieces []runfile.Piece) ([]edge, error) {
	packed, err := reader.ReadKind(nil, pieces, shardEdgesKind)
	if err != nil {
		return nil, err
	}
	edges := make([]edge, len(packed)/edgeSize)
	for i := range edges {
		edges[i] = getEdge(packed[i*edgeSize:])
	}
	return radix.Sort(edges, make([]edge, len(edges)), func(e *edge) uint64 { return uint64(e.A)<<32 | uint64(e.B) }), nil
}

// outputShard holds the clusters of an output shard. A document is known by its
// number: its place in members.
type outputShard struct {
	inputs  *Inputs
	input   docref.Ref // where the reference ends
	members []member
	edges   []edge
	first   []uint32 // the first document identical to each
	choices []keep.Choice
	size    []uint32 // documents in the cluster, by the number of its first one
	names   [][]byte // what other rows call a document, as a JSON string
}

func newOutputShard(inputs *Inputs, members []member, edges []edge) (*outputShard, error) {
	input, err := inputs.firstInput()
	if err != nil {
		return nil, err
	}
	s := &outputShard{inputs: inputs, input: input, members: members, edges: edges}
	s.first = make([]uint32, len(members))
	for i := range s.first {
		s.first[i] = uint32(i)
	}
	for _, e := range edges {
		if e.identical() {
			s.first[e.B] = e.A
		}
	}
	s.countSizes()
	s.names = make([][]byte, len(members))
	var arena []byte
	for i := range members {
		start := len(arena)
		if members[i].repeated {
			arena = s.appendRef(arena, i)
		} else {
			arena = s.appendID(arena, i)
		}
		s.names[i] = arena[start:len(arena):len(arena)]
	}
	return s, nil
}

// reference reports whether a document is of the reference corpus.
func (s *outputShard) reference(i uint32) bool { return s.members[i].ref < s.input }

// identical reports whether the edge joins documents that are the same under
// the measure.
func (e edge) identical() bool { return e.Shared == e.Union && !e.Estimate }

func (s *outputShard) countSizes() {
	s.size = make([]uint32, len(s.members))
	for i := range s.members {
		s.size[s.members[i].first]++
	}
}

// appendRef appends path:position as a JSON string, appendID the user's id or,
// without one, the ref.
func (s *outputShard) appendRef(b []byte, i int) []byte {
	return output.AppendString(b, s.inputs.refText(nil, s.members[i].ref))
}

func (s *outputShard) appendID(b []byte, i int) []byte {
	if len(s.members[i].id) == 0 {
		return s.appendRef(b, i)
	}
	return output.AppendString(b, s.members[i].id)
}

// decide chooses the documents that stay. Those of the reference come before all
// others and are not joined to each other, so all of them stay.
func (s *outputShard) decide(preference Keep) {
	order := make([]uint32, len(s.members))
	for i := range order {
		order[i] = uint32(i)
	}
	if preference == Longest {
		slices.SortStableFunc(order, func(a, b uint32) int {
			switch {
			case !s.reference(a) && !s.reference(b):
				return cmp.Compare(s.members[b].length, s.members[a].length)
			case s.reference(a) && s.reference(b):
				return 0
			case s.reference(a):
				return -1
			}
			return 1
		})
	}
	edges := make([]keep.Edge, 0, len(s.edges))
	for _, e := range s.edges {
		if !e.identical() {
			edges = append(edges, keep.Edge{A: e.A, B: e.B, Similarity: float64(e.Shared) / float64(e.Union)})
		}
	}
	s.choices = keep.Choose(order, s.first, edges)
}

// splitStars makes each kept document and those that go for it a cluster, known
// by the first of them.
func (s *outputShard) splitStars() {
	const none = ^uint32(0)
	star := slices.Repeat([]uint32{none}, len(s.members))
	for i, c := range s.choices {
		if star[c.Kept] == none {
			star[c.Kept] = uint32(i)
		}
		s.members[i].first = star[c.Kept]
	}
	s.countSizes()
}

func (s *outputShard) count(counts *Counts) {
	for i := range s.members {
		if s.size[i] > 1 {
			counts.Clusters++
			counts.Clustered += int64(s.size[i])
		}
		if kept := s.choices[i].Kept; kept != uint32(i) {
			counts.Removed++
			if s.reference(kept) {
				counts.RemovedForReference++
			}
		}
	}
	counts.Pairs += int64(len(s.edges))
}

// clusterRows, pairRows and removedRows pass the rows of an output in order.

func (s *outputShard) clusterRows(row func([]byte) error) error {
	// Documents stand by component; a component's stars may interleave.
	order := make([]uint32, len(s.members))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(s.members[a].first, s.members[b].first) })
	var b []byte
	for _, i := range order {
		first := s.members[i].first
		if s.size[first] < 2 {
			continue
		}
		b = output.AppendMember(b[:0], output.Member{
			ID: s.appendID(nil, int(i)), Ref: s.appendRef(nil, int(i)), Cluster: s.names[first],
			Kept: s.choices[i].Kept == i, Similarity: s.choices[i].Similarity, Size: int(s.size[first]),
			Reference: s.reference(i),
		})
		if err := row(b); err != nil {
			return err
		}
	}
	return nil
}

func (s *outputShard) pairRows(row func([]byte) error) error {
	var b []byte
	for _, e := range s.edges {
		b = output.AppendPair(b[:0], output.Pair{
			A: s.names[e.A], B: s.names[e.B], Shared: e.Shared, Union: e.Union,
			SizeA: int(s.members[e.A].size), SizeB: int(s.members[e.B].size),
			Identical: e.identical(), Estimate: e.Estimate,
		})
		if err := row(b); err != nil {
			return err
		}
	}
	return nil
}

func (s *outputShard) removedRows(row func([]byte) error) error {
	var b []byte
	for i, c := range s.choices {
		if c.Kept == uint32(i) {
			continue
		}
		b = output.AppendRemoved(b[:0], output.Member{
			ID: s.appendID(nil, i), Ref: s.appendRef(nil, i), Cluster: s.names[s.members[i].first],
			KeptID: s.names[c.Kept], Similarity: c.Similarity, Reference: s.reference(c.Kept),
		})
		if err := row(b); err != nil {
			return err
		}
	}
	return nil
}

// writeRemovedRefs writes the documents that go by split.
func (s *outputShard) writeRemovedRefs(dir string) (string, error) {
	starts, err := s.inputs.splitStarts()
	if err != nil {
		return "", err
	}
	run := runfile.NewWriter(dir, runBudget)
	defer run.Abort()
	for i, c := range s.choices {
		if c.Kept == uint32(i) {
			continue
		}
		ref := s.members[i].ref
		b, err := run.Record(removedKind, splitOf(starts, ref), refSize)
		if err != nil {
			return "", err
		}
		putRef(b, ref)
	}
	return run.Close()
}

// writeRejects writes the rejects of all splits in the order of the corpus.
func writeRejects(job Job, reader *runfile.Reader, pieces []runfile.Piece) (output.File, error) {
	file := output.File{Name: output.ShardName(Rejects, 0, 1, job.Format), Output: Rejects}
	return writeFile(job, file, func(row func([]byte) error) error {
		var buffer []byte
		for _, piece := range pieces {
			if piece.Kind != rejectsKind {
				continue
			}
			var err error
			if buffer, err = reader.Read(buffer[:0], piece); err != nil {
				return err
			}
			for one := range bytes.Lines(buffer) {
				if err := row(one); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
