//go:build !linux

package pipeline

// maxResident converts what getrusage reports, in bytes on most systems.
func maxResident(reported int64) int64 { return reported }
