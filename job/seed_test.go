package job

import (
	"encoding/json"
	"testing"
)

// TestSeed: a seed is a number in JSON, and may be drawn.
func TestSeed(t *testing.T) {
	for _, c := range []struct {
		encoded string
		want    Seed
	}{{"7", 7}, {`"7"`, 7}, {"18446744073709551615", 1<<64 - 1}} {
		var got Seed
		if err := json.Unmarshal([]byte(c.encoded), &got); err != nil || got != c.want {
			t.Errorf("%s: %d (%v), want %d", c.encoded, got, err, c.want)
		}
	}
	for _, encoded := range []string{"-1", "1.5", `"Random"`, `""`, "18446744073709551616"} {
		var got Seed
		if err := json.Unmarshal([]byte(encoded), &got); err == nil {
			t.Errorf("%s is taken as %d", encoded, got)
		}
	}
	drawn := map[Seed]bool{}
	for range 100 {
		var seed, again Seed
		if err := seed.UnmarshalText([]byte(RandomSeed)); err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(seed)
		if err != nil || json.Unmarshal(encoded, &again) != nil || again != seed {
			t.Errorf("%d becomes %s and %d (%v)", seed, encoded, again, err)
		}
		drawn[seed] = true
	}
	if len(drawn) != 100 {
		t.Errorf("100 draws give %d seeds", len(drawn))
	}
}
