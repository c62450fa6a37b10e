package main

import (
	"flag"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestBeamHasTheFlags: the tables name flags that this version of Beam has.
func TestBeamHasTheFlags(t *testing.T) {
	names := append(slices.Collect(maps.Keys(refusals())), runnerFlag)
	for _, r := range runnersOfBeam() {
		names = append(names, r.flags...)
	}
	for _, name := range names {
		if flag.Lookup(name) == nil {
			t.Errorf("Beam has no flag --%s", name)
		}
	}
}

func TestCutBeamFlags(t *testing.T) {
	for _, c := range []struct {
		args, ours []string
		beams      []beamFlag
	}{
		{[]string{"run", "--input", "x"}, []string{"run", "--input", "x"}, nil},
		{
			[]string{"--runner", "flink", "run", "--parallelism=-1"},
			[]string{"run"},
			[]beamFlag{{"runner", "flink"}, {"parallelism", "-1"}},
		},
		{
			[]string{"run", "--parallelism", "-1", "--labels={\"a\":\"=\"}"},
			[]string{"run"},
			[]beamFlag{{"parallelism", "-1"}, {"labels", `{"a":"="}`}},
		},
		{
			[]string{"run", "--no_use_public_ips", "x", "--use_public_ips=false"},
			[]string{"run", "x"},
			[]beamFlag{{"no_use_public_ips", "true"}, {"use_public_ips", "false"}},
		},
		{
			[]string{"run", "-runner", "flink", "--id", "x", "--", "--runner"},
			[]string{"run", "-runner", "flink", "--id", "x", "--", "--runner"},
			nil,
		},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			ours, beams, err := cutBeamFlags(c.args)
			if err != nil || !slices.Equal(ours, c.ours) || !reflect.DeepEqual(beams, c.beams) {
				t.Errorf("%q: ours %q, Beam's %q, %v", c.args, ours, beams, err)
			}
		})
	}
	for _, args := range [][]string{{"run", "--runner"}, {"run", "--runner", "--input"}} {
		if _, _, err := cutBeamFlags(args); err == nil {
			t.Errorf("%q: a flag without a value", args)
		}
	}
}

// TestFlagsAreRefusedByRunner: a flag is taken by the runners that have it in their
// table, by the commands that run a job.
func TestFlagsAreRefusedByRunner(t *testing.T) {
	for name, want := range map[string][]string{
		"runner":      {"direct", "flink", "portable", "spark", "dataflow"},
		"endpoint":    {"flink", "portable", "spark"},
		"parallelism": {"flink", "portable"},
		"project":     {"dataflow"},
		"dry_run":     nil,
	} {
		t.Run(name, func(t *testing.T) {
			var taken []string
			for _, r := range runnersOfBeam() {
				if r.refuse("plan", name) == nil {
					t.Errorf("a plan takes --%s", name)
				}
				if r.refuse("run", name) == nil {
					taken = append(taken, r.names[0])
				}
			}
			if !slices.Equal(taken, want) {
				t.Errorf("--%s is taken by %q, want %q", name, taken, want)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	flags := []string{"--input", "--id-field", "--output", "--threshold", "--endpoint", "--environment_type"}
	for name, want := range map[string]string{
		"--id": "--id-field", "--outptu": "--output", "-threshold": "--threshold", "--thresh_old": "--threshold",
		"--endpiont": "--endpoint", "--environment-type": "--environment_type", "--zzz": "", "--": "",
	} {
		t.Run(name, func(t *testing.T) {
			if got := nearest(name, flags); got != want {
				t.Errorf("%s is taken for %q, want %q", name, got, want)
			}
		})
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}} {
		t.Run(c.a+" "+c.b, func(t *testing.T) {
			if got := edits(c.a, c.b); got != c.want {
				t.Errorf("from %q to %q %d edits, want %d", c.a, c.b, got, c.want)
			}
		})
	}
}

// TestIsWorker: the form in which Beam's containers start a worker, and no other.
func TestIsWorker(t *testing.T) {
	for _, c := range []struct {
		args []string
		want bool
	}{
		{[]string{
			"--worker=true", "--id=1", "--logging_endpoint=a:1", "--control_endpoint=a:2",
			"--semi_persist_dir=/tmp",
		}, true},
		{[]string{"--worker", "--id=1"}, true},
		{[]string{"--worker=false"}, false},
		{[]string{"run", "--worker"}, false},
		{nil, false},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			if got := isWorker(c.args); got != c.want {
				t.Errorf("%q: %v", c.args, got)
			}
		})
	}
}
