package transforms

import (
	"encoding/json"
	"reflect"
	"testing"

	"mirrorbeam/internal/output"
	"mirrorbeam/internal/work"
)

// TestPathsTravel: names that are not UTF-8 come through the encodings of Beam.
func TestPathsTravel(t *testing.T) {
	const path = "/tmp/caf\xe9/\xff"
	job := Job{Temp: path, Partial: path + "p", Inputs: path + "i", Lanes: 3, Emit: []string{output.Pairs}}
	checkTravels(t, &writeFn{Job: job, bundle: newBundle(job)}, &writeFn{})
	checkTravels(t, &exchangeFn{Temp: []byte(path), Delivery: work.Delivery{Step: 1, Output: true}}, &exchangeFn{})
	checkTravels(t, &finishFn{Temp: []byte(path)}, &finishFn{})
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
