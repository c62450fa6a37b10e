package main

import (
	"bufio"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestExplore: the page is served at the loopback and nowhere else, until a signal ends that, which is no failure.
func TestExplore(t *testing.T) {
	s := newScene(t)
	s.write("in.jsonl", randomCorpus(300))
	if j := s.command("runjob", "run", "--input", "in.jsonl", "--output", "out"); j.Run() != nil {
		t.Fatal(j.stderr.String())
	}
	j := s.command("runjob", "explore", "out")
	stdout, err := j.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err, j.stderr.String())
	}
	answer, err := http.Get(strings.TrimSpace(address))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("status %d", answer.StatusCode)
	}
	http.DefaultClient.CloseIdleConnections()
	// 0100007F is 127.0.0.1 in /proc/net/tcp.
	listens := slices.DeleteFunc(reachable(t, j.Process.Pid, true), func(socket string) bool {
		return strings.HasPrefix(socket, "tcp socket 0100007F:")
	})
	if len(listens) > 0 {
		t.Errorf("it listens at %q", listens)
	}
	if err := j.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := j.Wait(); err != nil {
		t.Errorf("after a signal: %v: %s", err, &j.stderr)
	}
}
