package clusters

import (
	"context"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
)

// Sending sends the edges and passages of a part, or the clustered documents of a split, to their output shards.
type Sending struct {
	Inputs work.Path
	// ByValue says that a value is the source of a document. [clusters.ChooseSources] has chosen the sources.
	ByValue bool
	// ForNext also sends digests for the next incremental run: digests of fingerprints if ByDistance is set.
	ForNext, ByDistance bool
	// Ranges is as in [Labelling].
	Ranges int

	layout documents.Layout // read in Setup
}

func (s *Sending) Setup() error { return s.layout.Read(string(s.Inputs)) }

// Task does a task that [Labelling] has made.
func (s *Sending) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	if t.Step == membersStep {
		return s.sendMembers(ctx, t, w)
	}
	positions, err := s.nodePositions(t, w)
	if err != nil {
		return err
	}
	if err := sendEdges(w, positions); err != nil {
		return err
	}
	return sendSpans(w, positions)
}

func positionOf(positions []byte, node graphs.Node) records.Position {
	return records.At[records.OfNode[records.Position]](positions, int(node)).Is
}

// sendEdges sends the edges of a part. Edges of components that are not listed stay behind.
func sendEdges(w *work.TaskContext, positions []byte) error {
	packed, err := w.Read(1, records.Edges)
	if err != nil {
		return err
	}
	w.Figures.Bytes += int64(len(packed))
	for len(packed) > 0 {
		var e records.Edge[graphs.Node]
		e, packed = records.NextEdge[graphs.Node](packed)
		a, b := positionOf(positions, e.A), positionOf(positions, e.B)
		if a.Shard == records.Nowhere {
			continue
		}
		sent := records.Edge[records.Number]{A: min(a.Number, b.Number), B: max(a.Number, b.Number), Score: e.Score}
		if err := records.WriteEdge(&w.Run, records.ShardEdges, int(a.Shard), sent); err != nil {
			return err
		}
	}
	return nil
}

func sendSpans(w *work.TaskContext, positions []byte) error {
	packed, err := w.Read(1, records.Spans)
	if err != nil {
		return err
	}
	for s := range records.Each[records.Span[graphs.Node]](packed) {
		a, b := positionOf(positions, s.A), positionOf(positions, s.B)
		if a.Number > b.Number {
			a, b = b, a
			s.Span = s.Swap()
		}
		sent := records.Span[records.Number]{A: a.Number, B: b.Number, Span: s.Span, More: s.More, Rarity: s.Rarity}
		if err := records.WriteFixed(&w.Run, records.ShardSpans, int(a.Shard), sent); err != nil {
			return err
		}
	}
	return nil
}

// sendMembers sends the documents of a split that are in clusters. It counts the ones of the input.
func (s *Sending) sendMembers(ctx context.Context, t work.Task, w *work.TaskContext) error {
	members, err := s.members(t, w)
	if err != nil {
		return err
	}
	repeated, err := records.ReadRefs(&w.Reader, w.Pieces, records.Repeated)
	if err != nil {
		return err
	}
	unchecked, err := records.ReadRefs(&w.Reader, w.Pieces, records.Unchecked)
	if err != nil {
		return err
	}
	partly, err := records.ReadRefs(&w.Reader, w.Pieces, records.PartlyListed)
	if err != nil {
		return err
	}
	pages, err := documents.OpenPages(w, 2)
	if err != nil {
		return err
	}
	sourceOf, err := s.sources(string(w.Runs.Folder))
	if err != nil {
		return err
	}
	// Members, pages and documents are all in document order.
	return w.EachBlock(ctx, func(block *sketchblock.Block, _ runfile.Piece) error {
		for i := 0; i < block.Len() && len(members) > 0; i++ {
			ref := block.Ref(i)
			member := records.Get[records.ListedDocument](members)
			if member.Ref != ref {
				continue
			}
			flags := records.FlagsOf(repeated[ref], unchecked[ref], partly[ref], sourceOf(block, i))
			if repeated[ref] && block.Side(i) == 0 {
				w.Outcome.Counts.NamedByRef++
			}
			capture := withWords(block.Capture(i))
			if err := records.WriteMember(&w.Run, member, block, i, flags, s.digest(block, i), capture); err != nil {
				return err
			}
			if page, is := pages.Of(ref); is {
				sent := records.ShardPage{Number: member.At.Number, Size: uint32(block.Size(i)), Page: page}
				if err := records.Write(&w.Run, records.ShardPages, int(member.At.Shard), &sent); err != nil {
					return err
				}
			}
			if ref >= s.layout.FirstInput {
				w.Outcome.Sent++
			}
			members = members[records.Size[records.ListedDocument]():]
		}
		return nil
	})
}

// digest returns what the next run knows an equal document by.
func (s *Sending) digest(block *sketchblock.Block, i int) (equal digest.Digest) {
	switch {
	case s.ForNext && s.ByDistance:
		return block.SimHashDigest(i)
	case s.ForNext:
		return block.Digest(i)
	}
	return equal
}

// sources returns what tells the source of document i of a block, given the job's folder.
func (s *Sending) sources(folder string) (func(block *sketchblock.Block, i int) sources.Number, error) {
	if !s.ByValue {
		return func(block *sketchblock.Block, i int) sources.Number {
			return s.layout.Inputs.SourceOf(block.Ref(i))
		}, nil
	}
	choice, err := ReadSourceChoice(folder)
	return func(block *sketchblock.Block, i int) sources.Number {
		return choice.Number(sources.CorpusOf(block.Ref(i) < s.layout.FirstInput), block.Source(i))
	}, err
}
