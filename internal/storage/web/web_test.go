package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/bucket"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/internal/storage/web"
)

// hasty are limits for tests: a server on this machine answers soon.
func hasty() bucket.Limits {
	limits := bucket.Usual()
	limits.Pause, limits.LongestPause = time.Millisecond, 10*time.Millisecond
	limits.Stall, limits.Answer, limits.Patience = 100*time.Millisecond, 200*time.Millisecond, 10*time.Second
	return limits
}

// alone sees to it that no token of this machine is sent.
func alone(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{
		"NETRC", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HOME",
		"XDG_CACHE_HOME", "HTTPS_PROXY", "HF_ENDPOINT",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", home)
}

// published is a storage that is read over the web, and written by those who run the server.
type published struct {
	storage.Storage
	web     *storagetest.Web
	address string // what the names begin with that the server has at its root
}

func (p published) own(name string) string {
	return storage.Join(p.web.Folder, strings.TrimPrefix(name, p.address+"/"))
}

func (p published) Create(name string, options storage.Options) (storage.Writer, error) {
	return p.web.Memory.Create(p.own(name), options)
}
func (p published) Copy(from, to string) error { return p.web.Memory.Copy(p.own(from), p.own(to)) }
func (p published) Remove(name string) error   { return p.web.Memory.Remove(p.own(name)) }
func (p published) Lease(name, holder string) (storage.Lease, error) {
	return p.web.Memory.Lease(p.own(name), holder)
}

func (p published) Reopen(info storage.Info) (storage.File, error) {
	return p.Storage.(storage.Reopener).Reopen(info)
}

// places returns what makes a place on a server of the web behind a proxy, and one on a hub.
func places(t *testing.T) (proxy *storagetest.Proxy, servers, hub func(*testing.T) storagetest.Place) {
	alone(t)
	files := storagetest.NewWeb(t)
	proxy = storagetest.NewProxy(t, files)
	host, roots := storagetest.Secure(t, proxy)
	t.Setenv("HF_ENDPOINT", proxy.URL)
	here, there, number := web.New(hasty(), roots), web.NewHub(hasty(), nil), 0
	servers = func(*testing.T) storagetest.Place {
		number++
		return storagetest.Place{
			Storage: published{here, files, "https://" + host},
			Folder:  fmt.Sprintf("https://%s/%d", host, number),
		}
	}
	hub = func(*testing.T) storagetest.Place {
		number++
		return storagetest.Place{
			Storage: published{there, files, "hf://datasets"},
			Folder:  fmt.Sprintf("hf://datasets/owner/name%d/a folder", number),
		}
	}
	return proxy, servers, hub
}

func TestConform(t *testing.T) {
	_, servers, hub := places(t)
	storagetest.ConformReading(t, servers)
	storagetest.Conform(t, hub)
}

// TestConformThroughFaults: every fifth request is hurt, and nobody sees it.
func TestConformThroughFaults(t *testing.T) {
	proxy, servers, hub := places(t)
	for seed := range uint64(1) {
		proxy.Hurt(5, seed)
		storagetest.ConformReading(t, servers)
		storagetest.Conform(t, hub)
	}
	t.Logf("hurt: %v", proxy.Hurts())
}

// TestLies: a server that breaks its word about a file is not believed.
func TestLies(t *testing.T) {
	proxy, servers, _ := places(t)
	storagetest.Lies(t, proxy, servers(t))
}
