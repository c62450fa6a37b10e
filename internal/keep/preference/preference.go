// Package preference says which documents of a cluster come first when the kept ones are chosen.
//
// Only the stage that reads documents knows the [Preference]. It gives each document a [Priority], a number that says
// how preferred the document is. All later stages compare priorities and know nothing else.
package preference

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"mirrorbeam.dev/internal/records/docref"
)

// Preference is a choice of the user: the name of a policy, and behind a colon what the policy needs, as in "longest",
// "max:score", "min:date" or "rank:sources.txt".
type Preference string

// The preferences that need nothing but the documents.
const (
	First    Preference = "first"
	Last     Preference = "last"
	Longest  Preference = "longest"
	Shortest Preference = "shortest"
)

// What a policy needs behind its name.
const (
	field = "FIELD" // of a record
	file  = "FILE"  // a list of sources, see [Ranks]
)

// policy is a way to prefer documents. It is declared by its line in policies, and nowhere else.
type policy struct {
	name  string
	needs string
	// help is about the policy; empty where the name says it all.
	help  string
	order func(d *Document, ranks *Ranks) Priority
}

var policies = []policy{
	{"first", "", "", func(*Document, *Ranks) Priority { return Leading }},
	{"last", "", "in document order", func(*Document, *Ranks) Priority { return byPlace }},
	{"longest", "", "", func(d *Document, _ *Ranks) Priority {
		return Leading + Priority(math.MaxUint32-min(d.Length, math.MaxUint32))
	}},
	{"shortest", "", "text", func(d *Document, _ *Ranks) Priority { return Leading + Priority(d.Length) }},
	{"max", field, "", func(d *Document, _ *Ranks) Priority { return byValue(d.Value, -1) }},
	{"min", field, "a number, or a date as in ISO 8601", func(d *Document, _ *Ranks) Priority {
		return byValue(d.Value, 1)
	}},
	{
		"rank", file, "a list of sources or sites, one a line, the most preferred first; see --source-field",
		func(d *Document, ranks *Ranks) Priority { return ranks.priority(d.Source) },
	},
}

// form is how a user gives the policy, as in max:FIELD.
func (p *policy) form() string { return strings.TrimSuffix(p.name+":"+p.needs, ":") }

// Preferences lists all of them. The name of a field or of a file follows the colon.
func Preferences() []Preference {
	var all []Preference
	for _, p := range policies {
		all = append(all, Preference(strings.TrimSuffix(p.form(), p.needs)))
	}
	return all
}

