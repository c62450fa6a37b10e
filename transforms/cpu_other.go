//go:build !linux

package transforms

import "time"

// threadCPU returns 0: only Linux accounts for single threads, so elsewhere a
// stage shows no CPU seconds.
func threadCPU() time.Duration { return 0 }
