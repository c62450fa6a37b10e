package docref

import "testing"

func TestNewKeepsOrderAndParts(t *testing.T) {
	var last Ref
	for i, c := range []struct {
		file     int
		position int64
	}{{0, 1}, {0, MaxPosition}, {1, 0}, {1, 7}, {MaxFiles - 1, MaxPosition}} {
		r, err := New(c.file, c.position)
		if err != nil {
			t.Fatal(err)
		}
		if r.File() != c.file || r.Position() != c.position {
			t.Errorf("New(%d, %d) reads back as %d, %d", c.file, c.position, r.File(), r.Position())
		}
		if i > 0 && r <= last {
			t.Errorf("New(%d, %d) = %d does not come after %d", c.file, c.position, r, last)
		}
		last = r
	}
}

func TestNewRefusesWhatDoesNotFit(t *testing.T) {
	for _, c := range []struct {
		file     int
		position int64
	}{{-1, 0}, {MaxFiles, 0}, {0, -1}, {0, MaxPosition + 1}} {
		if r, err := New(c.file, c.position); err == nil {
			t.Errorf("New(%d, %d) = %d, want an error", c.file, c.position, r)
		}
	}
}
