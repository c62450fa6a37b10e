package pipeline

// maxResident converts what getrusage reports, in KiB on Linux, to bytes.
func maxResident(reported int64) int64 { return reported << 10 }
