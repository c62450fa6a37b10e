package lookalike

import (
	"slices"
	"testing"
)

// TestFind shows the kinds of names that are found among thousands, and honest names that are not.
func TestFind(t *testing.T) {
	x := NewIndex([]string{
		"ourbank.com", "dkb.de", "deutsche-bank.de", "paypal.com", "apple.com", "ing.com",
		"visa.com",
	})
	for _, row := range []struct {
		host, original string
		kind           Reason
		distance       int
	}{
		{"paypa1.com", "paypal.com", Homoglyph, 1},
		{"xn--pypal-4ve.com", "paypal.com", Homoglyph, 1},
		{"pay-pal.com", "paypal.com", Homoglyph, 1},
		{"pay.pal.com", "paypal.com", Homoglyph, 1},
		{"paypal.co", "paypal.com", OtherDomain, 0},
		{"paypal.com.evil.top", "paypal.com", Subdomain, 0},
		{"payapl.com", "paypal.com", Typing, 1},
		{"paypall.com", "paypal.com", Typing, 0},
		{"paypa1-login.com", "paypal.com", AddedWords, 1},
		{"paypl-login.com", "paypal.com", AddedWords, 1},
		{"ourbanklogin.evil.top", "ourbank.com", Subdomain, 0},
		{"secureourbank.evil.top", "ourbank.com", Subdomain, 0},
		{"our-bank-login.evil.top", "ourbank.com", Subdomain, 1},
		{"ourbanc.evil.top", "ourbank.com", Subdomain, 1},
		{"dkb24.de", "dkb.de", AddedWords, 0},
		{"meindkb.de", "dkb.de", AddedWords, 0},
		{"dkb-login.evil.top", "dkb.de", Subdomain, 0},
		{"deutschebank-login.com", "deutsche-bank.de", AddedWords, 1},
		{"appleid-verify.com", "apple.com", AddedWords, 0},
		{"visa2026.com", "visa.com", AddedWords, 0},
		{"www.paypal.com", "", "", 0}, // of the owner
		{"login.paypal.com", "", "", 0},
		{"pineapple.com", "", "", 0},
		{"visage.com", "", "", 0},
		{"tracking.example.com", "", "", 0},
		{"xing.com", "", "", 0},
		{"apply.example.com", "", "", 0},
		{"example.com", "", "", 0},
		{"10.0.0.1", "", "", 0},
	} {
		m, found := x.Find(row.host, 0.8)
		if found != (row.original != "") || m.Original != row.original || m.Reason != row.kind ||
			m.Distance != row.distance {
			t.Errorf("%s: %+v, want %q, %s, %d", row.host, m, row.original, row.kind, row.distance)
		}
	}
}

// TestFindAll compares the index with all comparisons, for all names that the other tests make.
func TestFindAll(t *testing.T) {
	x := NewIndex(brands)
	for _, brand := range brands {
		name := split(brand)
		for _, hosts := range made(name.name, name.suffix) {
			for _, host := range hosts {
				best := slices.MaxFunc(brands, func(a, b string) int {
					return int(1e6*Of(host, a).Score) - int(1e6*Of(host, b).Score)
				})
				want := Of(host, best)
				if m, found := x.Find(host, 0.8); found != (want.Score >= 0.8) && !slices.Contains(brands, host) {
					t.Errorf("%s: %v, want %v of %s", host, m, want, best)
				}
			}
		}
	}
}
