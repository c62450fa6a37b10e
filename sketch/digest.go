package sketch

// DigestSet returns the digest of a non-empty set in ascending order. Every [Document] with this set has it.
func DigestSet(set []uint64) uint64 { return digestSet(set) }
