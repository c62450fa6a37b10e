package plan

import (
	"math"
	"strings"
	"testing"

	"mirrorbeam/internal/look/finished"
	"mirrorbeam/internal/match/methods"
)

// calibrated returns a plan, and a summary of a job that took 100 CPU-s of four cores in 60 s, ten of them with requests in turn.
func calibrated() (*Advice, *finished.Summary) {
	a := &Advice{Corpus: &Facts{Documents: 1000}, Choices: []Choice{{Keys: methods.Exact, Work: &Work{}, Needs: Needs{
		CPUSeconds: 50, MemoryBytes: 1e8, TempBytes: 2e9, Stages: []Stage{{Pieces: 30}, {Pieces: 10}}, Requests: Requests{Reads: 500, Writes: 20, InTurn: 200},
	}}}}
	s := &finished.Summary{Stages: []finished.Stage{{Tasks: 8, Pieces: 50}}}
	s.Seconds, s.CPUSeconds, s.PeakMemoryBytes, s.TempBytes = 60, 100, 3e8, 1e9
	s.Requests = []finished.Requests{{Kind: "read", Requests: 400, Seconds: 20}, {Kind: "describe", Requests: 50}, {Kind: "write", Requests: 30}, {Kind: "remove", Requests: 7}}
	s.Plan.Keys = methods.Exact
	s.Counts.Documents, s.Counts.Bytes = 990, 3e9
	return a, s
}

// TestCalibrate: what is printed makes the plan right.
func TestCalibrate(t *testing.T) {
	a, s := calibrated()
	c, err := Calibrate(a, s, 4)
	if err != nil {
		t.Fatal(err)
	}
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-9*want }
	if !near(c.Rate, 3e7) || !near(c.Answer, 0.05) || !near(c.Busy, 0.5) {
		t.Errorf("rate %g, answer %g, busy %g", c.Rate, c.Answer, c.Busy)
	}
	if seconds := 3e9/c.Rate/c.Busy/4 + 200*c.Answer; !near(seconds, s.Seconds) {
		t.Errorf("by these the job takes %g s, and took %g", seconds, s.Seconds)
	}
	want := map[string][2]float64{
		"CPU time": {50, 100}, "memory of a process": {1e8, 3e8}, "temporary files": {2e9, 1e9}, "pieces of temporary files": {40, 50},
		"requests to read or ask": {500, 450}, "requests to write": {20, 30},
	}
	for _, row := range c.Compared {
		if want[row.What] != [2]float64{row.Planned, row.Real} {
			t.Errorf("%+v, want %v", row, want[row.What])
		}
		delete(want, row.What)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	a.Reads = &Reads{Requests: &InputRequests{Reads: 7}}
	if c, _ = Calibrate(a, s, 4); c.Compared[4].Planned != 507 {
		t.Errorf("with the input in a bucket %+v", c.Compared[4])
	}
}

// TestCalibrateElsewhere: without a bucket nothing is said of one, more cores than tasks do not count, and a wait that is longer than
// the job says nothing of cores.
func TestCalibrateElsewhere(t *testing.T) {
	a, s := calibrated()
	s.Requests = nil
	if c, err := Calibrate(a, s, 100); err != nil || c.Answer != 0 || len(c.Compared) != 4 || math.Abs(c.Busy-100./60/8) > 1e-9 {
		t.Errorf("%+v (%v)", c, err)
	}
	a, s = calibrated()
	s.Requests[0].Seconds = 1e6
	if c, err := Calibrate(a, s, 4); err != nil || c.Busy != 0 {
		t.Errorf("%+v (%v)", c, err)
	}
}

// TestCalibrateRefuses plans of other jobs.
func TestCalibrateRefuses(t *testing.T) {
	for want, change := range map[string]func(*Advice, *finished.Summary){
		"of no corpus": func(a *Advice, _ *finished.Summary) { a.Corpus = nil },
		"no corpus":    func(a *Advice, _ *finished.Summary) { a.Chosen = 3 },
		"read nothing": func(_ *Advice, s *finished.Summary) { s.CPUSeconds = 0 },
		"had 2000:":    func(_ *Advice, s *finished.Summary) { s.Counts.Documents = 2000 },
		"minhash keys": func(_ *Advice, s *finished.Summary) { s.Plan.Keys = methods.MinHash },
	} {
		a, s := calibrated()
		change(a, s)
		if _, err := Calibrate(a, s, 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}
