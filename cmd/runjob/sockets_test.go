package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNoSockets looks at what each command has open for as long as it runs: it never
// has a network socket or one that listens, so nobody can reach it, from this machine or
// another. (The C library asks the name service of the machine who the user is, over a
// UNIX socket of a moment. That one calls and does not listen.) Prism, whose server
// would be open to all, is not part of the program.
func TestNoSockets(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc: open files of another process cannot be listed")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	seen := reachable(t, os.Getpid())
	listener.Close()
	if len(seen) == 0 {
		t.Fatal("the test does not see a socket of its own")
	}
	s := newScene(t)
	s.write("in.jsonl", randomCorpus(30_000))
	s.write("truth.tsv", []byte("1\t2\n"))
	s.write("more.jsonl", randomCorpus(3_000))
	index := s.command("runjob", "run", "--input", "in.jsonl", "--output", "earlier", "--emit", "clusters,pairs,index")
	if err := index.Run(); err != nil {
		t.Fatalf("%v: %s", err, &index.stderr)
	}
	for _, args := range [][]string{
		jobArgs(nil),
		{"plan", "--input", "in.jsonl"},
		{"eval", "--truth", "truth.tsv", "--output", "earlier"},
		{"query", "--index", "earlier", "--input", "more.jsonl"},
		{"demo", "--output", "demo"},
		{"run", "--input", "in.jsonl", "--output", "tonight", "--state", "state", "--metrics-file", "run.prom"},
		{"mirrors", "--input", "in.jsonl", "--output", "mirrors", "--url-field", "id"},
		{"report", "earlier"},
		{"state", "verify", "state"},
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
					if open := reachable(t, j.Process.Pid); len(open) > 0 {
						t.Errorf("%s has open: %s", args[0], open)
						j.Process.Kill()
						<-ended
						return
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

// reachable returns the sockets of a process to which another process could send: network sockets, and local
// sockets that listen.
func reachable(t *testing.T, pid int) (found []string) {
	process := filepath.Join("/proc", strconv.Itoa(pid))
	open, _ := filepath.Glob(filepath.Join(process, "fd", "*"))
	for _, name := range open {
		// A file that is closed meanwhile is not a socket.
		target, _ := os.Readlink(name)
		if number, is := strings.CutPrefix(target, "socket:["); is {
			found = append(found, strings.TrimSuffix(number, "]"))
		}
	}
	if len(found) == 0 {
		return nil
	}
	// The columns of the socket's number in /proc/net, as proc_pid_net(5) has them.
	column := map[string]int{"tcp": 9, "tcp6": 9, "udp": 9, "udp6": 9, "raw": 9, "raw6": 9, "unix": 6}
	listed := map[string]string{}
	for protocol, at := range column {
		table, err := os.ReadFile(filepath.Join(process, "net", protocol))
		if err != nil && !os.IsNotExist(err) && !processGone(err) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(table)) {
			fields := strings.Fields(line)
			if len(fields) <= at || protocol == "unix" && fields[3] != listening {
				continue
			}
			listed[fields[at]] = protocol + " socket " + fields[1]
		}
	}
	kept := found[:0]
	for _, number := range found {
		if what, is := listed[number]; is {
			kept = append(kept, what)
		}
	}
	return kept
}

// listening is the flag of a UNIX socket that accepts connections, in /proc/net/unix.
const listening = "00010000"

// processGone says that a process ended while its entry in /proc was read.
func processGone(err error) bool {
	return errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EINVAL)
}
