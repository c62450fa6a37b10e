package clusters

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/graphs/union"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/joining"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
)

// Where many tasks join the edges, each numbers the documents of the components that begin in a range of document
// order. A step adds up how many documents the ranges have. With these sums, who sends a document or an edge knows how
// many documents stand before its component, and so its output shard. Only the first number in a shard is not known
// there, since it depends on where an earlier component ends. So the numbers of a shard may begin above 0, and
// [ReadShard] counts from the lowest one.

// LabellingRange labels the components that begin in a range, as [Labelling] labels all components.
type LabellingRange struct {
	union.Finishing
}

// Task labels the components of a range.
func (r *LabellingRange) Task(_ context.Context, t work.Task, w *work.TaskContext) error {
	audited, err := readAudited(string(w.Runs.Folder))
	if err != nil {
		return err
	}
	graph, err := r.Graph(w)
	if err != nil {
		return err
	}
	graph.IsUniform = true
	of := &labeller{
		run:     &w.Run,
		layout:  r.Layout(),
		figures: &w.Figures,
		isRange: true,
		order:   order{shards: t.Number + 1, shard: t.Number},
	}
	of.see = func(ref, first docref.Ref) error {
		if _, is := audited.Find(uint64(ref)); !is {
			return nil
		}
		return records.WriteFixed(&w.Run, records.AuditedMembers, 0, records.Pair{A: ref, B: first})
	}
	if err := joining.Label(graph, of); err != nil {
		return err
	}
	w.Outcome.Numbered = of.order.next
	return nil
}

func auditedPath(folder string) string { return storage.Join(folder, "audited") }

// WriteAudited tells the tasks of [LabellingRange] which documents the audit asks for.
func WriteAudited(folder string, refs []uint64) error {
	var b []byte
	for _, ref := range refs {
		b = binary.LittleEndian.AppendUint64(b, ref)
	}
	if err := storage.WriteFile(auditedPath(folder), b); err != nil {
		return fmt.Errorf("write audited documents: %w", err)
	}
	return nil
}

func readAudited(folder string) (*graphs.Numbering[uint32], error) {
	b, err := storage.ReadFile(auditedPath(folder))
	if err != nil {
		return nil, fmt.Errorf("read audited documents: %w", err)
	}
	refs := &graphs.Numbering[uint32]{}
	for ref := range records.Each[uint64](b) {
		refs.Add(ref)
	}
	return refs, nil
}

// sums say how many documents of clusters there are.
type sums struct {
	// Before has the number of documents in all ranges before a range. Total is the number in all.
	Before []int64
	Total  int64
}

const sumsName = "ranges.json"

// addUp adds up what the tasks of ranges have numbered, for the tasks of [Sending]. See sees the documents of the
// audit. It reports whether there is no document in the graph.
func addUp(p *work.Planning, ranges int, see func(ref, first docref.Ref)) (isEmpty bool, err error) {
	numbered := make([]int64, ranges)
	isEmpty = true
	for _, o := range p.Outcomes {
		if o.Stage == work.Cluster {
			numbered[o.Number] = o.Numbered
			isEmpty = false
		}
	}
	of := sums{}
	for _, n := range numbered {
		of.Before = append(of.Before, of.Total)
		of.Total += n
	}
	if err := writeJSON(string(p.Runs.Folder), sumsName, of); err != nil {
		return false, err
	}
	return isEmpty, work.EachRecordOf(p.Outcomes, work.Cluster, records.AuditedMembers, p.Memory,
		func(packed []byte) error {
			for pair := range records.Each[records.Pair](packed) {
				see(pair.A, pair.B)
			}
			return nil
		})
}

// position returns the place in the output of a document with that position in a range. The first document of its
// component has the number first there.
func (s *sums) position(p records.RangePosition, shards int) (at, first records.Position, err error) {
	if p.At.Shard == records.Nowhere {
		return p.At, p.At, nil
	}
	o, before := order{shards: shards, total: s.Total}, s.Before[p.At.Shard]
	begin := before + int64(p.First)
	shard := sort.Search(shards-1, func(i int) bool { return o.cut(i+1) > begin })
	cut := o.cut(shard)
	if before+int64(p.At.Number)-cut > math.MaxUint32 {
		return at, first, fmt.Errorf("order clusters: output shard %d has more than %d documents", shard,
			uint32(math.MaxUint32))
	}
	at = records.Position{Shard: records.OutputShard(shard), Number: records.Number(before + int64(p.At.Number) - cut)}
	return at, records.Position{Shard: at.Shard, Number: records.Number(begin - cut)}, nil
}

func outputShards(t work.Task) int { return work.OutputShards(findings.Counts{Documents: t.Documents}) }

// nodePositions returns the positions of the nodes of a part, ordered by node.
func (s *Sending) nodePositions(t work.Task, w *work.TaskContext) ([]byte, error) {
	if s.Ranges == 0 {
		positions, err := w.Read(0, records.EdgeShards)
		records.OrderByNode[records.Position](positions)
		return positions, err
	}
	sums, err := readJSON[sums](string(w.Runs.Folder), sumsName)
	if err != nil {
		return nil, err
	}
	ranged, err := w.Read(0, records.RangeShards)
	if err != nil {
		return nil, err
	}
	records.OrderByNode[records.RangePosition](ranged)
	end := 0 // of the positions, which are shorter
	for of := range records.Each[records.OfNode[records.RangePosition]](ranged) {
		at, _, err := sums.position(of.Is, outputShards(t))
		if err != nil {
			return nil, err
		}
		position := records.OfNode[records.Position]{Node: of.Node, Is: at}
		records.Put(ranged[end:], position)
		end += records.Size[records.OfNode[records.Position]]()
	}
	return ranged[:end], nil
}

// members returns the documents of a split that are in clusters, in document order.
func (s *Sending) members(t work.Task, w *work.TaskContext) ([]byte, error) {
	members, err := w.Read(1, records.Members)
	if err != nil || s.Ranges == 0 {
		return members, err
	}
	sums, err := readJSON[sums](string(w.Runs.Folder), sumsName)
	if err != nil {
		return nil, err
	}
	size := records.Size[records.ListedDocument]()
	sorted := slices.AppendSeq(make([]records.ListedDocument, 0, len(members)/size),
		records.Each[records.ListedDocument](members))
	for i := range sorted {
		m := &sorted[i]
		ranged := records.RangePosition{At: m.At, First: m.First.Number}
		if m.At, m.First, err = sums.position(ranged, outputShards(t)); err != nil {
			return nil, err
		}
	}
	sorted = graphs.RadixSort(sorted, make([]records.ListedDocument, len(sorted)),
		func(m *records.ListedDocument) uint64 { return uint64(m.Ref) })
	for i, m := range sorted {
		records.Put(members[i*size:], m)
	}
	return members, nil
}
