package records

import (
	"bytes"
	"testing"

	"mirrorbeam.dev/internal/records/runfile"
)

// TestStretches: stretches of shingles and of frequencies come back in order, from the shard that they were written to.
func TestStretches(t *testing.T) {
	all := []Stretch{
		{Range: 0, Ranges: 1, Split: 5, Packed: []byte{1, 2, 3, 4, 5, 6}},
		{Range: 1<<16 - 1, Ranges: 1 << 16, Split: 5, Packed: []byte{255, 255, 255}},
	}
	for _, kind := range []runfile.Kind{Shingles, Frequencies} {
		packed := sections(t, kind, func(w *runfile.Writer) error {
			for _, s := range all {
				if err := Write(w, kind, s.Split, &s); err != nil {
					return err
				}
			}
			return nil
		})[5]
		for _, want := range all {
			got, rest, err := NextStretch(packed)
			if err != nil || got.Range != want.Range || got.Ranges != want.Ranges || got.Split != want.Split ||
				!bytes.Equal(got.Packed, want.Packed) {
				t.Errorf("%+v, want %+v (%v)", got, want, err)
			}
			packed = rest
		}
		if len(packed) > 0 {
			t.Errorf("%d bytes are left", len(packed))
		}
	}
	if n := all[0].Len(); n != 2 {
		t.Errorf("%d shingles, want 2", n)
	}
}

// FuzzNextStretch: whatever the bytes, stretches lie within them, and are read to the end or up to an error.
func FuzzNextStretch(f *testing.F) {
	f.Add(Append(nil, &Stretch{Range: 0, Ranges: 1, Packed: []byte{1, 2, 3}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		for len(b) > 0 {
			s, rest, err := NextStretch(b)
			if err != nil {
				return
			}
			if len(s.Packed)+len(rest) >= len(b) || s.Range >= s.Ranges {
				t.Fatalf("%+v of %d bytes, %d are left", s, len(b), len(rest))
			}
			b = rest
		}
	})
}
