// Package recall measures the share of the similar pairs of a corpus that a job has found. It works on run files.
// [Audit] draws a sample of the documents that were set aside when they were fingerprinted, and looks for the partners
// of each among the others. [Write] checks which of these pairs the job has found. Package audit has the sampling and
// the estimate.
package recall

import (
	"context"
	"fmt"

	"mirrorbeam/internal/carry/audit"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/measure/documents"
)

// Audit is the work of the stage audit. Its parameters must equal those with which the documents were fingerprinted.
type Audit struct {
	// Inputs is the path of the file that [documents.WriteInputs] made.
	Inputs work.Path
	// Threshold is the least Jaccard similarity of the pairs of the job, above 0.
	Threshold float64
	// Sample is about how many documents are sampled; 0: none.
	Sample int

	layout documents.Layout // read in Setup, as shares is
	shares audit.Shares
}

// Setup reads the inputs. It must be called before Plan and before the first task.
func (a *Audit) Setup() error {
	if err := a.layout.Read(string(a.Inputs)); err != nil {
		return err
	}
	a.shares = audit.NewShares(a.Sample, a.layout.Inputs.TextBytes())
	return nil
}

// Plan draws the sample from the documents that were set aside. It makes a task that looks for partners for each split
// that has documents, and none if nothing was set aside.
func (a *Audit) Plan(_ context.Context, p *work.Planning) error {
	sample, err := a.draw(p)
	if err != nil || len(sample.Documents) == 0 {
		return err
	}
	sample.Cut = sample.Cut || a.shares.Sampled < 1
	sample.ProbedBelow = audit.Limit(a.shares.Probed)
	sample.Fit(a.Threshold, float64(p.Counts.Documents+p.Counts.ReferenceDocuments), a.shares.Budget())
	path, err := a.writeSample(p, &sample)
	if err != nil {
		return err
	}
	d := work.Delivery{Needed: []runfile.Kind{records.Documents}, Extra: []runfile.Kind{records.Sets, records.Sample, records.Probe}}
	return p.Deliver(d, append(work.RunsOf(p.Outcomes), path))
}

// draw draws from the documents that were set aside, by the stage that made their sets.
func (a *Audit) draw(p *work.Planning) (audit.Sample, error) {
	shingles := int64(0)
	for _, o := range p.Outcomes {
		shingles += o.Shingles
	}
	drawing := audit.NewDrawing(a.Sample, a.shares.Elements(shingles))
	for _, stage := range []work.Stage{work.Fingerprint, work.Strip} {
		err := work.EachRecordOf(p.Outcomes, stage, records.Sample, p.Memory, func(packed []byte) error {
			for len(packed) > 0 {
				var d records.SetAside
				d, packed = records.NextSetAside(packed)
				drawing.Add(d.Ref, equalsOf(d), func() []uint64 {
					return sketchblock.AppendSet(make([]uint64, 0, len(d.Set)/sketchblock.HashSize), d.Set)
				})
			}
			return nil
		})
		if err != nil {
			return audit.Sample{}, err
		}
	}
	return drawing.Finish(), nil
}

// samples are the samples of the jobs at work in this process.
var samples work.Shared[sample]

// Task finds the partners of the sampled documents in the split of the task's number.
func (a *Audit) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	sample, err := samples.Get(t.Catalog, a.readSample)
	if err != nil {
		return fmt.Errorf("read sample: %w", err)
	}
	w.Hold(sample)
	w.Outcome.Sampled = len(sample.Documents)
	w.Outcome.SampledAll = !sample.Cut
	s := &search{
		threshold: a.Threshold, firstInput: a.layout.FirstInput, sample: sample, probe: sample.index.NewProbe(), w: w,
		recent: make([]recentClass, recentClasses),
	}
	if a.shares.Probed == 1 {
		err = s.blocks(ctx)
	} else {
		err = s.setAside(ctx)
	}
	if err != nil {
		return err
	}
	return s.write()
}
