package lookalike

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		host, original string
		least          float64
		reason         Reason
	}{
		{"paypa1.com", "paypal.com", 1, Homoglyph},
		{"xn--pypal-4ve.com", "paypal.com", 1, Homoglyph}, // with a Cyrillic a
		{"paypaI.com", "paypal.com", 1, Homoglyph},
		{"xn--80ak6aa92e.com", "apple.com", 1, Homoglyph}, // all Cyrillic
		{"rnicrosoft.com", "microsoft.com", 1, Homoglyph},
		{"g00gle.com", "google.com", 1, Homoglyph},
		{"vvikipedia.org", "wikipedia.org", 1, Homoglyph},
		{"pay-pal.com", "paypal.com", 0.95, Homoglyph},
		{"paypal.co.uk", "paypal.com", 0.9, OtherDomain},
		{"wikipedia.example", "en.wikipedia.org", 0.9, OtherDomain},
		{"paypal.com.example.net", "paypal.com", 0.95, Subdomain},
		{"login.paypal.com.example.net", "paypal.com", 0.95, Subdomain},
		{"paypal.secure.example.net", "paypal.com", 0.85, Subdomain},
		{"paypal-login.com", "paypal.com", 0.9, AddedWords},
		{"secure-paypa1.com", "paypal.com", 0.9, AddedWords},
		{"mypaypalaccount.com", "paypal.com", 0.8, AddedWords},
		{"paypla.com", "paypal.com", 0.9, Typing},
		{"paypall.com", "paypal.com", 0.9, Typing},
		{"goggle.com", "google.com", 0.9, Typing},
		{"micorsfot.com", "microsoft.com", 0.8, Typing},
		{"wellsfargoo-bank.com", "wellsfargo.com", 0.8, AddedWords},
	} {
		got := Of(c.host, c.original)
		if got.Score < c.least || c.reason != "" && got.Reason != c.reason {
			t.Errorf("%s for %s: %+v, want %g %s", c.host, c.original, got, c.least, c.reason)
		}
	}
	for _, c := range [][2]string{
		{"example.org", "paypal.com"},
		{"paypal.com", "paypal.com"},
		{"login.paypal.com", "www.paypal.com"},
		{"192.168.0.1", "paypal.com"},
		{"paypal.com", "192.168.0.1"},
		{"[::1]", "[::2]"},
		{"abc.org", "abm.org"},
		{"theguardian.com", "nytimes.com"},
		{"com", "org"},
		{"", "paypal.com"},
		{"gardening.example", "garden-tools.example"},
	} {
		if got := Of(c[0], c[1]); got.Score >= 0.8 {
			t.Errorf("%s for %s: %+v", c[0], c[1], got)
		}
	}
}

// TestDistance checks laws of the distance of names.
func TestDistance(t *testing.T) {
	names := []string{"", "a", "ab", "ba", "abc", "acb", "paypal", "paypla", "βγ"}
	for _, one := range names {
		for _, other := range names {
			d := distance(one, other, aSlip)
			if d != distance(other, one, aSlip) || (d == 0) != (one == other) || d > aSlip*max(len(one), len(other)) {
				t.Errorf("the distance of %q and %q is %d", one, other, d)
			}
		}
	}
	for pair, want := range map[[2]string]int{
		{"paypal", "paypla"}: aSlip,
		{"bbc", "lbdc"}:      2 * aLook,
		{"mq", "nng"}:        2 * aLook,
		{"dhl", "dhll"}:      aSlip,
	} {
		if d := distance(pair[0], pair[1], aSlip); d != want {
			t.Errorf("the distance of %q is %d, want %d", pair, d, want)
		}
	}
}

// FuzzOf: a score is from 0 to 1, and has a reason unless it is 0.
func FuzzOf(f *testing.F) {
	f.Add("xn--pypal-4ve.com", "paypal.com")
	f.Add("a..b", "-")
	f.Add("\xff.com", "xn--.com")
	f.Fuzz(func(t *testing.T, host, original string) {
		if len(host) > 300 || len(original) > 300 {
			return
		}
		got := Of(strings.ToLower(host), strings.ToLower(original))
		if got.Score < 0 || got.Score > 1 || (got.Score == 0) != (got.Reason == "") {
			t.Errorf("%q for %q: %+v", host, original, got)
		}
		if once := Skeleton(host); len(once) > 8*len(host)+8 {
			t.Errorf("the skeleton of %q is %q", host, once)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	for _, host := range []string{"login.santander-online.example.net", "kestrelmeadow.org"} {
		b.Run(host, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Of(host, "bankofamerica.com")
			}
		})
	}
}
