// Package names finds names of sites that look like protected ones, in lists without pages.
package names

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	"golang.org/x/net/publicsuffix"

	"mirrorbeam.dev/internal/mirrors/lookalike"
)

// Least is the score from which on a name looks like another one.
const Least = 0.8

// Campaign is what looks like one protected name below one registered domain.
type Campaign struct {
	// Domain is the registered domain, whose owner can make any number of names.
	Domain    string `json:"domain"`
	Protected string `json:"protected"`
	// Kind, Score and Distance are of the best name, see [lookalike.Match].
	Kind     lookalike.Reason `json:"kind"`
	Score    float64          `json:"score"`
	Distance int              `json:"distance"`
	// Name is the name with the highest score, and First the first one. Names is how many there were.
	Name  string `json:"name"`
	First string `json:"first"`
	Names int64  `json:"names"`
}

// Reject is a line that has no name.
type Reject struct {
	Line   int64  `json:"line"`
	Text   string `json:"text"`
	Reason string `json:"reason"`
}

// Counts says what a [Finder] has read.
type Counts struct {
	Names, Rejected int64
	// Alike counts names that look like a protected one, Known the ones in campaigns known before, New new campaigns.
	Alike, Known, New int64
	FirstReject       Reject
}

// Finder adds up campaigns. It is for one goroutine.
type Finder struct {
	Counts
	// Allows says which names are nobody's campaign, and Rejects hears of lines without a name; nil: none, nobody.
	Allows  func(protected, name string) bool
	Rejects func(Reject) error

	write func(*Campaign) error
	index *lookalike.Index
	state []byte
	known map[uint64]bool // hashes of campaigns that are in the state
	found map[uint64]*Campaign
	order []*Campaign
	line  int64
}

// NewFinder returns a finder of names like protected ones, which writes new campaigns in the order of their first
// names. The state is what [Finder.State] has returned, or empty: its campaigns are known.
func NewFinder(protected []string, state []byte, write func(*Campaign) error) (*Finder, error) {
	f := &Finder{
		write: write,
		index: lookalike.NewIndex(protected),
		state: state,
		known: map[uint64]bool{},
		found: map[uint64]*Campaign{},
	}
	if len(state) == 0 {
		f.state = []byte(stateHead + "\n")
		return f, nil
	}
	head, rest, _ := strings.Cut(string(state), "\n")
	if head != stateHead {
		return nil, errors.New("it is no state of 'runjob names', or of another version: name another folder")
	}
	for line := range strings.Lines(rest) {
		if !strings.Contains(line, "\t") || !strings.HasSuffix(line, "\n") {
			return nil, errors.New("the state is damaged: take it back from a backup, or start with an empty folder")
		}
		f.known[xxh3.HashString(line)] = true
	}
	return f, nil
}

const stateHead = "# runjob names 1"

// State returns the state with the campaigns that have been written.
func (f *Finder) State() []byte { return f.state }

// mostCampaigns is how many campaigns are added up at once. With more they are written, and later names are known.
const mostCampaigns = 1 << 18

// Finish writes the campaigns that have not been written.
func (f *Finder) Finish() error {
	for _, c := range f.order {
		if err := f.write(c); err != nil {
			return err
		}
		line := c.line()
		f.known[xxh3.HashString(line)] = true
		f.state = append(f.state, line...)
	}
	f.order = f.order[:0]
	clear(f.found)
	return nil
}

// line is the line of the state that says that a campaign is known.
func (c *Campaign) line() string { return c.Domain + "\t" + c.Protected + "\n" }

// mostLine is the length of the longest line that is looked at.
const mostLine = 64 << 10

// Read reads a list: in each line a name, perhaps with more behind white space or a comma.
func (f *Finder) Read(list io.Reader) error {
	lines := bufio.NewReaderSize(list, mostLine)
	f.line = 0
	for {
		line, err := lines.ReadSlice('\n')
		f.line++
		if err == bufio.ErrBufferFull {
			if err = f.reject(line, "the line is longer than 64 KiB"); err != nil {
				return err
			}
			for err = bufio.ErrBufferFull; err == bufio.ErrBufferFull; {
				_, err = lines.ReadSlice('\n')
			}
		} else if fault := f.add(line); fault != nil {
			return fault
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (f *Finder) add(line []byte) error {
	text := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	if len(text) == 0 || text[0] == '#' || text[0] == ';' {
		return nil
	}
	if end := bytes.IndexAny(text, " \t,"); end >= 0 {
		text = text[:end]
	}
	name := strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(string(text)), "*."), ".")
	if reason := cmp.Or(either(!utf8.Valid(text), "it is not UTF-8"), faultOf(name)); reason != "" {
		return f.reject(text, reason)
	}
	f.Names++
	match, is := f.index.Find(name, Least)
	if !is || f.Allows != nil && f.Allows(match.Original, name) {
		return nil
	}
	f.Alike++
	domain, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		domain = name // below no public suffix
	}
	c := &Campaign{Domain: domain, Protected: match.Original, First: name}
	hash := xxh3.HashString(c.line())
	if f.known[hash] {
		f.Known++
		return nil
	}
	if f.found[hash] == nil {
		if len(f.order) == mostCampaigns {
			if err := f.Finish(); err != nil {
				return err
			}
		}
		f.New++
		f.found[hash], f.order = c, append(f.order, c)
	}
	c = f.found[hash]
	if c.Names++; match.Score > c.Score {
		c.Name, c.Kind, c.Score, c.Distance = name, match.Reason, match.Score, match.Distance
	}
	return nil
}

func (f *Finder) reject(line []byte, reason string) error {
	const shown = 80
	r := Reject{Line: f.line, Text: strings.ToValidUTF8(string(line[:min(len(line), shown)]), "\ufffd"), Reason: reason}
	if f.Rejected++; f.Rejected == 1 {
		f.FirstReject = r
	}
	if f.Rejects == nil {
		return nil
	}
	return f.Rejects(r)
}

// faultOf says why a text is no name of a site, in lower case; nothing if it is one.
func faultOf(name string) string {
	const longest, longestLabel = 253, 63
	last, start, letters := byte('.'), 0, false
	for i := range len(name) {
		switch c := name[i]; {
		case c == '.':
			if i == start || i-start > longestLabel {
				return "it has a label without characters, or of more than 63"
			}
			start = i + 1
		case c >= 'a' && c <= 'z', c >= utf8.RuneSelf:
			letters = true
		case c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return "it has a character that is in no name"
		}
		last = name[i]
	}
	return cmp.Or(
		either(len(name) > longest || len(name)-start > longestLabel, "it is too long"),
		either(start == 0 || last == '.', "it is no name below a top-level domain"),
		either(!letters, "it is an address of the internet protocol"))
}

func either(is bool, reason string) string {
	if is {
		return reason
	}
	return ""
}
