package transforms

import (
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
