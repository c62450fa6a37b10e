package mirrors

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/input/site"
	"mirrorbeam.dev/internal/records"
)

type lists struct {
	ranks     func() map[nameHash]int64 // they are read when they are needed, since there may be millions
	protected map[string]bool
	allowed   map[[2]string]bool // a site, or "" for all, and its mirror
	digest    uint64             // of the list of protected sites
}

// nameHash is the first half of the SHA-256 of a site's name, so nobody can make a name that has another's rank.
type nameHash [16]byte

func hashOf(name string) nameHash {
	sum := sha256.Sum256([]byte(name))
	return nameHash(sum[:16])
}

// newLists reads lists. The list of ranks has been checked.
func newLists(rank, protected, allowed string) (l lists, err error) {
	l.ranks = sync.OnceValue(func() map[nameHash]int64 { return readRanks(rank) })
	l.digest = xxh3.HashString(protected)
	if l.protected, err = readProtected(protected); err == nil {
		l.allowed, err = readAllowed(allowed)
	}
	return l, err
}

// CheckRanks returns an error unless a list of ranks is usable. CheckProtected and CheckAllowed check other lists.
func CheckRanks(list string) error {
	sites := 0
	err := eachRank(list, func(string, int64) { sites++ })
	if err == nil && sites == 0 {
		err = errNoSite
	}
	return err
}

// CheckProtected returns an error if a line of a list protects nothing where sites are as a rule says.
func CheckProtected(list string, rule site.Rule) error {
	sites := 0
	err := lines(list, func(line string) error {
		name, err := nameOf(line)
		if err != nil {
			return err
		}
		sites++
		host, path, _ := strings.Cut(name, "/")
		switch domain := site.Registered(host); {
		case strings.ContainsAny(host, "*,"):
			return fmt.Errorf("%q protects nothing: write one site in a line, such as example.org, with all hosts below it",
				line)
		case path != "" && (rule == site.Host || rule == site.Domain):
			return fmt.Errorf("%q protects nothing: a site is a whole %s, so write %s", line, rule, host)
		case rule == site.Domain && domain != host:
			return fmt.Errorf("%q protects nothing: a site is a registered domain, so write %s", line, domain)
		}
		return nil
	})
	if err == nil && sites == 0 {
		err = errNoSite
	}
	return err
}

// Protected returns the hosts in a list of protected sites, in the order of the list.
func Protected(list string) (hosts []string, err error) {
	err = lines(list, func(line string) error {
		name, err := nameOf(line)
		if host := site.HostOf(name); err == nil && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
		return err
	})
	if err == nil && len(hosts) == 0 {
		err = errNoSite
	}
	return hosts, err
}

// Allowed returns whether a list of allowed mirrors allows a site to mirror an original.
func Allowed(list string) (func(original, mirror string) bool, error) {
	allowed, err := readAllowed(list)
	return (&lists{allowed: allowed}).allows, err
}

// CheckAllowed returns an error unless a list of allowed mirrors fits a list of protected sites; either may be empty.
func CheckAllowed(list, protected string) error {
	of, err := newLists("", protected, list)
	above := map[string]bool{"": true} // the names under which a line may mean a protected site
	for name := range of.protected {
		for entry := range entries(name) {
			above[entry] = true
		}
	}
	for _, line := range slices.SortedFunc(maps.Keys(of.allowed), func(a, b [2]string) int {
		return slices.Compare(a[:], b[:])
	}) {
		if original := line[0]; len(of.protected) > 0 && !above[original] && !of.isProtected(original) {
			return fmt.Errorf(
				"%s %s: %[1]s is not protected, so the line allows nothing: write the protected site first, "+
					"and its mirror behind it", original, line[1])
		}
	}
	return err
}

var errNoSite = errors.New("it contains no site")

// lines visits the lines of a list but empty ones and those with # in front. An error gets the number of its line.
func lines(list string, visit func(line string) error) error {
	scanner := bufio.NewScanner(strings.NewReader(strings.TrimPrefix(list, "\ufeff")))
	number := 0
	for scanner.Scan() {
		number++
		line := strings.TrimSpace(scanner.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := visit(line); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("line %d: %w", number+1, err)
	}
	return nil
}

// nameOf returns the canonical name of a site in a list: a host, or an address that begins with one.
func nameOf(text string) (string, error) {
	if isPlain(text) {
		return text, nil
	}
	address, ok := site.Parse(text)
	if !ok {
		return "", fmt.Errorf("%q is no site", text)
	}
	return strings.TrimSuffix(address.Host+address.Path, "/"), nil
}

// isPlain reports whether a name is a host in its canonical form for certain: of small letters, digits, dots and
// hyphens, with a dot within and a letter at its end, and without www.
func isPlain(name string) bool {
	last := byte('.')
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' && last != '.' && last != '-' ||
			c == '-' && last != '.') {
			return false
		}
		last = c
	}
	return len(name) > 4 && len(name) <= 253 && last >= 'a' && strings.Contains(name, ".") && name[:4] != "www." &&
		name[:4] != "xn--" &&
		!strings.Contains(name, ".xn--") && !strings.Contains(name, "0x")
}

