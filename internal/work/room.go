package work

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Room is how much memory a process may take that has the machine, or its control group, to itself: three quarters of
// the least limit of the control groups that it is in, or of the machine's memory if that is less. The rest is for what
// the system counts to the process in addition to its own pages, such as files that it has just read. Root is the root
// of the file system. Without limits to be read, as outside of Linux, it is 0.
func Room(root fs.FS) int64 {
	least := machineMemory(root)
	for line := range strings.Lines(readText(root, "proc/self/cgroup")) {
		_, after, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(after, ":")
		top, file := "sys/fs/cgroup", "memory.max" // version 2 has one tree
		if controllers != "" {
			if !strings.Contains(","+controllers+",", ",memory,") {
				continue
			}
			top, file = path.Join(top, controllers), "memory.limit_in_bytes"
		}
		// The limits of a group also hold for all groups in it. In a container the path may be one of the host, which
		// is not there, and then the top is the group of the container.
		for folder := path.Join(top, group); strings.HasPrefix(folder, top); folder = path.Dir(folder) {
			limit, err := strconv.ParseInt(readText(root, path.Join(folder, file)), 10, 64)
			if err == nil && limit > 0 && (least == 0 || limit < least) {
				least = limit
			}
		}
	}
	return least / 4 * 3
}

func machineMemory(root fs.FS) int64 {
	_, after, _ := strings.Cut(readText(root, "proc/meminfo"), "MemTotal:")
	for field := range strings.FieldsSeq(after) {
		kilobytes, _ := strconv.ParseInt(field, 10, 64)
		return kilobytes << 10
	}
	return 0
}

// readText returns the content of a file of the system, or nothing if it cannot be read.
func readText(root fs.FS, name string) string {
	content, _ := fs.ReadFile(root, name)
	return strings.TrimSpace(string(content))
}
