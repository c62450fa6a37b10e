package boilerplate

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// placesOf reads places: a digit is a new shingle: ten times as many documents have it, a minus a known one, and a space
// one that is no boilerplate.
func placesOf(text string) (places []place) {
	for _, c := range text {
		p := place{isBoilerplate: c != ' '}
		if c >= '1' && c <= '9' {
			p.documents = 10 * int64(c-'0')
		}
		places = append(places, p)
	}
	return places
}

func TestPassages(t *testing.T) {
	for _, c := range []struct {
		text string
		want []stretch
	}{
		{"", nil},
		{"1111111", nil},
		{" 11111111 ", []stretch{{1, 9, 10}}},
		{"--1111-1111---", []stretch{{2, 11, 10}}},
		{"1111-------1111", []stretch{{0, 15, 10}}},
		{"11111111--------22222222", []stretch{{0, 8, 10}, {16, 24, 20}}},
		{"1111 1111", nil},
		{"1111999911", []stretch{{0, 10, 10}}},
		{"1111222222221111", []stretch{{4, 12, 20}}},
		{"11111111999999998888888811111111", []stretch{{0, 8, 10}, {8, 24, 80}, {24, 32, 10}}},
		{"2222222244444444888888889", []stretch{{0, 8, 20}, {8, 16, 40}, {16, 25, 80}}},
	} {
		if got := passagesOf(placesOf(c.text)); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
}

// TestPassagesHoldTheirLaw looks at the passages of made up texts: a new shingle is in one passage at most, and each passage is
// what it is said to be.
func TestPassagesHoldTheirLaw(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 19))
	found := 0
	for range 3000 {
		var text strings.Builder
		for range 1 + random.IntN(12) {
			text.WriteString(strings.Repeat(string("112489-- "[random.IntN(9)]), 1+random.IntN(12)))
		}
		places, end := placesOf(text.String()), 0
		for _, p := range passagesOf(places) {
			found++
			if p.from < end || !places[p.from].isNew() || !places[p.to-1].isNew() {
				t.Fatalf("%q: the passage %v begins before %d, or begins or ends with a shingle that is known", &text, p, end)
			}
			end = p.to
			fresh, known, frequent, least := 0, 0, 0, int64(1<<40)
			for _, at := range places[p.from:p.to] {
				switch known++; {
				case !at.isBoilerplate:
					t.Fatalf("%q: the passage %v holds text of a document", &text, p)
				case at.isNew():
					known, fresh, least = 0, fresh+1, min(least, at.documents)
					if frequent++; at.documents < 2*p.documents {
						frequent = 0
					}
				}
				if known >= leastNew || frequent >= leastNew {
					t.Fatalf("%q: the passage %v is two", &text, p)
				}
			}
			if fresh < leastNew || least != p.documents {
				t.Fatalf("%q: the passage %v has %d new shingles in %d documents", &text, p, fresh, least)
			}
		}
	}
	if found < 3000 {
		t.Errorf("only %d passages", found)
	}
}