// Help lists the policies as the help of a flag does.
func Help() string {
	var all []string
	for _, p := range policies {
		text := p.form()
		if p.help != "" {
			text += " (" + p.help + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// policy returns the policy of a preference and what follows its colon; nil if it is none. An empty preference is
// [First].
func (p Preference) policy() (*policy, string) {
	name, of, hasColon := strings.Cut(string(cmp.Or(p, First)), ":")
	for i := range policies {
		if one := &policies[i]; one.name == name && hasColon == (one.needs != "") && hasColon == (of != "") {
			return one, of
		}
	}
	return nil, ""
}

// behind returns what follows the colon of a policy that needs such a thing; empty if it needs another or nothing.
func (p Preference) behind(needed string) string {
	if policy, of := p.policy(); policy != nil && policy.needs == needed {
		return of
	}
	return ""
}

// Field returns the field whose value counts; empty if none does.
func (p Preference) Field() string { return p.behind(field) }

// Ranking returns the path of the list of preferred sources; empty if there is none.
func (p Preference) Ranking() string { return p.behind(file) }

// Check returns an error that says what a Preference must be, or nil.
func (p Preference) Check() error {
	if policy, _ := p.policy(); policy != nil && p != "" {
		return nil
	}
	var forms []string
	for _, one := range policies {
		forms = append(forms, one.form())
	}
	last := len(forms) - 1
	return errors.New("must be " + strings.Join(forms[:last], ", ") + " or " + forms[last])
}

// Priority says how preferred a document is: of two documents the one with the smaller priority comes first, and of two
// with the same priority the first in document order.
type Priority uint64

const (
	// Reference is the priority of all documents of the reference. No other document has it.
	Reference Priority = 0
	// Unranked is the priority of a document to which the preference gives no place. No other document comes after it.
	Unranked Priority = math.MaxUint64

	// Leading is the smallest priority of a document that is not of the reference: of each, if the first documents are
	// kept.
	Leading Priority = 1

	// byPlace is the priority of a document that comes before all earlier ones. The number of its file may change while
	// its sketch is kept, so [Priority.At] says what this comes to. No finite value has it.
	byPlace Priority = math.MaxUint64 - 1
)

// At returns what the priority of a document comes to, given the place of the document.
func (s Priority) At(ref docref.Ref) Priority {
	if s == byPlace {
		return max(^Priority(ref), Leading+1) - 1
	}
	return s
}

// Document is what the priority of a document of the input depends on.
type Document struct {
	// Length is the length of the text in bytes, below 2^32, or the number of the features.
	Length int64
	// Value is the value of the field, nil if there is none; see [Preference.Field].
	Value []byte
	// Source is the source of the document, for a list of preferred sources; see [Ranks].
	Source string
}

// Order returns the priority of a document, for [Priority.At]. Several goroutines may call it.
type Order func(d *Document) Priority

// NewOrder returns the Order of a preference; an empty one is First. Ranks may be nil if it needs none.
func NewOrder(p Preference, ranks *Ranks) (Order, error) {
	policy, _ := p.policy()
	switch {
	case policy == nil:
		return nil, fmt.Errorf("preference %s: %w", p, p.Check())
	case policy.needs == file && ranks == nil:
		return nil, fmt.Errorf("preference %s: there is no list of sources", p)
	}
	return func(d *Document) Priority { return policy.order(d, ranks) }, nil
}

// byValue returns the priority of a document by its value times a sign.
func byValue(value []byte, sign float64) Priority {
	number, ok := numberOf(value)
	if !ok {
		return Unranked
	}
	// The bits of a positive number ascend with it, and the bits of a negative one descend. Adding 0 turns -0 into 0.
	// The smallest and the largest results are of no finite number.
	bits := math.Float64bits(sign*number + 0)
	if bits>>63 == 0 {
		return Priority(bits | 1<<63)
	}
	return Priority(^bits)
}

// Ranked is a document with its priority.
type Ranked struct {
	Ref      docref.Ref
	Priority Priority
}

// Compare is negative if r is preferred to other, and 0 if they are the same document.
func (r Ranked) Compare(other Ranked) int {
	return cmp.Or(cmp.Compare(r.Priority, other.Priority), cmp.Compare(r.Ref, other.Ref))
}

// layouts are the dates and times of ISO 8601. Seconds may have a fraction. A time without a zone is UTC.
var layouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04",
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
	lines map[string]Priority
	sites map[string]Priority // the lines in lower case
}

// ReadRanks reads a list, one source a line. Lines that are empty or begin with # are left out. Of equal lines the
// first one counts. A list without a source is an error.
func ReadRanks(list string) (*Ranks, error) {
	r := &Ranks{lines: map[string]Priority{}, sites: make(map[string]Priority, strings.Count(list, "\n"))}
	return r, eachSource(list, func(line string, priority Priority) {
		if rank, domain, has := strings.Cut(line, ","); has && strings.Trim(rank, "0123456789") == "" {
			enter(r.sites, strings.ToLower(domain), priority) // such lists are long
		} else {
			enter(r.lines, strings.TrimSuffix(line, "/"), priority)
			enter(r.sites, strings.ToLower(line), priority)
		}
	})
}

// CheckRanks returns an error unless [ReadRanks] can read a list. It takes no memory.
func CheckRanks(list string) error { return eachSource(list, func(string, Priority) {}) }

func eachSource(list string, visit func(line string, priority Priority)) error {
	scanner := bufio.NewScanner(strings.NewReader(strings.TrimPrefix(list, "\ufeff")))
	priority := Leading
	for scanner.Scan() {
		if line := strings.TrimSpace(scanner.Text()); line != "" && line[0] != '#' {
			visit(line, priority)
			priority++
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("after %d sources: %w", priority-Leading, err)
	}
	if priority == Leading {
		return errors.New("it contains no source")
	}
	return nil
}

func enter(to map[string]Priority, line string, priority Priority) {
	if _, known := to[line]; !known {
		to[line] = priority
	}
}

func (r *Ranks) priority(source string) Priority {
	for path := source; path != ""; {
		if priority, known := r.lines[path]; known {
			return priority
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
		if priority, known := r.sites[site]; known {
			return priority
		}
		_, site, _ = strings.Cut(site, ".")
	}
	return Unranked
}
