package engines

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ask asks Flink something.
func (c *cluster) ask(path string, answer any) {
	response, err := http.Get("http://localhost:8081" + path)
	if err != nil {
		c.t.Error(err)
		return
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		c.t.Error(err)
	}
}

// kill kills a process at once. It returns false, for a strike that refuses nothing.
func (c *cluster) kill(pid int) bool {
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		c.t.Errorf("kill %d: %v", pid, err)
	}
	return false
}

// pid returns the number of a process of the cluster.
func (c *cluster) pid(name string) int {
	content, err := os.ReadFile(filepath.Join(c.state, name+".pid"))
	if err != nil {
		c.t.Error(err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(content)))
	return pid
}

// workers returns the processes that the worker pool has started.
func (c *cluster) workers() (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		content, _ := os.ReadFile(stat)
		// The name of a program may have spaces, and is in brackets before the state and the parent.
		_, after, _ := strings.Cut(string(content), ") ")
		fields := strings.Fields(after)
		if len(fields) > 1 && fields[0] != "Z" && fields[1] == strconv.Itoa(c.pid("pool")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// busyTaskManager returns the process of a TaskManager that works.
func (c *cluster) busyTaskManager() int {
	var found struct {
		TaskManagers []struct {
			ID    string
			Slots int `json:"slotsNumber"`
			Free  int `json:"freeSlots"`
		}
	}
	c.ask("/taskmanagers", &found)
	for _, manager := range found.TaskManagers {
		if manager.Free < manager.Slots {
			return c.pid(manager.ID)
		}
	}
	c.t.Error("no TaskManager is busy")
	return 0
}
