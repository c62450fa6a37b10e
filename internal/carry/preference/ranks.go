package preference

import (
	"bufio"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

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
	standing := leading
	for scanner.Scan() {
		if line := strings.TrimSpace(scanner.Text()); line != "" && line[0] != '#' {
			visit(line, standing)
			standing++
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("after %d sources: %w", standing-leading, err)
	}
	if standing == leading {
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
