package transforms

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/quoting"
	"mirrorbeam/internal/start/packing"
)

func init() {
	register.Emitter1[Member]()
	register.Emitter1[Pair]()
}

// unpack reads the rows of a job back: PCollection<[]byte> of the outcomes that name them to PCollection<Member> and
// PCollection<Pair>.
func unpack(s beam.Scope, job *Job, written beam.PCollection) (members, pairs beam.PCollection) {
	s = s.Scope(string(work.Unpack))
	return beam.ParDo2(s, &unpackFn{Folder: job.Runs.Folder}, beam.Reshuffle(s, written))
}

// unpackFn emits the members and pairs of an output shard.
type unpackFn struct {
	// Folder is the folder of the rows.
	Folder work.Path
}

func (f *unpackFn) ProcessElement(ctx context.Context, element []byte, emitMember func(Member), emitPair func(Pair)) error {
	o, err := work.DecodeOutcome(element)
	if err == nil {
		err = f.unpack(ctx, o, emitMember, emitPair)
	}
	return faultOf("unpack", err)
}

func (f *unpackFn) unpack(ctx context.Context, o work.Outcome, emitMember func(Member), emitPair func(Pair)) error {
	if o.FirstReject != nil {
		return fmt.Errorf("a document that was packed cannot be read: %s", o.FirstReject.Error)
	}
	kept := map[string]string{} // by the id of the removed document; a shard has few enough
	err := packing.EachRow(ctx, f.Folder, o, output.Removed, func(r output.Removal) { kept[r.ID] = r.KeptID })
	if err != nil {
		return err
	}
	err = packing.EachRow(ctx, f.Folder, o, output.Clusters, func(m output.Member) {
		emitMember(Member{
			ID: quoting.Original(m.ID), Cluster: quoting.Original(m.Cluster), Kept: m.Kept, Similarity: m.Similarity,
			KeptID: quoting.Original(kept[m.ID]), Size: m.Size,
		})
	})
	if err != nil {
		return err
	}
	return packing.EachRow(ctx, f.Folder, o, output.Pairs, func(p Pair) {
		p.A, p.B = quoting.Original(p.A), quoting.Original(p.B)
		emitPair(p)
	})
}