// readRanks returns the ranks of a list that has been checked. Of several ranks of a site the first one counts.
func readRanks(list string) map[nameHash]int64 {
	ranks := make(map[nameHash]int64, strings.Count(list, "\n"))
	_ = eachRank(list, func(name string, rank int64) { // it has been checked
		hash := hashOf(name)
		if _, known := ranks[hash]; !known {
			ranks[hash] = rank
		}
	})
	return ranks
}

// eachRank visits the sites of a list. A line has a rank, a comma and a site, or a site whose rank is its place.
func eachRank(list string, visit func(name string, rank int64)) error {
	place := int64(0)
	return lines(list, func(line string) error {
		place++
		rank, name, has := strings.Cut(line, ",")
		number := place
		if !has {
			name = rank
		} else if n, err := strconv.ParseInt(strings.TrimSpace(rank), 10, 64); err == nil && n > 0 {
			number = n
		} else if place == 1 {
			return nil // the names of the columns
		} else {
			return fmt.Errorf("%q is no rank", rank)
		}
		name, _, _ = strings.Cut(name, ",") // further columns
		host, err := nameOf(name)
		if err == nil {
			visit(host, number)
		} else if !strings.ContainsAny(name, " \t/:") {
			return nil // a long list may have names that no site has
		}
		return err
	})
}

func readProtected(list string) (map[string]bool, error) {
	protected := map[string]bool{}
	err := lines(list, func(line string) error {
		name, err := nameOf(line)
		protected[name] = true
		return err
	})
	return protected, err
}

// readAllowed reads a list with a site and one of its mirrors in each line, or with a site that may mirror all others.
func readAllowed(list string) (map[[2]string]bool, error) {
	allowed := map[[2]string]bool{}
	err := lines(list, func(line string) error {
		words := strings.Fields(line)
		if len(words) > 2 {
			return fmt.Errorf("%q: must be a site and its mirror, or a mirror alone", line)
		}
		mirror, err := nameOf(words[len(words)-1])
		original := ""
		if len(words) == 2 && err == nil {
			original, err = nameOf(words[0])
		}
		allowed[[2]string{original, mirror}] = true
		return err
	})
	return allowed, err
}

// entries yields the names under which a site may be in a list: its own, its host's, and the domains above.
func entries(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if !yield(name) {
			return
		}
		for parent := range site.Parents(site.HostOf(name)) {
			if parent != name && !yield(parent) {
				return
			}
		}
	}
}

// rank returns the rank of a site, 0 if it has none.
func (l *lists) rank(name string) int64 {
	ranks := l.ranks()
	if len(ranks) == 0 {
		return 0
	}
	for entry := range entries(name) {
		if rank := ranks[hashOf(entry)]; rank > 0 {
			return rank
		}
	}
	return 0
}

// known remembers what the lists say of sites that a task sees again and again.
type known struct {
	lists *lists
	sites map[uint64]listed
}

type listed struct {
	isProtected bool
	rank        int64
}

func (l *lists) known() *known { return &known{l, map[uint64]listed{}} }

func (k *known) of(s *records.Site) listed {
	of, is := k.sites[s.Site]
	if !is {
		of = listed{k.lists.isProtected(s.Name), k.lists.rank(s.Name)}
		k.sites[s.Site] = of
	}
	return of
}

func (l *lists) isProtected(name string) bool {
	if len(l.protected) == 0 {
		return false
	}
	for entry := range entries(name) {
		if l.protected[entry] {
			return true
		}
	}
	return false
}

func (l *lists) allows(original, mirror string) bool {
	for entry := range entries(mirror) {
		if l.allowed[[2]string{"", entry}] {
			return true
		}
		for of := range entries(original) {
			if l.allowed[[2]string{of, entry}] {
				return true
			}
		}
	}
	return false
}
