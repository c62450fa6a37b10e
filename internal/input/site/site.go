// Package site says to which site a page belongs. It makes addresses canonical, so that two copies of a page on one
// site have one address, and pages at the same place on two sites have the same path.
package site

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
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

// Address is the canonical address of a page.
type Address struct {
	// Host is the host in ASCII and lower case, without "www.", and with its port unless that is a default port.
	Host string
	// Path is empty or begins with a slash. It ends with one if the page stands for a folder. Behind it may stand a
	// question mark and a query.
	Path string
}

func (a Address) String() string { return "https://" + a.Host + a.Path }

// opaque are schemes whose addresses name no page of a site.
var opaque = []string{"about", "data", "dns", "file", "filedesc", "javascript", "mailto", "metadata", "urn", "whois"}

// names makes host names canonical. It is lenient: what people register and what browsers open is not all valid.
var names = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

// mostHostBytes is the length of the longest host: a name in the domain name system, and a port.
const mostHostBytes = 253 + len(":65535")

const mostBytes = 1 << 16

// IsOpaque reports whether a text is an address that names no page of a site, such as mailto:somebody.
func IsOpaque(text string) bool {
	scheme, _, _ := strings.Cut(strings.TrimSpace(text[:min(len(text), mostBytes)]), ":")
	return slices.Contains(opaque, strings.ToLower(scheme))
}

// Parse returns the canonical form of an address. The scheme may be missing, as in example.org/page. So NAME:PATH,
// where NAME has no slash, stands for the path on a host of that name, and a path stands for what is below a host with
// the name of its first folder. A number is no host then, nor is true, false or null. It returns false if the text is
// no such address, or longer than 64 KiB.
func Parse(text string) (Address, bool) {
	if len(text) > mostBytes {
		return Address{}, false
	}
	text = strings.TrimSpace(text)
	scheme, rest, has := cutScheme(text)
	if has && slices.Contains(opaque, scheme) {
		return Address{}, false
	}
	end := len(rest)
	if at := strings.IndexAny(rest, `/\?#`); at >= 0 {
		end = at
	}
	authority, path := rest[:end], rest[end:]
	if !has {
		name, below, isPair := strings.Cut(authority, ":")
		if isPair && slices.Contains(opaque, strings.ToLower(name)) {
			return Address{}, false
		}
		if isPair && !isPort(below) && !strings.ContainsAny(authority, "[@") {
			authority, path = name, "/"+below+path
		}
	}
	host, ok := hostOf(authority)
	return Address{host, pathOf(path)}, ok && (has || !isNumber(authority) && !slices.Contains(literals, text))
}

// literals are the values of JSON that are neither texts nor numbers.
var literals = []string{"true", "false", "null"}

// isNumber reports whether an authority without a scheme is a number, and no address of the internet protocol in its
// usual form. With a scheme browsers take it for an address.
func isNumber(authority string) bool {
	host, _, _ := strings.Cut(authority, ":")
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() ||
		strings.Trim(host[:min(len(host), 1)], "+-.0123456789") != "" {
		return false
	}
	_, isFour := ipOf(strings.ToLower(host))
	_, err := strconv.ParseFloat(host, 64)
	return isFour || err == nil
}

// cutScheme cuts the scheme, in lower case, and the two slashes off an address that has them.
func cutScheme(text string) (scheme, rest string, has bool) {
	scheme, rest, has = strings.Cut(text, "://")
	if has && strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == "" {
		return strings.ToLower(scheme), rest, true
	}
	if rest, has = strings.CutPrefix(text, "//"); has {
		return "", rest, true
	}
	return "", text, false
}

func isPort(text string) bool { return strings.Trim(text, "0123456789") == "" }

func hostOf(authority string) (string, bool) {
	authority = authority[strings.LastIndexByte(authority, '@')+1:] // without a user's name
	host, port := authority, ""
	if at := strings.LastIndexByte(authority, ':'); at >= 0 && !strings.HasSuffix(authority, "]") {
		host, port = authority[:at], authority[at+1:]
	}
	if port != "" {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || number == 0 {
			return "", false
		}
		if port = strconv.FormatUint(number, 10); port == "80" || port == "443" {
			port = ""
		}
	}
	host, ok := canonicalHost(host)
	if ok && port != "" {
		host += ":" + port
	}
	return host, ok && len(host) <= mostHostBytes
}

func canonicalHost(host string) (string, bool) {
	if inner, isSix := strings.CutPrefix(host, "["); isSix {
		ip, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || ip.Zone() != "" || !ip.Is6() {
			return "", false
		}
		return "[" + ip.String() + "]", true
	}
	host, err := url.PathUnescape(host)
	if err != nil {
		return "", false
	}
	ascii, err := names.ToASCII(host)
	if err != nil { // of some letters only the small one may stand in a name
		host = strings.ToLower(host)
		ascii, err = names.ToASCII(host)
	}
	if err == nil {
		host = ascii
	}
	host = strings.Trim(strings.ToLower(host), ".")
	for {
		bare, has := strings.CutPrefix(host, "www.")
		if !has || !strings.Contains(bare, ".") {
			break
		}
		host = bare
	}
	if ip, isFour := ipOf(host); isFour {
		return ip, true
	}
	isBad := func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == 0xfffd || strings.ContainsRune(`"%/:<>?@[\]^|`+"`", r)
	}
	return host, strings.IndexFunc(host, isBad) < 0 && hasLabels(host)
}

