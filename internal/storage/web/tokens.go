package web

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// tokens finds what a host wants to know of who asks: in ~/.netrc, and for the hub in its own places. The zero tokens
// is ready for use.
type tokens struct {
	once   sync.Once
	logins map[string]login // by host; "" is of all others
	fault  error
	hub    string // token of the hub, may be empty
}

type login struct{ name, password string }

func (t *tokens) authorize(request *http.Request) error {
	t.once.Do(t.find)
	if request.URL.Host == hubAddress().Host {
		if t.hub != "" {
			request.Header.Set("Authorization", "Bearer "+t.hub)
		}
		return nil
	}
	if request.URL.Scheme != "https" {
		return nil
	}
	found, known := t.logins[request.URL.Hostname()]
	if !known {
		found, known = t.logins[""]
	}
	if known {
		request.SetBasicAuth(found.name, found.password)
	}
	return t.fault
}

func (t *tokens) find() {
	t.hub = hubToken()
	named := os.Getenv("NETRC")
	path := named
	if home, err := os.UserHomeDir(); path == "" && err == nil {
		path = filepath.Join(home, ".netrc")
	}
	content, err := os.ReadFile(path)
	switch {
	case err == nil:
		t.logins = parseNetrc(string(content))
	case named != "" || !errors.Is(err, fs.ErrNotExist):
		t.fault = fmt.Errorf("find the tokens of hosts: %w", err)
	}
}

// parseNetrc returns the logins of a netrc file. The first one of a host counts. Macros are passed over.
func parseNetrc(content string) map[string]login {
	logins := map[string]login{}
	host, current, isOpen, inMacro := "", login{}, false, false
	keep := func() {
		if _, known := logins[host]; isOpen && !known {
			logins[host] = current
		}
		current = login{}
	}
	for line := range strings.Lines(content) {
		words := strings.Fields(line)
		if inMacro = inMacro && len(words) > 0; inMacro {
			continue
		}
		for i := 0; i < len(words); i++ {
			if strings.HasPrefix(words[i], "#") {
				break
			}
			value := ""
			if i+1 < len(words) {
				value = strings.Trim(words[i+1], `"`)
			}
			switch words[i] {
			case "default":
				keep()
				host, isOpen = "", true
				continue
			case "machine":
				keep()
				host, isOpen = value, value != ""
			case "login":
				current.name = value
			case "password":
				current.password = value
			case "macdef":
				inMacro = true
			}
			i++
		}
	}
	keep()
	return logins
}

// hubToken returns the token of the hub, from where its own programs have it.
func hubToken() string {
	if token := strings.TrimSpace(cmp.Or(os.Getenv("HF_TOKEN"), os.Getenv("HUGGING_FACE_HUB_TOKEN"))); token != "" {
		return token
	}
	home, _ := os.UserHomeDir()
	cache := cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache"))
	folder := cmp.Or(os.Getenv("HF_HOME"), filepath.Join(cache, "huggingface"))
	// without it requests are anonymous
	content, _ := os.ReadFile(cmp.Or(os.Getenv("HF_TOKEN_PATH"), filepath.Join(folder, "token")))
	return strings.TrimSpace(string(content))
}
