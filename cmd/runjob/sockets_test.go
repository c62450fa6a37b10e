package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestNoSockets looks at what each command has open for as long as it runs: it never
// has a socket, so nobody can reach it, from this machine or another. Prism, whose
// server would be open to all, is not part of the program.
func TestNoSockets(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc: open files of another process cannot be listed")
	}
	s := newScene(t)
	s.write("in.jsonl", randomCorpus(30_000))
	s.write("truth.tsv", []byte("1\t2\n"))
	s.write("more.jsonl", randomCorpus(3_000))
	for _, args := range [][]string{
		jobArgs([]string{"--emit", "clusters,pairs,index"}),
		{"plan", "--input", "in.jsonl"},
		{"eval", "--truth", "truth.tsv", "--output", "out"},
		{"query", "--index", "out", "--input", "more.jsonl"},
		{"demo", "--output", "demo"},
	} {
		t.Run(args[0], func(t *testing.T) {
			j := s.command("runjob", args...)
			if err := j.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			go func() { ended <- j.Wait() }()
			looks := 0
			for {
				select {
				case err := <-ended:
					if err != nil || looks == 0 {
						t.Errorf("%v after %d looks: %s", err, looks, &j.stderr)
					}
					return
				case <-time.After(time.Millisecond):
					looks++
					for _, socket := range sockets(j.Process.Pid) {
						t.Fatalf("%s has %s open", args[0], socket)
					}
				}
			}
		})
	}
	linked, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.Lines(string(linked)) {
		if strings.Contains(name, "/runners/prism") {
			t.Errorf("the program holds %s", name)
		}
	}
}

// sockets returns the sockets that a process has open.
func sockets(pid int) (found []string) {
	open, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "fd", "*"))
	for _, name := range open {
		// One that is closed meanwhile is none.
		if target, _ := os.Readlink(name); strings.HasPrefix(target, "socket:") {
			found = append(found, target)
		}
	}
	return found
}
