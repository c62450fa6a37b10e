package sketch

// DigestSet returns the digest of a set that is not empty, in ascending order:
// that of every [Document] with this set.
func DigestSet(set []uint64) uint64 { return digestSet(set) }
