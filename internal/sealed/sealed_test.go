package sealed

import (
	"bytes"
	"errors"
	"testing"
)

const mark = "mirrorbeam test 12\n"

// TestSealed: what was sealed comes back, and no byte of it can change, go or come unseen.
func TestSealed(t *testing.T) {
	for _, body := range []string{"", "x", "a longer body\n"} {
		whole := Seal([]byte(mark + body))
		if got, err := Open(whole, mark); err != nil || string(got) != body {
			t.Errorf("%q becomes %q, %v", body, got, err)
		}
		for i := range whole {
			damaged := bytes.Clone(whole)
			damaged[i] ^= 1
			if _, err := Open(damaged, mark); err == nil {
				t.Errorf("%q: byte %d can change", body, i)
			}
			if _, err := Open(whole[:i], mark); err == nil {
				t.Errorf("%q: all after byte %d can go", body, i)
			}
		}
		if _, err := Open(append(whole, 0), mark); !errors.Is(err, ErrDamaged) {
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
		mark:                       nil,
	} {
		if _, err := Open(Seal([]byte(content)), mark); err != want {
			t.Errorf("%q: %v, want %v", content, err, want)
		}
	}
	if _, err := Open([]byte(mark), mark); err != ErrDamaged {
		t.Errorf("a mark alone: %v", err)
	}
}

// FuzzOpen: no content makes Open panic, and what it returns was sealed.
func FuzzOpen(f *testing.F) {
	f.Add(Seal([]byte(mark + "body")))
	f.Add([]byte(mark))
	f.Fuzz(func(t *testing.T, content []byte) {
		if body, err := Open(content, mark); err == nil && !bytes.Equal(Seal(append([]byte(mark), body...)), content) {
			t.Errorf("%q was not sealed", content)
		}
	})
}
