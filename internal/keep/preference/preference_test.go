package preference

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/records/docref"
)

// placed is a document with its place.
type placed struct {
	ref docref.Ref
	Document
}

// order returns the refs of documents in their order of preference.
func order(t *testing.T, p Preference, ranking string, documents []placed) []docref.Ref {
	t.Helper()
	var ranks *Ranks
	if ranking != "" {
		var err error
		if ranks, err = ReadRanks(ranking); err != nil {
			t.Fatal(err)
		}
	}
	by, err := NewOrder(p, ranks)
	if err != nil {
		t.Fatal(err)
	}
	var all []Ranked
	for i := range documents {
		priority, ties := by(&documents[i].Document)
		ref := documents[i].ref
		one := Ranked{ref, priority.At(ref), ties.At(ref)}
		if one.Priority == Reference {
			t.Errorf("%s: %+v stands as a document of the reference", p, documents[i])
		}
		if one.Compare(one) != 0 {
			t.Errorf("%s: %+v is not the same as itself", p, one)
		}
		all = append(all, one)
	}
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	slices.SortFunc(all, Ranked.Compare)
	var refs []docref.Ref
	for _, one := range all {
		refs = append(refs, one.Ref)
	}
	return refs
}

// values are the values of as many fields as there may be, all the same.
func values(value string) (all [MostPolicies][]byte) {
	for i := range all {
		if value != "" {
			all[i] = []byte(value)
		}
	}
	return all
}

func TestOrders(t *testing.T) {
	documents := []placed{
		{0, Document{Length: 5, Values: values("2"), Source: "b"}},
		{1, Document{Length: math.MaxUint32, Values: values(""), Source: "c"}},
		{2, Document{Length: 0, Values: values("-3"), Source: "a/x"}},
		{3, Document{Length: 5, Values: values("2.0"), Source: "b/y"}},
		{1<<64 - 1, Document{Length: 9, Values: values("1e3"), Source: "a"}},
	}
	for _, c := range []struct {
		preference Preference
		want       []docref.Ref
	}{
		{First, []docref.Ref{0, 1, 2, 3, 1<<64 - 1}},
		{"", []docref.Ref{0, 1, 2, 3, 1<<64 - 1}},
		{Last, []docref.Ref{1<<64 - 1, 3, 2, 1, 0}},
		{"longest", []docref.Ref{1, 1<<64 - 1, 0, 3, 2}},
		{"shortest", []docref.Ref{2, 0, 3, 1<<64 - 1, 1}},
		{"max:score", []docref.Ref{1<<64 - 1, 0, 3, 2, 1}},
		{"min:score", []docref.Ref{2, 0, 3, 1<<64 - 1, 1}},
		{"rank:list", []docref.Ref{2, 1<<64 - 1, 0, 3, 1}},
		{"rank:list,last", []docref.Ref{1<<64 - 1, 2, 3, 0, 1}},
		{"shortest,max:score", []docref.Ref{2, 0, 3, 1<<64 - 1, 1}},
		{"rank:list,longest,min:score", []docref.Ref{1<<64 - 1, 2, 0, 3, 1}},
		{"max:score,shortest,last", []docref.Ref{1<<64 - 1, 3, 0, 2, 1}},
	} {
		if got := order(t, c.preference, "a\nb", documents); !slices.Equal(got, c.want) {
			t.Errorf("%s: %d, want %d", c.preference, got, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		preference     Preference
		field, ranking string
		ok             bool
	}{
		{"first", "", "", true},
		{"last", "", "", true},
		{"longest", "", "", true},
		{"shortest", "", "", true},
		{"max:a:b", "a:b", "", true},
		{"min:date", "date", "", true},
		{"rank:a:b.txt", "", "a:b.txt", true},
		{"max:a,min:b,longest", "a", "", true},
		{"rank:a.txt,max:b,last", "", "a.txt", true},
		{"max:a,first,longest", "a", "", false},
		{"max:a,rank:b", "a", "", false},
		{"max:a,", "a", "", false},
		{"max:a,min:b,max:c,longest", "a", "", false},
		{"", "", "", false},
		{"max", "", "", false},
		{"max:", "", "", false},
		{"rank:", "", "", false},
		{"best:x", "", "", false},
		{"First", "", "", false},
	} {
		if err := c.preference.Check(); (err == nil) != c.ok || c.preference.Field() != c.field ||
			c.preference.Ranking() != c.ranking {
			t.Errorf("%q: %v, field %q, ranking %q", c.preference, err, c.preference.Field(), c.preference.Ranking())
		}
	}
	for _, p := range []Preference{"best", "rank:list"} { // there is no list
		if _, err := NewOrder(p, nil); err == nil {
			t.Errorf("%s: no fault", p)
		}
	}
}

// TestPrioritiesOfNumbers: priorities are in the order of the numbers, whatever these are.
func TestPrioritiesOfNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	numbers := []float64{
		0, math.Copysign(0, -1), 1, -1, math.MaxFloat64, -math.MaxFloat64,
		math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64,
	}
	for len(numbers) < 400 {
		if x := math.Float64frombits(random.Uint64()); !math.IsNaN(x) && !math.IsInf(x, 0) {
			numbers = append(numbers, x, math.Nextafter(x, 0))
		}
	}
	priority := func(x float64, sign float64) Priority {
		return byValue([]byte(strconv.FormatFloat(x, 'g', -1, 64)), sign)
	}
	for _, a := range numbers {
		for _, b := range numbers {
			for _, sign := range []float64{1, -1} {
				x, y := priority(a, sign), priority(b, sign)
				if cmp.Compare(x, y) != cmp.Compare(sign*a+0, sign*b+0) || x == Unranked || x <= Leading {
					t.Fatalf("%g and %g times %g stand at %x and %x", a, b, sign, x, y)
				}
			}
		}
	}
}

func TestNumberOf(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		value string
		want  float64
	}{
		{"7", 7},
		{" -0.25\n", -.25},
		{"+1e3", 1000},
		{".5", .5},
		{"9007199254740993", 9007199254740992},
		{"00012", 12},
		{"1970-01-02", 86400},
		{"1970-02", 31 * 86400},
		{"1970-01-01T00:01", 60},
		{"1970-01-01 00:01Z", 60},
		{"1970-01-01T00:00:01.25Z", 1.25},
		{"1970-01-01t00:00:01,25z", 1.25},
		{"1970-01-01T02:00:00+01:00", 3600},
		{"1970-01-01T02:00:00-0100", 3 * 3600},
		{"1969-12-31T23:59:59", -1},
		{"2024-02-29", 1709164800},
		{"20240229", 20240229},
		{"", none},
		{" ", none},
		{"-", none},
		{"e", none},
		{"1e999", none},
		{"inf", none},
		{"NaN", none},
		{"0x1p4", none},
		{"1_000", none},
		{"1,5", none},
		{"2023-02-29", none},
		{"2024-13-01", none},
		{"2024-W05", none},
		{"Tue, 15 Nov 1994 12:45:26 GMT", none},
		{"true", none},
		{"3 stars", none},
	} {
		got, ok := numberOf([]byte(c.value))
		if ok != !math.IsNaN(c.want) || ok && got != c.want {
			t.Errorf("%q is %v, %v, want %v", c.value, got, ok, c.want)
		}
	}
	if _, ok := numberOf(nil); ok {
		t.Error("nothing is a number")
	}
}

