package engines

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// row is a row of the table of ports in the documentation.
type row struct {
	ports      []string // the fixed ones
	hasOthers  bool
	isLoopback bool
}

// documented returns the rows of a script, by the names of processes.
func documented(t *testing.T, script string) map[string]row {
	t.Helper()
	page, err := os.ReadFile("../../docs/how-to/flink-spark.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]row{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.TrimSpace(cells[1]) != "`"+script+"`" {
			continue
		}
		r := row{
			regexp.MustCompile(`\d+`).FindAllString(cells[3], -1), strings.Contains(cells[3], "others"),
			strings.TrimSpace(cells[4]) == "loopback",
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1) {
			rows[name[1]] = r
		}
	}
	return rows
}

// checkPorts compares where the processes of the cluster listen with the table of the documentation. No job has run
// yet: the engine closes a job's ports late.
func (c *cluster) checkPorts(t *testing.T) {
	t.Run("ports", func(t *testing.T) {
		if _, err := exec.LookPath("ss"); err != nil {
			t.Skipf("nobody says who listens: %v", err)
		}
		out, err := exec.Command("ss", "--no-header", "--listening", "--tcp", "--numeric", "--processes").Output()
		if err != nil {
			t.Fatal(err)
		}
		rows := documented(t, c.engine+".sh")
		files, _ := filepath.Glob(filepath.Join(c.state, "*.pid"))
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".pid")
			r, isThere := rows[name]
			delete(rows, name)
			missing := slices.Clone(r.ports)
			for _, address := range listening(string(out), c.pid(name)) {
				host, port, err := net.SplitHostPort(address)
				if err != nil {
					t.Fatal(err)
				}
				ip := net.ParseIP(host)
				if isLoopback := ip != nil && ip.IsLoopback(); !isThere || isLoopback != r.isLoopback {
					t.Errorf("%s listens at %s, which the documentation does not say", name, address)
				}
				if !slices.Contains(r.ports, port) && !r.hasOthers {
					t.Errorf("%s listens at port %s, which the documentation does not say", name, port)
				}
				missing = slices.DeleteFunc(missing, func(p string) bool { return p == port })
			}
			if len(missing) > 0 {
				t.Errorf("%s does not listen at %q", name, missing)
			}
		}
		if len(rows) > 0 {
			t.Errorf("the documentation has processes that are not there: %v", rows)
		}
	})
}

// listening returns the addresses at which a process listens, from what ss prints.
func listening(sockets string, pid int) (addresses []string) {
	for line := range strings.Lines(sockets) {
		if fields := strings.Fields(line); len(fields) > 3 && strings.Contains(line, fmt.Sprintf("pid=%d,", pid)) {
			addresses = append(addresses, fields[3])
		}
	}
	return addresses
}
