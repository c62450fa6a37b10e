package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"mirrorbeam.dev/pipeline/dataflow/dataflowtest"
)

// watched is a command whose sockets are looked at for as long as it runs.
type watched struct {
	args []string
	// calls says that the command talks to an engine. Then it may call somebody, and still nobody can call it.
	calls bool
	// end ends a command that goes on until somebody does.
	end func()
}

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
	for _, calls := range []bool{false, true} {
		if len(reachable(t, os.Getpid(), calls)) == 0 {
			t.Fatal("the test does not see a socket of its own")
		}
	}
	listener.Close()
	server := dataflowtest.Start(t)
	server.Run()
	s := newScene(t)
	s.write("in.jsonl", randomCorpus(30_000))
	s.write("pages.jsonl",
		bytes.ReplaceAll(randomCorpus(30_000), []byte(`"id":"`), []byte(`"url":"http://site.example/`)))
	s.write("truth.tsv", []byte("1\t2\n"))
	s.write("ours.txt", []byte("example.org\n"))
	s.write("names.txt", []byte("examp1e.org\n"))
	s.write("more.jsonl", randomCorpus(3_000))
	index := s.command("runjob", "run", "--input", "in.jsonl", "--output", "earlier", "--emit", "clusters,pairs",
		"--state", "asked")
	for _, j := range []*started{index, onDataflow(s, server, 300, "--async")} {
		if err := j.Run(); err != nil {
			t.Fatalf("%v: %s", err, &j.stderr)
		}
	}
	engine := startEngine(t)
	commands := []watched{
		{args: jobArgs(nil)},
		{args: []string{"plan", "--input", "in.jsonl"}},
		{args: []string{"eval", "earlier", "--truth", "truth.tsv"}},
		{args: []string{"query", "--state", "asked", "--input", "more.jsonl"}},
		{args: []string{"demo", "--output", "demo"}},
		{args: []string{
			"run", "--input", "in.jsonl", "--output", "results", "--state", "state", "--metrics-file",
			"run.prom",
		}},
		{args: []string{"mirrors", "--input", "pages.jsonl", "--output", "mirrors"}},
		{args: []string{
			"decontaminate", "--input", "in.jsonl", "--reference", "more.jsonl", "--output", "clean",
		}},
		{args: []string{"names", "--protected", "ours.txt", "--input", "names.txt"}},
		{args: []string{"show", "earlier"}},
		{args: []string{"explain", "earlier", "0", "1"}},
		{args: []string{"report", "earlier"}},
		{args: []string{"recut", "earlier", "--output", "again"}},
		{args: []string{"state", "show", "state"}},
		{args: []string{"state", "acknowledge", "state"}},
		{args: []string{"state", "verify", "state"}},
		{args: []string{"state", "prune", "state"}},
		{args: []string{"state", "compact", "state"}},
		{args: []string{"config", "--input", "in.jsonl"}},
		{args: []string{"sketch", "--kind", "minhash", "--records", "in.jsonl"}},
		{args: []string{"bench", "kernels", "--documents", "200"}},
		{args: []string{"schema"}},
		{args: []string{"version"}},
		{args: []string{"completion", "bash"}},
		{args: []string{"man"}},
		{args: []string{"values", "run", "--preset"}},
		{args: []string{"finish", folder + "/out"}, calls: true},
		{
			args:  []string{"worker", "--id", "w", "--control", engine.address, "--logging", engine.address},
			calls: true,
			end: func() {
				next(t, "the worker's call", engine.came)
				engine.server.Stop()
			},
		},
	}
	for _, c := range commands {
		t.Run(strings.Join(c.args[:min(2, len(c.args))], " "), func(t *testing.T) { c.look(t, s) })
	}
	checkAllWatched(t, commands)
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

// look runs the command and looks at its sockets until it ends.
func (c *watched) look(t *testing.T, s *scene) {
	j := s.command("runjob", c.args...)
	stdin, err := j.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close() // a worker ends when its pool does
	if err := j.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- j.Wait() }()
	if c.end != nil {
		c.end()
	}
	for looks := 0; ; looks++ {
		select {
		case err := <-ended:
			if err != nil && c.end == nil || looks == 0 {
				t.Errorf("%v after %d looks: %s", err, looks, &j.stderr)
			}
			return
		case <-time.After(time.Millisecond):
			if open := reachable(t, j.Process.Pid, c.calls); len(open) > 0 {
				t.Errorf("%q has open: %s", c.args, open)
				j.Process.Kill()
				<-ended
				return
			}
		}
	}
}

// checkAllWatched checks that all commands of the program are among those that are looked at. A worker pool listens,
// which it is for, but not to other machines unless the user says so.
func checkAllWatched(t *testing.T, commands []watched) {
	all, err := kong.New(newCommands())
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range all.Model.Leaves(false) {
		name := strings.TrimPrefix(leaf.Path(), "runjob ")
		if name == "explore" {
			continue // TestExplore looks at its one socket
		}
		if name == "worker-pool" {
			for _, flag := range leaf.Flags {
				if flag.Name == "listen" && !strings.HasPrefix(flag.Default, "localhost:") {
					t.Errorf("a worker pool listens at %q", flag.Default)
				}
			}
			continue
		}
		isWatched := slices.ContainsFunc(commands, func(c watched) bool {
			return strings.HasPrefix(strings.Join(c.args, " ")+" ", name+" ")
		})
		if !isWatched {
			t.Errorf("nobody looks at the sockets of 'runjob %s'", name)
		}
	}
}

// reachable returns the sockets of a process to which another process could send: network sockets, and local
// sockets that listen. If the process may call others, connections do not count.
func reachable(t *testing.T, pid int, calls bool) (found []string) {
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
			if len(fields) <= at || protocol == "unix" && fields[3] != listening ||
				calls && strings.HasPrefix(protocol, "tcp") && fields[3] != waiting {
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

// A socket that accepts connections has this flag in /proc/net/unix, and this state in /proc/net/tcp.
const (
	listening = "00010000"
	waiting   = "0A"
)

// processGone says that a process ended while its entry in /proc was read.
func processGone(err error) bool {
	return errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EINVAL)
}
