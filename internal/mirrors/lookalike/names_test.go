package lookalike

import (
	_ "embed"
	"strings"
	"testing"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// brands are names that somebody might copy, short ones among them.
var brands = strings.Fields(
	`ing.com dhl.com ups.com n26.com bbc.co.uk visa.com ebay.com ikea.com apple.com chase.com paypal.com amazon.com google.com
	revolut.com netflix.com facebook.com microsoft.com santander.com wellsfargo.com bankofamerica.com`)

// glyphs are what people draw letters with: one letter and its look-alikes, which are one or two letters each.
var glyphs = map[string]string{
	"a": "ạ ă ɑ å ä à а",
	"b": "d lb ḃ ʙ ɓ",
	"c": "e ç ċ ƈ с",
	"d": "b cl dl ď ḍ đ",
	"e": "c ê ẹ ɇ е",
	"f": "ḟ ƒ",
	"g": "q ġ ɡ ɢ",
	"h": "lh ħ ḥ һ",
	"i": "1 l í ɪ ɨ і",
	"j": "ĵ ʝ",
	"k": "lc ĸ ķ ᴋ",
	"l": "1 i ł ĺ ӏ",
	"m": "n nn rn ṁ ᴍ",
	"n": "m r ñ ṅ ŋ",
	"o": "0 ö ọ ᴏ о",
	"p": "ṗ ṕ ƥ ᴘ р",
	"q": "g ʠ",
	"r": "ʀ ř ɾ",
	"s": "ṡ ş š ś ꜱ ѕ",
	"t": "ť ṭ ŧ",
	"u": "v ú ù ü ʉ ᴜ",
	"v": "u ṿ ᴠ",
	"w": "vv ẇ ŵ",
	"x": "ẋ х",
	"y": "ÿ ʏ ƴ у",
	"z": "ž ʐ",
	"2": "ƻ",
	"6": "9",
}

// made returns hosts that somebody might register instead of one, by the ways in which they are made.
func made(name, suffix string) map[string][]string {
	all := map[string][]string{}
	add := func(kind, name string) { all[kind] = append(all[kind], name+"."+suffix) }
	for i := range len(name) {
		before, c, behind := name[:i], name[i:i+1], name[i+1:]
		add("left out", before+behind)
		add("doubled", before+c+c+behind)
		if i > 0 {
			add("hyphen", before+"-"+c+behind)
			add("exchanged", before[:i-1]+c+before[i-1:]+behind)
			if i < len(name)-1 {
				add("dot", before+"."+c+behind)
			}
		}
		for one := range neighbours {
			if key := string(one[1]); string(one[0]) == c {
				add("replaced", before+key+behind)
				add("put in", before+key+c+behind)
				add("put in", before+c+key+behind)
			}
		}
		for bit := range 7 {
			flipped := c[0] ^ 1<<bit
			if strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789", flipped) >= 0 {
				add("bits", before+string(flipped)+behind)
			}
		}
		if strings.Contains("aeiou", c) {
			for _, vowel := range "aeiou" {
				add("vowels", before+string(vowel)+behind)
			}
		}
		for glyph := range strings.FieldsSeq(glyphs[c]) {
			add("glyph", before+glyph+behind)
			for j := range len(behind) {
				for second := range strings.FieldsSeq(glyphs[behind[j:j+1]]) {
					add("two glyphs", before+glyph+behind[:j]+second+behind[j+1:])
				}
			}
		}
	}
	for c := range strings.SplitSeq("abcdefghijklmnopqrstuvwxyz0123456789", "") {
		add("added", name+c)
	}
	for _, word := range []string{"login", "secure", "account", "verify", "support"} {
		for _, joined := range []string{name + word, word + name, name + "-" + word, word + "-" + name} {
			add("words", joined)
		}
	}
	all["suffix"] = []string{
		name + ".net", name + ".xyz", name + ".com.co",
		name + strings.ReplaceAll(suffix, ".", "") + ".com", name + "-" + strings.ReplaceAll(suffix, ".", "") + ".com",
	}
	all["whole"] = []string{name + "." + suffix + ".example.net", "login." + name + "." + suffix + ".example.net"}
	return all
}

// TestNames: of the hosts that are made instead of one, in every way, .95 look like it, and of each way most do.
func TestNames(t *testing.T) {
	for _, brand := range brands {
		name, suffix, _ := strings.Cut(brand, ".")
		hosts, found := 0, 0
		var missed []string
		for kind, list := range made(name, suffix) {
			right := 0
			for _, host := range list {
				ascii, err := idna.Punycode.ToASCII(host)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := publicsuffix.EffectiveTLDPlusOne(ascii); err != nil || ascii == brand ||
					Of(ascii, brand).Score >= 0.8 {
					right++ // nobody can register us.com
				} else {
					missed = append(missed, host)
				}
			}
			hosts, found = hosts+len(list), found+right
			// Three letters under com are neighbours of honest names by a flipped bit.
			if kind != "bits" && float64(right) < .85*float64(len(list)) {
				t.Errorf("%s, %s: %d of %d", brand, kind, right, len(list))
			}
		}
		if float64(found) < .95*float64(hosts) {
			t.Errorf("%s: %d of %d, without %q", brand, found, hosts, missed)
		}
	}
}

//go:embed testdata/hosts.txt
var honest string

// TestHonestNames: none of a thousand hosts that people link to looks like a brand.
func TestHonestNames(t *testing.T) {
	hosts := 0
	for host := range strings.FieldsSeq(honest[strings.IndexByte(honest, '\n'):]) {
		hosts++
		for _, brand := range append([]string{"hp.com", "x.com"}, brands...) {
			if l := Of(host, brand); l.Score >= 0.8 {
				t.Errorf("%s looks like %s: %+v", host, brand, l)
			}
		}
	}
	if hosts != 1000 {
		t.Errorf("%d hosts", hosts)
	}
}
