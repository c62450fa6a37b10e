package packed

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"time"
)

type (
	number uint32
	part   struct {
		Start, End int64
		Sum        [2]uint64
	}
	record struct {
		Name     string
		Raw      []byte
		Is       bool
		Small    uint8
		Short    uint16
		Number   number
		Hash     uint64
		Count    int
		Share    float64
		Made     time.Time
		Trace    [4]byte
		Parts    []part
		Of       *record
		Counts   map[string]int64
		Examples map[string]string
		hidden   int
	}
)

func filled() record {
	return record{
		Name:     "a\xff",
		Raw:      []byte{1, 2},
		Is:       true,
		Small:    255,
		Short:    65535,
		Number:   math.MaxUint32,
		Hash:     math.MaxUint64,
		Count:    math.MinInt64,
		Share:    -0.25,
		Made:     time.Date(2026, 11, 28, 1, 2, 3, 4, time.UTC),
		Trace:    [4]byte{1, 2, 3, 4},
		Parts:    []part{{1, -2, [2]uint64{3, 4}}, {}},
		Of:       &record{Name: "other"},
		Counts:   map[string]int64{"b": 2, "a": -1},
		Examples: map[string]string{"": "x"},
	}
}

// TestRecords: records are read back as they were, one behind the other, and have one form. A hidden field is left out.
func TestRecords(t *testing.T) {
	want := []record{filled(), {}, filled()}
	var b []byte
	for i := range want {
		sent := want[i]
		sent.hidden = 1
		b = Append(b, &sent)
	}
	var again []byte
	for rest, i := b, 0; i < len(want); i++ {
		var got record
		var err error
		if rest, err = Next(rest, &got); err != nil || !reflect.DeepEqual(got, want[i]) {
			t.Errorf("%+v, want %+v (%v)", got, want[i], err)
		}
		again = Append(again, &got)
	}
	if string(again) != string(b) {
		t.Errorf("%x, want %x", again, b)
	}
}

// FuzzNext: whatever the bytes, a record is read from them or they are damaged. A record without its last byte is
// damaged.
func FuzzNext(f *testing.F) {
	whole := filled()
	b := Append(nil, &whole)
	f.Add(b)
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	for n := range len(b) {
		var got record
		if _, err := Next(b[:n], &got); !errors.Is(err, ErrDamaged) {
			f.Errorf("%d of %d bytes: %v", n, len(b), err)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var got record
		if rest, err := Next(b, &got); err == nil && len(rest) >= len(b) {
			t.Errorf("%d bytes are left of %d", len(rest), len(b))
		}
	})
}
