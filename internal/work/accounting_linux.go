package work

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// threadCPU returns the CPU time that the calling thread has used.
func threadCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// residentBytes returns how much memory the process holds now.
func residentBytes() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if fields := bytes.Fields(b); err == nil && len(fields) > 1 {
		pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
		return pages * int64(os.Getpagesize())
	}
	return 0
}

// punchHole gives a stretch of a file back to the disk; the file stays as long as
// it is. Where the disk cannot do that nothing happens.
func punchHole(file *os.File, offset, length int64) {
	const keepSize, hole = 1, 2 // FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE
	_ = syscall.Fallocate(int(file.Fd()), keepSize|hole, offset, length)
}
