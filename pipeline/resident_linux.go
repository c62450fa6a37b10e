package pipeline

import (
	"fmt"
	"os"
	"strings"
)

// maxResident returns the largest resident size of this process in bytes. Size is the figure of the system's
// accounting, which includes the process that this one was forked from. The peak of the process's own memory does not.
func maxResident(size int64) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return size << 10
	}
	for line := range strings.Lines(string(status)) {
		var peak int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &peak); n == 1 {
			return peak << 10
		}
	}
	return size << 10
}
