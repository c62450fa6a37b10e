package job

import (
	"encoding/json"
	"testing"
)

// TestSeed: a seed is a number in JSON, and may be drawn.
func TestSeed(t *testing.T) {
	for _, c := range []struct {
		encoded string
		want    uint64
	}{{"7", 7}, {`"7"`, 7}, {"18446744073709551615", 1<<64 - 1}} {
		var got Seed
		if err := json.Unmarshal([]byte(c.encoded), &got); err != nil || got != (Seed{Number: c.want}) {
			t.Errorf("%s: %d (%v), want %d", c.encoded, got.Number, err, c.want)
		}
	}
	for _, encoded := range []string{"-1", "1.5", `"Random"`, `""`, "18446744073709551616"} {
		var got Seed
		if err := json.Unmarshal([]byte(encoded), &got); err == nil {
			t.Errorf("%s is taken as %d", encoded, got.Number)
		}
	}
	drawn := map[uint64]bool{}
	for range 100 {
		var seed, again Seed
		if err := seed.UnmarshalText([]byte(RandomSeed)); err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(seed)
		if err != nil || json.Unmarshal(encoded, &again) != nil || again != (Seed{Number: seed.Number}) ||
			!seed.IsDrawn {
			t.Errorf("%d becomes %s and %d (%v)", seed.Number, encoded, again.Number, err)
		}
		drawn[seed.Number] = true
	}
	config := Default()
	config.Input, config.Output, config.Resume = []string{"in"}, "out", true
	if err := config.Validate(); err != nil {
		t.Fatal(err)
	}
	if config.Seed.IsDrawn = true; config.Validate() == nil {
		t.Error("a resumed job may draw another seed")
	}
	if len(drawn) != 100 {
		t.Errorf("100 draws give %d seeds", len(drawn))
	}
}
