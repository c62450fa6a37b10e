package transforms

import (
	"encoding/json"
	"reflect"
	"testing"

	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/outputs"
	"mirrorbeam/internal/recall"
	"mirrorbeam/internal/work"
)

// TestPathsTravel: names that are not UTF-8 survive the encodings of Beam.
func TestPathsTravel(t *testing.T) {
	const path = "/tmp/caf\xe9/\xff"
	job := Job{Runs: work.Runs{Folder: path}, Lanes: 3, Fingerprinting: documents.Fingerprinting{Inputs: path}}
	checkTravels(t, &writeFn{bundle: job.bundle(), Work: outputs.Rows{
		Files: outputs.Files{Partial: path + "p", Format: output.JSONL}, Inputs: path + "i", Emit: []string{output.Pairs},
	}}, &writeFn{})
	checkTravels(t, &fingerprintFn{Work: job.Fingerprinting, bundle: job.bundle()}, &fingerprintFn{})
	checkTravels(t, &auditFn{Work: recall.Audit{Inputs: path, Threshold: 0.5, Sample: 3}, bundle: job.bundle()}, &auditFn{})
	checkTravels(t, &exchangeFn{Folder: path, Delivery: work.Delivery{Step: 1, Output: true}}, &exchangeFn{})
	checkTravels(t, &finishFn{Folder: path}, &finishFn{})
	checkTravels(t, &readFn{Inputs: path}, &readFn{})
	checkTravels(t, &work.Outcome{Stage: "key", Run: path, Counts: work.Counts{Documents: 7}, Files: []output.File{{Name: "n", Temporary: "t"}}}, &work.Outcome{})
}

// checkTravels encodes a value into another one.
func checkTravels(t *testing.T, from, to any) {
	t.Helper()
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil || !reflect.DeepEqual(from, to) {
		t.Errorf("%s made %+v, want %+v (%v)", b, to, from, err)
	}
}
