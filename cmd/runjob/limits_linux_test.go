package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLeastAddressSpace: the message of a refusal says which limit is enough, and with that limit the job
// runs.
func TestLeastAddressSpace(t *testing.T) {
	code, message := smallJob(t).limited("-v 2000000").ends()
	needed := regexp.MustCompile(`the command needs (\d+) kB`).FindStringSubmatch(message)
	if code != exitStorage || needed == nil {
		t.Fatalf("exit code %d: %s", code, message)
	}
	smallJob(t).limited("-v " + needed[1]).succeeds(2)
}

// TestLeastThreads: the same for threads. The system counts them for all processes of a user, except for
// root.
func TestLeastThreads(t *testing.T) {
	user := os.Getuid()
	if user == 0 {
		user = nobody
	}
	used := threadsOf(user)
	code, message := smallJob(t).withThreads(used + 12).ends()
	needed := regexp.MustCompile(`needs (\d+) including the running ones`).FindStringSubmatch(message)
	if code != exitStorage || needed == nil {
		t.Fatalf("exit code %d: %s", code, message)
	}
	var n uint64
	if _, err := fmt.Sscan(needed[1], &n); err != nil {
		t.Fatal(err)
	}
	smallJob(t).withThreads(n + 2).succeeds(2) // one more thread may run when the job counts
}

func smallJob(t *testing.T) *scene {
	s := newScene(t)
	s.write("in.jsonl", between(""))
	return s
}

// withThreads prepares the main job for a user with a limit of threads. It uses Bash, since not every shell
// can set that limit.
func (s *scene) withThreads(limit uint64) *started {
	s.t.Helper()
	j := s.unprivileged()
	bash, err := exec.LookPath("bash")
	if err != nil {
		s.t.Fatal(err)
	}
	j.Args = append([]string{bash, "-c", fmt.Sprintf(`ulimit -u %d && exec "$0" "$@"`, limit), j.Path}, j.Args[1:]...)
	j.Path = bash
	return j
}

func TestCheckGroups(t *testing.T) {
	root := t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a/pids.max", "10\n")
	write("a/pids.current", "3\n")
	write("a/b/pids.max", "max\n")
	write("wide/pids.max", "100000\n")
	write("pids/old/pids.max", "5\n")
	write("pids/old/pids.current", "4\n")
	for list, want := range map[string]string{
		"":                          "",
		"0::/\n":                    "",
		"0::/wide\n":                "",
		"0::/nowhere/at/all\n":      "",
		"4:memory:/a\n0::/wide\n":   "",
		"0::/a/b\n":                 "/a/pids.max",
		"8:pids:/old\n0::/\n":       "/pids/old/pids.max",
		"8:pids:/old\n4:memory:/\n": "/pids/old/pids.max",
	} {
		t.Run(list, func(t *testing.T) {
			err := checkGroups(root, list)
			if err == nil && want != "" ||
				err != nil && (want == "" || !strings.HasSuffix(err.Error(), "raise "+root+want)) {
				t.Errorf("%q: %v, want %q", list, err, want)
			}
		})
	}
}
