package state

import (
	"bytes"
	"errors"
	"testing"
)

const sealMark = "mirrorbeam test 12\n"

// TestSealed: what was sealed comes back, and no byte of it can change, go or come unseen.
func TestSealed(t *testing.T) {
	for _, body := range []string{"", "x", "a longer body\n"} {
		whole := Seal([]byte(sealMark + body))
		if got, err := Unseal(whole, sealMark); err != nil || string(got) != body {
			t.Errorf("%q becomes %q, %v", body, got, err)
		}
		for i := range whole {
			damaged := bytes.Clone(whole)
			damaged[i] ^= 1
			if _, err := Unseal(damaged, sealMark); err == nil {
				t.Errorf("%q: byte %d can change", body, i)
			}
			if _, err := Unseal(whole[:i], sealMark); err == nil {
				t.Errorf("%q: all after byte %d can go", body, i)
			}
		}
		if _, err := Unseal(append(whole, 0), sealMark); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q and a byte more: %v", body, err)
		}
	}
}

// TestMarks: another layout and another kind of file are told apart, whatever their check sums.
func TestMarks(t *testing.T) {
	for content, want := range map[string]error{
		"mirrorbeam test 11\nbody": ErrVersion,
		"mirrorbeam tests 12\n":    ErrForeign,
		"":                         ErrForeign,
		sealMark:                   nil,
	} {
		if _, err := Unseal(Seal([]byte(content)), sealMark); err != want {
			t.Errorf("%q: %v, want %v", content, err, want)
		}
	}
	if _, err := Unseal([]byte(sealMark), sealMark); err != ErrDamaged {
		t.Errorf("a mark alone: %v", err)
	}
}

// FuzzOpen: no content makes Open panic, and what it returns was sealed.
func FuzzOpen(f *testing.F) {
	f.Add(Seal([]byte(sealMark + "body")))
	f.Add([]byte(sealMark))
	f.Fuzz(func(t *testing.T, content []byte) {
		if body, err := Unseal(content, sealMark); err == nil &&
			!bytes.Equal(Seal(append([]byte(sealMark), body...)), content) {
			t.Errorf("%q was not sealed", content)
		}
	})
}
