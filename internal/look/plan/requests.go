package plan

import (
	"math"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/methods"
)

// Prices of Google Cloud Storage in one region (us-central1, Standard, list prices of November 2026), in dollars for a
// thousand requests. Those of Amazon S3 in us-east-1 are the same.
const (
	readPrice  = 0.0004
	writePrice = 0.005
)

// Requests are what the temporary files of a job cost if they are in a bucket.
type Requests struct {
	// Reads counts requests that read or ask for a file, Writes those that write a part of one.
	Reads  float64 `json:"reads"`
	Writes float64 `json:"writes"`
	// InTurn is for how many requests, one after the other, the steps between stages wait.
	InTurn float64 `json:"in_turn"`
	// Dollars is the list price of these requests.
	Dollars float64 `json:"dollars"`
}

// Requests of the steps between tasks.
const (
	catalogReads = 4       // of a task, to find its pieces
	indexReads   = 2       // for the index of a run file
	partReads    = 3       // for the part of a graph in a run file
	uploadBytes  = 8 << 20 // of a file that one request writes
)

// Requests returns the requests of a job with keys of that name whose temporary files are in a bucket. There a run file
// has one section for each kind and shard, and a piece is a request.
func (w *Work) Requests(keys methods.Name) Requests {
	inBucket := *w
	inBucket.RunBytes = 0
	var r Requests
	for _, stage := range inBucket.Stages(keys) {
		r.Reads += stage.Pieces
		if stage.Name != work.Fingerprint {
			r.Reads += stage.Tasks * catalogReads
		}
		if stage.WrittenBytes > 0 {
			r.Writes += stage.Tasks * (1 + math.Floor(stage.WrittenBytes/stage.Tasks/uploadBytes))
			cataloguing, joining := readers(stage.Name)
			r.Reads += stage.Tasks * cataloguing * indexReads
			r.Reads += stage.Tasks * joining * partReads
			r.InTurn += stage.Tasks * joining * partReads / work.RunsAhead
		}
	}
	drawn := occupied(w.Drawn, w.Blocks) // to draw the sample of the audit
	r.Reads += drawn
	r.InTurn += drawn
	r.Dollars = r.Reads/1000*readPrice + r.Writes/1000*writePrice
	return r
}

// readers returns about how many steps go through the run files of a stage, to hand out their sections, and how many times
// they are gone through one after the other, to join the parts of a graph.
func readers(name work.Stage) (cataloguing, joining float64) {
	switch name {
	case work.Fingerprint:
		return 6, 3
	case work.Group:
		return 3, 8
	case work.Score, work.Audit:
		return 2, 3
	}
	return 1, 0
}
