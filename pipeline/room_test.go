package pipeline

import (
	"errors"
	"strings"
	"testing"

	"mirrorbeam/internal/start/failure"
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
