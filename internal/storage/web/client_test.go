package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestPublic: only addresses that anybody reaches are public.
func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.215.14:443":           true,
		"[2606:2800:21f::1]:443":      true,
		"127.0.0.1:443":               false,
		"10.1.2.3:80":                 false,
		"169.254.169.254:80":          false,
		"192.168.0.1:1":               false,
		"100.100.100.200:80":          false,
		"0.0.0.0:80":                  false,
		"[::1]:80":                    false,
		"[fd00:ec2::254]:80":          false,
		"[fe80::1]:80":                false,
		"[::ffff:169.254.169.254]:80": false,
		"[64:ff9b::a9fe:a9fe]:80":     false,
		"168.63.129.16:80":            false,
		"168.63.129.17:80":            true,
		"192.0.0.192:80":              false,
		"198.18.0.1:80":               false,
		"[64:ff9b:1::a00:1]:80":       false,
		"[2001::1]:80":                false,
		"[2002:a00:1::]:80":           false,
		"[fec0::1]:80":                false,
		"no address":                  false,
	} {
		if got := isPublic(address); got != want {
			t.Errorf("isPublic(%q) = %v", address, got)
		}
	}
}

// TestPrivateAddresses: a client that a public server has led reaches no server of this network, and does not try
// again.
func TestPrivateAddresses(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	c := newClient(nil)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, isFar, err := c.send(t.Context(), request, false); err != nil || isFar {
		t.Errorf("a named server: far %v, %v", isFar, err)
	} else {
		got.Body.Close()
	}
	_, _, err = c.send(t.Context(), request, true)
	if !errors.Is(err, errPrivate) || c.Judge(unanswered{err}).Again {
		t.Errorf("a server that was led to: %v", err)
	}
}

// TestRetryAfter: the time for which a server wants to be left alone, in seconds or as a date.
func TestRetryAfter(t *testing.T) {
	for wait, want := range map[string][2]time.Duration{
		"7":    {7 * time.Second, 7 * time.Second},
		"":     {},
		"-1":   {},
		"soon": {},
		time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat): {},
		time.Now().Add(time.Hour).UTC().Format(http.TimeFormat):  {59 * time.Minute, time.Hour},
	} {
		got := newClient(nil).Judge(refuse(&http.Response{
			StatusCode: http.StatusTooManyRequests,
			Header:     http.Header{"Retry-After": {wait}},
		}))
		if !got.Again || got.Status != http.StatusTooManyRequests || got.After < want[0] || got.After > want[1] {
			t.Errorf("%q: %+v", wait, got)
		}
	}
}
