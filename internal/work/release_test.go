package work

import (
	"os"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
)

// TestRelease: released files are gone, others stay readable, and the peak counts both. Nothing goes where a runner may
// run a task twice.
func TestRelease(t *testing.T) {
	const size = 1 << 20
	write := func(runs Runs, stage Stage) Outcome {
		w := runfile.NewWriter(string(runs.Folder), 1<<20)
		defer w.Abort()
		for _, kind := range []runfile.Kind{records.Documents, records.Sets} {
			if err := w.Section(kind, 3, slices.Repeat([]byte{byte(kind)}, size)); err != nil {
				t.Fatal(err)
			}
		}
		path, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		return Outcome{Stage: stage, Run: path}
	}
	read := func(o Outcome, kind runfile.Kind) error {
		pieces, err := runfile.Pieces(o.Run)
		if err != nil {
			return err
		}
		var reader runfile.Reader
		defer reader.Close()
		b, err := reader.ReadKind(nil, pieces, kind)
		if err == nil && len(b) != size {
			t.Errorf("%d bytes, want %d", len(b), size)
		}
		return err
	}
	for _, c := range []struct {
		name    string
		allowed bool
	}{
		{"local", true},
		{"cluster", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			runs := Runs{Folder: Path(t.TempDir()), Release: c.allowed}
			outcomes := []Outcome{write(runs, Key), write(runs, Fingerprint), write(runs, Gather)}
			before := TempBytes(string(runs.Folder))
			runs.ReleaseStage(outcomes, Key)
			runs.ReleaseSets(outcomes)
			if _, err := os.Stat(outcomes[0].Run); os.IsNotExist(err) != c.allowed {
				t.Errorf("the run of keys is gone: %v, want %v", os.IsNotExist(err), c.allowed)
			}
			for _, o := range outcomes[1:] {
				if err := read(o, records.Documents); err != nil {
					t.Errorf("documents of %s: %v", o.Stage, err)
				}
			}
			if err := read(outcomes[2], records.Sets); err != nil {
				t.Errorf("sets of another stage: %v", err)
			}
			if err := read(outcomes[1], records.Sets); !c.allowed && err != nil {
				t.Errorf("sets that are still read: %v", err)
			}
			if peak := TempBytes(string(runs.Folder)); before < 6*size || peak != before {
				t.Errorf("a peak of %d bytes, then %d", before, peak)
			}
		})
	}
}
