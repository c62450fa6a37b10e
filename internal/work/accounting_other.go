//go:build !linux

package work

import "time"

// threadCPU returns 0: only Linux accounts for single threads, so elsewhere a stage shows no CPU seconds.
func threadCPU() time.Duration { return 0 }

func residentBytes() int64 { return 0 }
