package pipeline

import (
	"fmt"
	"os"
	"strings"
)

// maxResident returns the largest resident size of this process in bytes, of which
// the system's accounting tells size. That takes over what the process was forked
// from, unlike the peak of its own memory.
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
