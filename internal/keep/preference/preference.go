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
	"slices"
	"strconv"
	"strings"
	"time"

	"mirrorbeam.dev/internal/records/docref"
)

// Preference is a choice of the user: the name of a policy, and behind a colon what the policy needs, as in "longest",
// "max:score", "min:date" or "rank:sources.txt". Up to [MostPolicies] have commas between them; each decides where the
// ones before it do not, as in "max:stars,max:forks,longest".
type Preference string

// The preferences by document order.
const (
	First Preference = "first"
	Last  Preference = "last"
)

// Basis says what a policy depends on. Each basis includes the ones before it.
type Basis int

const (
	InOrder  Basis = iota // document order alone
	OfText                // the document
	OfField               // a field of its record, which the policy names
	OfSource              // its source, and a list of sources; see [Ranks]
)

// needs is what follows the colon of a policy.
var needs = [...]string{OfField: ":FIELD", OfSource: ":FILE"}

// policy is a way to prefer documents. It is declared by its line in policies, and nowhere else.
type policy struct {
	name  string
	basis Basis
	// lacks is what a document without a priority lacks; empty if each document has one.
	lacks string
	// help follows the name of the policy, in brackets; empty where the name says it all.
	help  string
	order func(d *Document, ranks *Ranks) Priority
}

const noNumber = "number or date in the field"

var policies = []policy{
	{"first", InOrder, "", "", func(*Document, *Ranks) Priority { return Leading }},
	{"last", InOrder, "", " (in document order)", func(*Document, *Ranks) Priority { return byPlace }},
	{"longest", OfText, "", "", func(d *Document, _ *Ranks) Priority {
		return Leading + Priority(math.MaxUint32-min(d.Length, math.MaxUint32))
	}},
	{"shortest", OfText, "", " (text)", func(d *Document, _ *Ranks) Priority { return Leading + Priority(d.Length) }},
	{"max", OfField, noNumber, "", func(d *Document, _ *Ranks) Priority { return byValue(d.value, -1) }},
	{"min", OfField, noNumber, " (a number, or a date as in ISO 8601)", func(d *Document, _ *Ranks) Priority {
		return byValue(d.value, 1)
	}},
	{
		"rank", OfSource, "source in the list",
		" (a list of sources or sites, one a line, the most preferred first; see --source-field)",
		func(d *Document, ranks *Ranks) Priority { return ranks.priority(d.Source) },
	},
}

// form is how a user gives the policy, as in max:FIELD.
func (p *policy) form() string { return p.name + needs[p.basis] }

// Help lists the policies as the help of a flag does.
func Help() string {
	var all []string
	for _, p := range policies {
		all = append(all, p.form()+p.help)
	}
	return strings.Join(all, ", ")
}

// Forms lists the policies of at most a basis, as in "first or last".
func Forms(most Basis) string {
	var forms []string
	for _, p := range policies {
		if p.basis <= most {
			forms = append(forms, p.form())
		}
	}
	last := len(forms) - 1
	return strings.Join(forms[:last], ", ") + " or " + forms[last]
}

// MostPolicies is the largest number of policies of a preference.
const MostPolicies = 1 + len(Ties{})

func (p Preference) parts() (parts []Preference) {
	for part := range strings.SplitSeq(string(p), ",") {
		parts = append(parts, Preference(part))
	}
	return parts
}

// policy returns the policy of a preference of one part and what follows its colon. If it is none, the policy has no
// order, and may depend on anything. An empty preference is [First].
func (p Preference) policy() (policy, string) {
	name, of, hasColon := strings.Cut(string(cmp.Or(p, First)), ":")
	for _, one := range policies {
		if one.name == name && hasColon == (needs[one.basis] != "") && hasColon == (of != "") {
			return one, of
		}
	}
	return policy{basis: OfSource}, ""
}

// Basis returns what a preference depends on.
func (p Preference) Basis() (basis Basis) {
	for _, part := range p.parts() {
		policy, _ := part.policy()
		basis = max(basis, policy.basis)
	}
	return basis
}

// Lacks returns what a document without a priority lacks, as in "source in the list"; empty if each document has one.
func (p Preference) Lacks() string {
	policy, _ := p.parts()[0].policy()
	return policy.lacks
}

