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

func (f *unpackFn) ProcessElement(_ context.Context, element []byte, emitMember func(Member), emitPair func(Pair)) error {
	o, err := work.DecodeOutcome(element)
	if err == nil {
		err = f.unpack(o, emitMember, emitPair)
	}
	return faultOf("unpack", err)
}

func (f *unpackFn) unpack(o work.Outcome, emitMember func(Member), emitPair func(Pair)) error {
	if o.FirstReject != nil {
		return fmt.Errorf("a document that was packed cannot be read: %s", o.FirstReject.Error)
	}
	kept := map[string]string{} // by the id of the removed document; a shard has few enough
	err := packing.EachRow(f.Folder, o, output.Removed, func(m Member) { kept[m.ID] = m.KeptID })
	if err != nil {
		return err
	}
	err = packing.EachRow(f.Folder, o, output.Clusters, func(m Member) {
		m.KeptID = quoting.Original(kept[m.ID])
		m.ID, m.Cluster = quoting.Original(m.ID), quoting.Original(m.Cluster)
		emitMember(m)
	})
	if err != nil {
		return err
	}
	return packing.EachRow(f.Folder, o, output.Pairs, func(p Pair) {
		p.A, p.B = quoting.Original(p.A), quoting.Original(p.B)
		emitPair(p)
	})
}
