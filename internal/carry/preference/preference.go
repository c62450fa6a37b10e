// Package preference says which documents of a cluster come first when the kept ones are chosen.
//
// Only the stage that reads documents knows the [Preference]. It gives each document a [Standing], a number that says how
// preferred the document is. All later stages compare standings and know nothing else.
package preference

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"mirrorbeam/internal/ground/docref"
)

// Preference is a choice of the user: one of the constants, or the beginning of a word and what it is about, such as
// "max:score", "min:date" or "rank:sources.txt".
type Preference string

const (
	// First prefers the first in document order, and Last the last one.
	First Preference = "first"
	Last  Preference = "last"
	// Longest prefers the longest text, and Shortest the shortest one.
	Longest  Preference = "longest"
	Shortest Preference = "shortest"
)

// The kinds of a Preference that is about a field or a file.
const (
	most  = "max"  // the largest value of a field
	least = "min"  // the smallest value of a field
	rank  = "rank" // the source that comes first in a file
)

// Preferences lists all of them. The name of a field or of a file follows the colon.
var Preferences = []Preference{First, Last, Longest, Shortest, most + ":", least + ":", rank + ":"}

// Field returns the field whose value counts; empty if none does.
func (p Preference) Field() string {
	if kind, field, _ := strings.Cut(string(p), ":"); kind == most || kind == least {
		return field
	}
	return ""
}

// Ranking returns the path of the list of preferred sources; empty if there is none.
func (p Preference) Ranking() string {
	if kind, path, _ := strings.Cut(string(p), ":"); kind == rank {
		return path
	}
	return ""
}

// Check returns an error that says what a Preference must be, or nil.
func (p Preference) Check() error {
	if p.Field() != "" || p.Ranking() != "" || slices.Contains(Preferences, p) && !strings.HasSuffix(string(p), ":") {
		return nil
	}
	return errors.New("must be first, last, longest, shortest, max:FIELD, min:FIELD or rank:FILE")
}

// Standing says how preferred a document is: of two documents the one with the smaller standing comes first, and of two
// with the same standing the first in document order.
type Standing uint64

const (
	// Reference is the standing of all documents of the reference. No other document has it.
	Reference Standing = 0
	// Unranked is the standing of a document to which the preference gives no place. No other document comes after it.
	Unranked Standing = math.MaxUint64

	// Leading is the smallest standing of a document that is not of the reference: of each, if the first documents are kept.
	Leading Standing = 1

	// byPlace is the standing of a document that comes before all earlier ones. The number of its file may change while its
	// sketch is kept, so [Standing.At] says what this comes to. No finite value has it.
	byPlace Standing = math.MaxUint64 - 1
)

// At returns what the standing of a document comes to, given the place of the document.
func (s Standing) At(ref docref.Ref) Standing {
	if s == byPlace {
		return max(^Standing(ref), Leading+1) - 1
	}
	return s
}

// Document is what the standing of a document of the input depends on.
type Document struct {
	// Length is the length of the text in bytes, below 2^32, or the number of the features.
	Length int64
	// Value is the value of the field, nil if there is none; see [Preference.Field].
	Value []byte
	// Source is the source of the document, for a list of preferred sources; see [Ranks].
	Source string
}

// Order returns the standing of a document of the input. [Standing.At] makes of it what is compared. It may be called by
// several goroutines.
type Order func(d *Document) Standing

// NewOrder returns the Order of a preference; an empty one is First. Ranks is the list of preferred sources, if
// there is one.
func NewOrder(p Preference, ranks *Ranks) (Order, error) {
	switch kind, _, _ := strings.Cut(string(p), ":"); {
	case p == First || p == "":
		return func(*Document) Standing { return Leading }, nil
	case p == Last:
		return func(*Document) Standing { return byPlace }, nil
	case p == Longest:
		return func(d *Document) Standing { return Leading + Standing(math.MaxUint32-min(d.Length, math.MaxUint32)) }, nil
	case p == Shortest:
		return func(d *Document) Standing { return Leading + Standing(d.Length) }, nil
	case kind == most:
		return func(d *Document) Standing { return byValue(d.Value, -1) }, nil
	case kind == least:
		return func(d *Document) Standing { return byValue(d.Value, 1) }, nil
	case kind == rank:
		if ranks == nil {
			return nil, fmt.Errorf("preference %s: there is no list of sources", p)
		}
		return func(d *Document) Standing { return ranks.standing(d.Source) }, nil
	}
	return nil, fmt.Errorf("preference %s: %w", p, p.Check())
}