func FuzzNumberOf(f *testing.F) {
	for _, value := range []string{"", "1", "-1e-3", "2024-01-02T03:04:05.6Z", "2024-01-02 03", "z2024"} {
		f.Add([]byte(value))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if number, ok := numberOf(value); ok && (math.IsNaN(number) || math.IsInf(number, 0)) {
			t.Errorf("%q is %g", value, number)
		}
		if priority := byValue(value, -1); priority <= Leading {
			t.Errorf("%q stands at %d", value, priority)
		}
	})
}

func TestRanks(t *testing.T) {
	ranks, err := ReadRanks(
		"\ufeff# best first\r\nBlog.example.org\r\n\r\nexample.org\nbooks/\n  books/old  \nexample.org\nhttps://a.org/b\nbooks\n12,Ranked.example\n")
	if err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]Priority{
		"Blog.example.org":                          1,
		"https://blog.example.org/x":                1,
		"http://USER@a.b.blog.EXAMPLE.org:8080?q#f": 1,
		"example.org":                               2,
		"example.org/page":                          2,
		"https://example.org":                       2,
		"ftp://www.example.org/":                    2,
		"books":                                     3,
		"books/a.jsonl":                             3,
		"books/new/a":                               3,
		"books/":                                    3,
		"books/old":                                 4,
		"books/old/a":                               4,
		"https://www.ranked.example/x":              8,
		"12,Ranked.example":                         Unranked,
		"Ranked.example":                            Unranked,
		"https://a.org/b":                           6,
		"https://a.org/b/c":                         6,
		"https://a.org/":                            Unranked,
		"https://notexample.org/":                   Unranked,
		"https://org/":                              Unranked,
		"blog.example.org":                          Unranked,
		"bookshop":                                  Unranked,
		"":                                          Unranked,
		"://":                                       Unranked,
		"https://[::1":                              Unranked,
		"/":                                         Unranked,
	} {
		if got := ranks.priority(source); got != want {
			t.Errorf("%q stands at %d, want %d", source, got, want)
		}
	}
	for _, list := range []string{"", "\n \n", "# a", strings.Repeat("x", 1<<17)} {
		if _, err := ReadRanks(list); err == nil {
			t.Errorf("%.20q: no fault", list)
		}
	}
}

func FuzzRanks(f *testing.F) {
	f.Add("a\nb.org", "https://b.org/x")
	f.Add("#\n/", "a/b/")
	f.Fuzz(func(t *testing.T, list, source string) {
		ranks, err := ReadRanks(list)
		if err != nil {
			return
		}
		if priority := ranks.priority(source); priority == Reference {
			t.Errorf("%q stands at %d", source, priority)
		}
	})
}
