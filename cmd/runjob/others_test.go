package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestOthers: what another user has left under the name of a file that is to be written is not followed, whatever it
// is.
func TestOthers(t *testing.T) {
	const nobody = 65534
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	victim := at("victim")
	err := errors.Join(os.Mkdir(at("tmp"), 0o700), os.Chmod(at("tmp"), fs.ModeSticky|0o777),
		os.Mkdir(at("open"), 0o700), os.Chmod(at("open"), 0o777),
		os.WriteFile(victim, nil, 0o600), os.Symlink(victim, at("tmp/link")), os.Lchown(at("tmp/link"), nobody, -1),
		os.WriteFile(at("tmp/file"), nil, 0o666), os.Chown(at("tmp/file"), nobody, -1),
		os.Symlink(victim, at("tmp/own")))
	if err != nil {
		t.Fatal(err)
	}
	for name, refused := range map[string]bool{
		"tmp/link": true,
		"tmp/file": true,
		"open/new": true,
		"tmp/own":  false,
		"tmp/new":  false,
	} {
		t.Run(name, func(t *testing.T) {
			w, queried := createOutput(at(name))
			if queried == nil {
				w.Abort()
			}
			for what, err := range map[string]error{
				"matches":            queried,
				"metrics":            checkMetricsFile(at(name)),
				"metrics at the end": writeMetrics(at(name), ending{at: time.Now()}),
			} {
				if (err != nil) != refused ||
					refused &&
						(!strings.Contains(err.Error(), at(name)) ||
							!strings.HasSuffix(err.Error(), ": name a file in a folder of your own")) {
					t.Errorf("%s in %s: %v", what, name, err)
				}
			}
		})
	}
	if content, err := os.ReadFile(victim); err != nil || len(content) > 0 {
		t.Errorf("the file behind the link holds %q, %v", content, err)
	}
}
