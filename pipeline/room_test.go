package pipeline

import (
	"errors"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/start/failure"
	"mirrorbeam/internal/start/listing"
	"mirrorbeam/transforms"
)

// TestRoom: a job is refused if its disk has less than half of what it needs at least, and warned of if it is a close call.
func TestRoom(t *testing.T) {
	for _, test := range []struct {
		room              room
		isRefused, isTold bool
	}{
		{room{free: 100e6, wanted: 100e6, least: 100e6}, false, false},
		{room{free: 99e6, wanted: 100e6, least: 100e6}, false, true},
		{room{free: 50e6, wanted: 100e6, least: 100e6}, false, true},
		{room{free: 49e6, wanted: 100e6, least: 100e6}, true, false},
		{room{free: 49e6, wanted: 100e6, least: 50e6}, false, true},
		{room{}, false, false},
	} {
		var told []string
		config := testConfig(t, "in.jsonl")
		config.Temp = "/some {temp} where"
		config.Progress = func(line string) { told = append(told, line) }
		err := test.room.check(&config)
		if refused := err != nil; refused != test.isRefused || len(told) > 0 != test.isTold {
			t.Errorf("%+v: error %v, told %q", test.room, err, told)
		}
		if err != nil && (!errors.Is(err, failure.Storage) || !strings.HasSuffix(err.Error(), "folder /some {temp} where has 49.0 MB free, and the job needs about 100.0 MB: make room on it, or name a folder on another disk with temp")) {
			t.Errorf("%+v: %v", test.room, err)
		}
		config.Progress = nil
		if again := test.room.check(&config); (again != nil) != test.isRefused {
			t.Errorf("%+v: without progress: %v", test.room, again)
		}
	}
}

// TestBlockShare holds the share of the blocks against the temporary files of jobs, plain and compressed.
func TestBlockShare(t *testing.T) {
	w := newWriter(3)
	for range 4000 {
		w.add(strings.Join(w.text(80), " "))
	}
	for _, how := range []compression{plain, zstded} {
		config := testConfig(t, putCorpus(t, how, cut(w.lines, 3)...))
		config.Audit = "off"
		inputs, size, err := listing.Inputs(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		j := transforms.NewJob(&config, transforms.Extent{Bytes: size, Splits: len(inputs.Splits)})
		share, err := j.Fingerprinting.BlockShare(t.Context(), &inputs)
		if err != nil {
			t.Fatal(err)
		}
		// Fields that say more of a document change nothing.
		marked := config
		marked.Within, marked.SourceField, marked.Keep, marked.Emit = "lang", "site", "max:score", []string{output.Mirrors}
		other := transforms.NewJob(&marked, transforms.Extent{Bytes: size, Splits: len(inputs.Splits)})
		if again, err := other.Fingerprinting.BlockShare(t.Context(), &inputs); again != share || err != nil {
			t.Errorf("%v: with fields %g (%v), want %g", how, again, err, share)
		}
		summary := runJob(t, config)
		if took := float64(summary.TempBytes) / float64(summary.Counts.Bytes); took < share/2 || took > 2*share {
			t.Errorf("%v: the blocks are estimated at %g bytes for a byte of input, the job took %g", how, share, took)
		}
		if least, usual := inputs.LeastTextBytes(), inputs.TextBytes(); how == plain && least != usual || how != plain && least != usual/2 {
			t.Errorf("%v: %d bytes at least, %d as usual", how, least, usual)
		}
		inputs.Splits = nil
		if share, err := j.Fingerprinting.BlockShare(t.Context(), &inputs); share != 0 || err != nil {
			t.Errorf("of nothing: %g (%v)", share, err)
		}
	}
}
