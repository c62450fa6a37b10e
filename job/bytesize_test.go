package job

import (
	"strings"
	"testing"
)

func TestByteSize(t *testing.T) {
	for _, c := range []struct {
		text string
		want ByteSize
	}{
		{"0", 0},
		{"1", 1},
		{"1048576", 1 << 20},
		{"7B", 7},
		{"64MiB", 64 << 20},
		{"1KiB", 1 << 10},
		{"2GiB", 2 << 30},
		{"3TiB", 3 << 40},
		{"1KB", 1000},
		{"500MB", 500e6},
		{"2GB", 2e9},
		{"1TB", 1e12},
		{"1K", 1 << 10},
		{"64M", 64 << 20},
		{"1G", 1 << 30},
		{"1T", 1 << 40},
		{"1.5KiB", 1536},
		{"0.5GB", 500e6},
		{"64 MiB", 64 << 20},
		{" 8 ", 8},
	} {
		var got ByteSize
		if err := got.UnmarshalText([]byte(c.text)); err != nil || got != c.want {
			t.Errorf("%q is %d (%v), want %d", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{
		"", "MiB", "-1", "-1KiB", "1e30", "NaN", "Inf", "1 2", "64Mi", "64mib", "1PiB",
		"ten", "9223372036854775808", "9TiBB",
	} {
		got := ByteSize(5)
		if err := got.UnmarshalText([]byte(text)); err == nil || got != 5 {
			t.Errorf("%q is taken for %d (%v), want an error", text, got, err)
		} else if !strings.Contains(err.Error(), text) {
			t.Errorf("%q: the error does not say so: %v", text, err)
		}
	}
}

func TestSpan(t *testing.T) {
	for text, want := range map[string]string{
		"90s":     "1m30s",
		"2m":      "2m",
		"1h":      "1h",
		"1h0m0s":  "1h",
		"10m":     "10m",
		"1500ms":  "1.5s",
		"0":       "0s",
		"100h30m": "100h30m",
		"1h0m5s":  "1h0m5s",
	} {
		var got, again Span
		if err := got.UnmarshalText([]byte(text)); err != nil || got.String() != want {
			t.Errorf("%q is %v (%v), want %s", text, got, err, want)
		}
		encoded, err := got.MarshalText()
		if err == nil {
			err = again.UnmarshalText(encoded)
		}
		if err != nil || again != got {
			t.Errorf("%q comes back as %v: %v", text, again, err)
		}
	}
	for _, text := range []string{"", "2", "-2m", "two minutes", "1e9h", "NaN"} {
		var got Span
		if err := got.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q is taken for %v (%v), want an error", text, got, err)
		}
	}
}
