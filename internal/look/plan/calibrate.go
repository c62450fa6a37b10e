package plan

import (
	"fmt"
	"math"

	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/look/finished"
)

// Calibration compares a plan with the job that followed. It has the settings with which the plan would have been right.
type Calibration struct {
	Compared []Comparison `json:"compared"`
	// Rate is how many bytes of text the job did in a second of CPU time. Busy is the share of the time in which a core computed,
	// beside requests that are made one after the other; 0 if nobody can tell. Answer is how many seconds a bucket took to answer a
	// request to read; 0 if the job asked none.
	Rate   float64 `json:"rate"`
	Busy   float64 `json:"busy,omitempty"`
	Answer float64 `json:"answer,omitempty"`
}

// Comparison is an amount that was planned, and what it was.
type Comparison struct {
	What string `json:"what"`
	// Unit is bytes, seconds, or empty for a number.
	Unit    string  `json:"unit,omitempty"`
	Planned float64 `json:"planned"`
	Real    float64 `json:"real"`
}

// mostApart is the largest share by which the documents of a plan and of a job may differ: rejects, and files that have come since.
const mostApart = 0.05

// Calibrate compares a plan with the summary of a job on as many cores. It returns an error unless the plan is of that job.
func Calibrate(a *Advice, s *finished.Summary, cores int) (c Calibration, err error) {
	switch {
	case a.Corpus == nil || a.Chosen < 0 || a.Chosen >= len(a.Choices) || a.Choices[a.Chosen].Work == nil:
		return c, fmt.Errorf("the plan is of no corpus: make one with 'runjob plan --input ... --json'")
	case s.Seconds <= 0 || s.CPUSeconds <= 0:
		return c, fmt.Errorf("the job has read nothing: its results were there already")
	}
	chosen := &a.Choices[a.Chosen]
	planned, real := a.Corpus.Documents+a.Corpus.ReferenceDocuments, s.Counts.Documents+s.Counts.ReferenceDocuments
	if math.Abs(float64(planned-real)) > mostApart*float64(max(planned, real)) {
		return c, fmt.Errorf("the plan is of %d documents, and the job had %d: plan the same input", planned, real)
	}
	if chosen.Keys != s.Plan.Keys {
		return c, fmt.Errorf("the plan is for %s keys, and the job had %s keys: plan with the flags of the job", chosen.Keys, s.Plan.Keys)
	}
	c.Compared = []Comparison{
		{"CPU time", "seconds", chosen.CPUSeconds, s.CPUSeconds},
		{"memory of a process", "bytes", chosen.MemoryBytes, float64(s.PeakMemoryBytes)},
		{"temporary files", "bytes", chosen.TempBytes, float64(s.TempBytes)},
	}
	var pieces Comparison
	for _, stage := range chosen.Stages {
		pieces.Planned += stage.Pieces
	}
	splits := 1.
	for i := range s.Stages {
		pieces.Real += float64(s.Stages[i].Pieces)
		splits = max(splits, float64(s.Stages[i].Tasks))
	}
	pieces.What = "pieces of temporary files"
	c.Compared = append(c.Compared, pieces)
	inTurn := c.compareRequests(a, chosen, s) * c.Answer
	c.Rate = float64(s.Counts.Bytes+s.Counts.ReferenceBytes) / s.CPUSeconds
	if working := s.Seconds - inTurn; working > 0 {
		c.Busy = min(s.CPUSeconds/working/min(float64(cores), splits), 1)
	}
	return c, nil
}

// compareRequests compares the requests to buckets, if the job made some, and notes how long these answered. It returns how many
// requests the job has made one after the other, by the plan.
func (c *Calibration) compareRequests(a *Advice, chosen *Choice, s *finished.Summary) (inTurn float64) {
	reads := Comparison{What: "requests to read or ask", Planned: chosen.Requests.Reads}
	writes := Comparison{What: "requests to write", Planned: chosen.Requests.Writes}
	if a.Reads != nil && a.Reads.Requests != nil {
		reads.Planned += a.Reads.Requests.Reads
	}
	for _, r := range s.Requests {
		switch r.Kind {
		case storage.Reading.String():
			c.Answer = r.Seconds / float64(r.Requests)
			reads.Real += float64(r.Requests)
		case storage.Describing.String():
			reads.Real += float64(r.Requests)
		case storage.Writing.String():
			writes.Real += float64(r.Requests)
		}
	}
	if reads.Real+writes.Real == 0 {
		return 0
	}
	c.Compared = append(c.Compared, reads, writes)
	return chosen.Requests.InTurn
}
