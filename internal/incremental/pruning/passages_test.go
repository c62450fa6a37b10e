package pruning

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestPruningPassages: of an unchanged file, documents stay that share a key with a document that has come or gone, or
// have a lasting key. Others that were in a pair stay without keys. Units of earlier versions have no heads, or some of
// other passages.
func TestPruningPassages(t *testing.T) {
	for combined := range 3 {
		t.Run(fmt.Sprintf("heads of passages of %d", combined), func(t *testing.T) { testPruningPassages(t, combined) })
	}
}

// passageCorpus is an incremental run with an unchanged file, a new one, and one that has gone.
type passageCorpus struct {
	*testing.T
	runs     work.Runs
	random   *rand.Rand
	combined int // of heads; 0: there are none
}

// document makes a document of new shingles, and the last ones of another text.
func (n *passageCorpus) document(file, i int, last ...uint64) sketchblock.Document {
	ref, err := docref.New(file, int64(i))
	if err != nil {
		n.Fatal(err)
	}
	s := sketchblock.Sequence{}
	for k := range 40 + len(last) {
		hash := n.random.Uint64N(1 << 48)
		if k >= 40 {
			hash = last[k-40]
		}
		s.Shingles, s.Tokens = append(s.Shingles, hash), append(s.Tokens, uint32(k))
		s.Starts, s.Ends = append(s.Starts, uint32(5*k)), append(s.Ends, uint32(5*k+14))
	}
	return sketchblock.Document{
		Ref:      ref,
		Digest:   digest.Digest{n.random.Uint64()},
		Size:     len(s.Shingles),
		Sequence: sketchblock.AppendSequence(nil, s),
		ID:       []byte{'k' + byte(i)},
	}
}

// write writes documents as a segment, and the end of the last one's text.
func (n *passageCorpus) write(split int, all ...sketchblock.Document) string {
	return worktest.Write(n.T, n.runs, func(run *runfile.Writer) error {
		err := worktest.Block(run, split, all...)
		if n.combined == 0 {
			return err
		}
		builder := sketchblock.NewBuilder(0, 0)
		for _, d := range all {
			builder.Add(d)
		}
		heads, headsErr := fingerprints.NewPassages(n.combined).Heads(builder)
		return errors.Join(err, headsErr, run.Section(records.Heads, split, heads))
	})
}

// endOf returns the last shingles of a document.
func (n *passageCorpus) endOf(d *sketchblock.Document) []uint64 {
	s, err := sketchblock.ParseSequence(sketchblock.Sequence{}, d.Sequence)
	if err != nil {
		n.Fatal(err)
	}
	return s.Shingles[len(s.Shingles)-10:]
}

func testPruningPassages(t *testing.T, combined int) {
	n := &passageCorpus{t, worktest.Runs(t), rand.New(rand.NewPCG(3, 4)), combined}
	fresh, gone := n.document(1, 0), n.document(0, 0)
	olds := []sketchblock.Document{
		n.document(0, 0), n.document(0, 1, n.endOf(&fresh)...), n.document(0, 2, n.endOf(&gone)...), n.document(0, 3),
		n.document(0, 4), n.document(0, 5),
	}
	// Document 3 has a lasting key. Document 4 was in a pair with document 1, and document 5 with one that has gone.
	then := func(d *sketchblock.Document) docref.Ref { return d.Ref + 1<<40 } // the file was the second one
	kept := worktest.Write(t, n.runs, func(run *runfile.Writer) error {
		err := records.Write(run, records.LastingKeys, 0,
			new(fingerprints.ShortKey(candidates.KeyOf(olds[3].Digest[0], 0), 0)))
		return errors.Join(err, records.Write(run, records.KeptPairs, 0, &records.KeptPair{
			A: then(&olds[1]),
			B: then(&olds[4]),
		}),
			records.Write(run, records.KeptPairs, 0, &records.KeptPair{A: gone.Ref, B: then(&olds[5])}))
	})
	made := n.write(0, fresh)
	inputs := filepath.Join(t.TempDir(), "inputs")
	err := documents.WriteInputs(inputs, documents.Inputs{
		Files:    []corpus.File{{Path: "old"}, {Path: "new"}},
		Splits:   []corpus.Split{{{File: 0, End: 9}}, {{File: 1, End: 9}}},
		Segments: [][]documents.Segment{{{Run: "segment"}}, nil},
		Past: documents.Past{
			Numbers: []int{documents.IsGone, 0},
			Gone:    []documents.Segment{{Run: n.write(7, gone), Shard: 7}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	outcomes := []work.Outcome{{Number: 0, Run: n.write(0, olds...)}, {
		Number: 1,
		Run:    n.write(1, fresh),
		Kept:   work.Path(made),
	}}
	for i := range outcomes {
		outcomes[i].Stage, outcomes[i].Findings = work.Fingerprint, worktest.Counted(findings.Counts{Documents: 1})
	}
	parameters := methods.Parameters{
		Inputs:      work.Path(inputs),
		Paired:      work.Path(kept),
		DistinctIDs: true,
		Shingle:     3,
		Passage:     4,
		Shards:      1,
		Verify:      methods.VerifyExact,
	}
	pruning := Pruning{Method: methods.Passages, Parameters: parameters}
	if err := pruning.Setup(); err != nil {
		t.Fatal(err)
	}
	_, tasks := worktest.Plan(t, n.runs, outcomes, pruning.Plan)
	pruned := worktest.Do(t, n.runs, tasks, pruning.Task)
	checkPrunedPassages(t, n.runs, pruned, map[docref.Ref]bool{
		fresh.Ref:   true,
		olds[1].Ref: true,
		olds[2].Ref: true,
		olds[3].Ref: true,
		olds[4].Ref: false,
	})
	known := map[docref.Ref]bool{}
	for d := range records.Each[records.KnownDocument](worktest.Read(t, records.Known, pruned[0].Run)[0]) {
		known[d.Ref] = d.Keyed
	}
	if isKeyed, is := known[olds[1].Ref]; len(known) != 2 || !is || !isKeyed || known[olds[4].Ref] {
		t.Errorf("known documents %v, want 1 with keys and 4 without", known)
	}
	// Document 0 and the new one share an id.
	if ids := worktest.Read(t, records.IDs, pruned[0].Run)[0]; len(ids) != records.IDSize ||
		records.GetRef(ids[8:]) != olds[0].Ref {
		t.Errorf("%d bytes of ids, want the id of document 0", len(ids))
	}
}

// checkPrunedPassages checks which documents are left, and which of them have their sequences.
func checkPrunedPassages(t *testing.T, runs work.Runs, pruned []work.Outcome, want map[docref.Ref]bool) {
	t.Helper()
	left := 0
	for split := range pruned {
		_, err := worktest.Try(t, runs, work.Task{Number: split, Catalog: worktest.Catalog(t, pruned[split].Run)},
			func(ctx context.Context, _ work.Task, w *work.TaskContext) error {
				return w.EachSet(ctx, func(block *sketchblock.Block, i int, sequence []byte) error {
					left++
					if isKeyed, is := want[block.Ref(i)]; !is || isKeyed == block.IsResolved(i) ||
						isKeyed != (len(sequence) > 0) {
						t.Errorf("document %d is left, with keys: %t", block.Ref(i), !block.IsResolved(i))
					}
					return nil
				})
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	if left != len(want) {
		t.Errorf("%d documents are left, want %d", left, len(want))
	}
}
