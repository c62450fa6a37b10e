// Package site says to which site a page belongs. It makes addresses canonical, so that two copies of a page on one
// site have one address, and pages at the same place on two sites have the same path.
package site

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Rule says what a site is: [Host], [Domain], or "prefix:" and a number of path elements.
type Rule string

const (
	Host Rule = "host"
	// Domain makes each registered domain a site: the public suffix and one label more, such as example.co.uk.
	Domain Rule = "domain"

	prefix = "prefix:" // the host and a number of elements of the path
)

const mostElements = 32

// Check returns an error that says what a Rule must be, or nil.
func (r Rule) Check() error {
	if r == Host || r == Domain || r.elements() >= 0 {
		return nil
	}
	return errors.New("must be host, domain or prefix:N, where N is a number of path elements from 0 to 32")
}

// elements returns the number of path elements in the name of a site, -1 if the rule does not say.
func (r Rule) elements() int {
	text, is := strings.CutPrefix(string(r), prefix)
	n, err := strconv.Atoi(text)
	if !is || err != nil || n < 0 || n > mostElements {
		return -1
	}
	return n
}

// Of returns the name of the site that a page belongs to, and its path on that site. The path has no slash at its ends.
// A rule that is not valid is taken for [Host].
func (r Rule) Of(page Address) (site, path string) {
	site, path = page.Host, strings.TrimPrefix(page.Path, "/")
	if r == Domain {
		site = Registered(page.Host)
	}
	// The last element is the page, unless a slash ends it.
	for range r.elements() {
		folder, rest, isFolder := strings.Cut(path, "/")
		if !isFolder || strings.Contains(folder, "?") {
			break
		}
		site, path = site+"/"+folder, rest
	}
	return site, strings.TrimSuffix(path, "/")
}

// HostOf returns the host of a site, without its port.
func HostOf(site string) string {
	host, _, _ := strings.Cut(site, "/")
	return withoutPort(host)
}

func withoutPort(host string) string {
	if at := strings.LastIndexByte(host, ':'); at >= 0 && !strings.HasSuffix(host, "]") {
		return host[:at]
	}
	return host
}

// Registered returns the registered domain of a canonical host. A host that has none, such as an address of the
// internet protocol or a public suffix, is its own.
func Registered(host string) string {
	name := withoutPort(host)
	if IsIP(name) {
		return name
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return name
	}
	return domain
}

// IsIP reports whether a canonical host, without its port, is an address of the internet protocol.
func IsIP(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}

// private are the last labels of hosts that no public suffix is for.
var private = []string{"example", "test", "invalid", "localhost", "local", "internal", "onion"}

// IsHostName reports whether a folder has the name of a host: below a public suffix or a name kept for examples, or an
// address of the internet protocol; with a port, perhaps, as mirroring programs write it.
func IsHostName(folder string) bool {
	host, _, _ := strings.Cut(strings.ToLower(folder), ":")
	host, _, _ = strings.Cut(host, "+")
	if IsIP(host) {
		return true
	}
	suffix, isPublic := publicsuffix.PublicSuffix(host)
	return suffix != host && !strings.ContainsAny(host, " %") && !strings.HasPrefix(host, ".") &&
		(isPublic || slices.Contains(private, suffix))
}

// Parents yields a canonical host without its port, and the domains above it, up to its registered domain.
func Parents(host string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		name, last := withoutPort(host), Registered(host)
		for yield(name) && name != last {
			_, above, has := strings.Cut(name, ".")
			if !has {
				return
			}
			name = above
		}
	}
}
