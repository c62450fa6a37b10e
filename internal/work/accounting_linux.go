package work

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

func threadCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func residentBytes() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if fields := bytes.Fields(b); err == nil && len(fields) > 1 {
		pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
		return pages * int64(os.Getpagesize())
	}
	return 0
}