// hasLabels reports whether a canonical host, which is no IP address, has labels that a name can have. The last one is
// no number, or browsers take the host for an address. Punycode can be decoded. Nobody can register a domain with a
// hyphen at an end; below it the domain's owner can have such names, and underscores.
func hasLabels(host string) bool {
	labels, isAtEdge := strings.Split(host, "."), false
	for _, label := range labels {
		if label == "" {
			return false
		}
		isAtEdge = isAtEdge || label[0] == '-' || label[len(label)-1] == '-'
		if !strings.HasPrefix(label, "xn--") {
			continue
		}
		if text, err := names.ToUnicode(label); err != nil || text == "" {
			return false
		}
	}
	last := labels[len(labels)-1]
	if digits, isHex := strings.CutPrefix(last, "0x"); strings.Trim(last, "0123456789") == "" ||
		isHex && strings.Trim(digits, "0123456789abcdef") == "" {
		return false
	}
	if !isAtEdge {
		return true
	}
	registered, _, _ := strings.Cut(Registered(host), ".")
	return registered[0] != '-' && registered[len(registered)-1] != '-'
}

// ipOf returns the usual form of an address of the internet protocol, version 4, in any of the forms that browsers
// take: one to four numbers, each decimal, octal or hexadecimal, the last of which fills all bytes that are left.
func ipOf(host string) (string, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return "", false
	}
	whole := uint64(0)
	for i, part := range parts {
		base := 10
		switch {
		case strings.HasPrefix(part, "0x"):
			part, base = part[2:], 16
		case len(part) > 1 && part[0] == '0':
			part, base = part[1:], 8
		}
		n, err := strconv.ParseUint(part, base, 32)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if err != nil || n>>bits != 0 {
			return "", false
		}
		whole = whole<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(whole >> 24), byte(whole >> 16), byte(whole >> 8), byte(whole)}).String(), true
}

var indexes = []string{
	"index.html", "index.htm", "index.xhtml", "index.shtml", "index.php", "index.asp", "index.aspx", "index.jsp",
	"index.cgi",
	"default.html", "default.htm", "default.asp", "default.aspx",
}

// sessions are the names of parameters that tell visits apart, or ways to the page, and not pages.
var sessions = []string{
	"jsessionid", "phpsessid", "aspsessionid", "sessionid", "session_id", "sid", "cfid", "cftoken", "gclid", "fbclid",
	"msclkid",
}

func isOfSession(parameter string) bool {
	name, _, _ := strings.Cut(strings.ToLower(parameter), "=")
	return slices.Contains(sessions, name) || strings.HasPrefix(name, "utm_")
}

// pathOf returns the canonical form of what follows a host. It drops the fragment, what belongs to a session, and
// the name of a file that stands for its folder.
func pathOf(text string) string {
	text, _, _ = strings.Cut(text, "#")
	path, query, _ := strings.Cut(text, "?")
	var elements []string
	isFolder := true
	for element := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		element = withoutSession(escaped(element))
		switch element {
		case "", ".":
			isFolder = true
		case "..":
			elements, isFolder = elements[:max(len(elements)-1, 0)], true
		default:
			elements, isFolder = append(elements, element), false
		}
	}
	if n := len(elements); n > 0 && !isFolder && slices.Contains(indexes, strings.ToLower(elements[n-1])) {
		elements, isFolder = elements[:n-1], true
	}
	var b strings.Builder
	for _, element := range elements {
		b.WriteString("/" + element)
	}
	if isFolder && len(elements) > 0 {
		b.WriteString("/")
	}
	if parameters := parametersOf(query); parameters != "" {
		if len(elements) == 0 {
			b.WriteString("/")
		}
		b.WriteString("?" + parameters)
	}
	return b.String()
}

func withoutSession(element string) string {
	if !strings.Contains(element, ";") {
		return element
	}
	parts := strings.Split(element, ";")
	return strings.Join(append(parts[:1], slices.DeleteFunc(parts[1:], isOfSession)...), ";")
}

// parametersOf returns the parameters of a query in their alphabetic order, without parameters of a session.
func parametersOf(query string) string {
	var all []string
	for parameter := range strings.SplitSeq(query, "&") {
		if parameter = escaped(parameter); parameter != "" && !isOfSession(parameter) {
			all = append(all, parameter)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "&")
}

// unreserved are the characters that never need percent form.
const unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"

// escaped returns a text with only those characters in percent form that have to be: unreserved ones stand for
// themselves, and other bytes that were in percent form stay so, in capitals. White space and controls get that form.
func escaped(text string) string {
	var b []byte
	for i := 0; i < len(text); i++ {
		c, isPlain := text[i], text[i] > ' ' && text[i] != 0x7f && text[i] != '%'
		if c == '%' && i+2 < len(text) {
			if code, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				c, isPlain = byte(code), strings.IndexByte(unreserved, byte(code)) >= 0
				i += 2
			}
		}
		if isPlain {
			b = append(b, c)
		} else {
			b = fmt.Appendf(b, "%%%02X", c)
		}
	}
	return string(b)
}