// Field returns the field whose value decides first; empty if none does.
func (p Preference) Field() string { return p.Fields()[0] }

// Fields returns the field of each policy, empty for a policy without one.
func (p Preference) Fields() (fields []string) {
	for _, part := range p.parts() {
		policy, of := part.policy()
		if policy.basis != OfField {
			of = ""
		}
		fields = append(fields, of)
	}
	return fields
}

// Ranking returns the path of the list of preferred sources, which decides first; empty if there is none.
func (p Preference) Ranking() string {
	if policy, of := p.parts()[0].policy(); policy.basis == OfSource {
		return of
	}
	return ""
}

// WithRanking returns the preference with other text where it names the list of sources.
func (p Preference) WithRanking(list string) Preference {
	return Preference(strings.Replace(string(p), p.Ranking(), list, 1))
}

// Check returns an error that says what a Preference must be, or nil.
func (p Preference) Check() error {
	parts := p.parts()
	for i, part := range parts {
		policy, _ := part.policy()
		switch {
		case policy.order == nil || part == "":
			return fmt.Errorf("must be %s, or up to %d of them with commas between them", Forms(OfSource), MostPolicies)
		case policy.basis == InOrder && i+1 < len(parts):
			return fmt.Errorf("%s leaves nothing to decide for the policies behind it", part)
		case policy.basis == OfSource && i > 0:
			return fmt.Errorf("%s must be the first policy", part)
		}
	}
	if len(parts) > MostPolicies {
		return fmt.Errorf("has more than %d policies", MostPolicies)
	}
	return nil
}

// Priority says how preferred a document is: of two documents the one with the smaller priority comes first, and of two
// with the same priority the first in document order.
type Priority uint64

const (
	// Reference is the priority of all documents of the reference. No other document has it.
	Reference Priority = 0
	// Unranked is the priority of a document to which the preference gives no place. No other document comes after it.
	Unranked Priority = math.MaxUint64

	// Leading is the smallest priority of a document of the input: of all of them, if the first documents are kept.
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

// Ties decide between documents of equal priorities, as these do: they are the priorities by the policies behind the
// first one, 0 where there are none.
type Ties [2]Priority

// At returns what the ties of a document come to, given the place of the document.
func (t Ties) At(ref docref.Ref) Ties { return Ties{t[0].At(ref), t[1].At(ref)} }

// Document is what the priority of a document of the input depends on.
type Document struct {
	// Length is the length of the text in bytes, below 2^32, or the number of the features.
	Length int64
	// Values are the values of the fields, nil where there is none; see [Preference.Fields].
	Values [MostPolicies][]byte
	// Source is the source of the document, for a list of preferred sources; see [Ranks].
	Source string

	value []byte // of the field of the policy at hand
}

// Order returns the priority of a document, for [Priority.At], and its ties. Several goroutines may call it, each with
// a document of its own.
type Order func(d *Document) (Priority, Ties)

// NewOrder returns the Order of a preference; an empty one is First. Ranks may be nil if it needs none.
func NewOrder(p Preference, ranks *Ranks) (Order, error) {
	if err := p.Check(); err != nil && p != "" {
		return nil, fmt.Errorf("preference %s: %w", p, err)
	}
	if p.Ranking() != "" && ranks == nil {
		return nil, fmt.Errorf("preference %s: there is no list of sources", p)
	}
	var all []policy
	for _, part := range p.parts() {
		policy, _ := part.policy()
		all = append(all, policy)
	}
	return func(d *Document) (first Priority, ties Ties) {
		d.value = d.Values[0]
		first = all[0].order(d, ranks)
		for i, policy := range all[1:] {
			d.value = d.Values[i+1]
			ties[i] = policy.order(d, ranks)
		}
		return first, ties
	}, nil
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
	Ties     Ties
}

// Compare is negative if r is preferred to other, and 0 if they are the same document.
func (r Ranked) Compare(other Ranked) int {
	return cmp.Or(cmp.Compare(r.Priority, other.Priority), slices.Compare(r.Ties[:], other.Ties[:]),
		cmp.Compare(r.Ref, other.Ref))
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