// byValue returns the standing of a document by its value times a sign.
func byValue(value []byte, sign float64) Standing {
	number, ok := numberOf(value)
	if !ok {
		return Unranked
	}
	// The bits of a positive number ascend with it, and the bits of a negative one descend. Adding 0 turns -0 into 0. The
	// smallest and the largest results are of no finite number.
	bits := math.Float64bits(sign*number + 0)
	if bits>>63 == 0 {
		return Standing(bits | 1<<63)
	}
	return Standing(^bits)
}

// Ranked is a document with its standing.
type Ranked struct {
	Ref      docref.Ref
	Standing Standing
}

// Compare returns a negative number if r is preferred to other, a positive one if other is preferred to r, and 0 if they
// are the same document.
func (r Ranked) Compare(other Ranked) int {
	return cmp.Or(cmp.Compare(r.Standing, other.Standing), cmp.Compare(r.Ref, other.Ref))
}

// layouts are the dates and times that are understood, as ISO 8601 writes them. Seconds may have a fraction. A time
// without a zone is taken for UTC.
var layouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04",
	"2006-01-02", "2006-01",
}

// numberOf returns the number that a value stands for: a finite number, or a date or time as the seconds since 1970.
func numberOf(value []byte) (number float64, ok bool) {
	text := strings.TrimSpace(string(value))
	if text == "" {
		return 0, false
	}
	if strings.Trim(text, "0123456789+-.eE") == "" { // no "inf" and no hexadecimal digits
		if number, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(number, 0) {
			return number, true
		}
	}
	return secondsOf(text)
}

// Seconds returns the seconds since 1970 of a date or time, as ISO 8601 writes it, and whether the value is one.
func Seconds(value []byte) (int64, bool) {
	seconds, ok := secondsOf(strings.TrimSpace(string(value)))
	return int64(math.Floor(seconds)), ok
}

func secondsOf(text string) (seconds float64, ok bool) {
	const date = len("2006-01-02")
	if len(text) > date && (text[date] == ' ' || text[date] == 't') {
		text = text[:date] + "T" + text[date+1:]
	}
	text = strings.Replace(text, "z", "Z", 1)
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return float64(at.Unix()) + float64(at.Nanosecond())/1e9, true
		}
	}
	return 0, false
}

// Ranks is a list of sources, the most preferred first. A source matches the line that is equal to it, or else the
// longest line that is the beginning of its path: the line books matches books/a.jsonl. The source
// https://en.example.org/page, which is an address, matches the lines en.example.org and example.org, too. A line may
// have a rank and a comma in front, as lists of sites have: such a line matches addresses only.
type Ranks struct {
	lines map[string]Standing
	sites map[string]Standing // the lines in lower case
}

// ReadRanks reads a list, one source a line. Lines that are empty or begin with # are left out. Of equal lines the first
// one counts. A list without a source is an error.
func ReadRanks(list string) (*Ranks, error) {
	r := &Ranks{lines: map[string]Standing{}, sites: make(map[string]Standing, strings.Count(list, "\n"))}
	return r, eachSource(list, func(line string, standing Standing) {
		if rank, domain, has := strings.Cut(line, ","); has && strings.Trim(rank, "0123456789") == "" {
			enter(r.sites, strings.ToLower(domain), standing) // such lists are long
		} else {
			enter(r.lines, strings.TrimSuffix(line, "/"), standing)
			enter(r.sites, strings.ToLower(line), standing)
		}
	})
}

// CheckRanks returns an error unless [ReadRanks] can read a list. It takes no memory.
func CheckRanks(list string) error { return eachSource(list, func(string, Standing) {}) }

func eachSource(list string, visit func(line string, standing Standing)) error {
	scanner := bufio.NewScanner(strings.NewReader(strings.TrimPrefix(list, "\ufeff")))
	standing := Leading
	for scanner.Scan() {
		if line := strings.TrimSpace(scanner.Text()); line != "" && line[0] != '#' {
			visit(line, standing)
			standing++
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("after %d sources: %w", standing-Leading, err)
	}
	if standing == Leading {
		return errors.New("it holds no source")
	}
	return nil
}

// enter enters a line unless it is there.
func enter(to map[string]Standing, line string, standing Standing) {
	if _, known := to[line]; !known {
		to[line] = standing
	}
}

// standing returns the standing of a source.
func (r *Ranks) standing(source string) Standing {
	for path := source; path != ""; {
		if standing, known := r.lines[path]; known {
			return standing
		}
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
	}
	if !strings.Contains(source, "://") {
		return Unranked
	}
	address, err := url.Parse(strings.TrimSpace(source))
	if err != nil {
		return Unranked
	}
	for site := strings.ToLower(address.Hostname()); site != ""; {
		if standing, known := r.sites[site]; known {
			return standing
		}
		_, site, _ = strings.Cut(site, ".")
	}
	return Unranked
}
