package transforms

import (
	"encoding/json"
	"reflect"
	"testing"

	"mirrorbeam/internal/output"
	"mirrorbeam/internal/outputs"
	"mirrorbeam/internal/recall"
	"mirrorbeam/internal/work"
)

// TestPathsTravel: names that are not UTF-8 come through the encodings of Beam.
func TestPathsTravel(t *testing.T) {
	const path = "/tmp/caf\xe9/\xff"
	job := Job{Temp: path, Lanes: 3}
	checkTravels(t, &writeFn{bundle: newBundle(job), Work: outputs.Rows{
		Files: outputs.Files{Partial: path + "p", Format: output.JSONL}, Inputs: path + "i", Emit: []string{output.Pairs},
	}}, &writeFn{})
	checkTravels(t, &fingerprintFn{Work: job.fingerprinting(), bundle: newBundle(job)}, &fingerprintFn{})
	checkTravels(t, &auditFn{Work: recall.Audit{Inputs: path, Threshold: 0.5, Sample: 3}, bundle: newBundle(job)}, &auditFn{})
	checkTravels(t, &exchangeFn{Temp: []byte(path), Delivery: work.Delivery{Step: 1, Output: true}}, &exchangeFn{})
	checkTravels(t, &finishFn{Temp: path}, &finishFn{})
	checkTravels(t, &readFn{Inputs: []byte(path)}, &readFn{})
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
