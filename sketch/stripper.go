package sketch

// Stripper takes shingles that do not count out of sets that were made with them. Only one goroutine may use it at a time.
type Stripper struct {
	out         *Shingles
	simhash     *SimHash // nil: not wanted
	rest        []uint64
	fingerprint []uint64
}

// NewStripper returns a Stripper of some shingles. SimHashBits is the length of the SimHash fingerprints of what is left, a
// multiple of 64; 0 makes none. The error says what is wrong with the length.
func NewStripper(out *Shingles, simHashBits int) (*Stripper, error) {
	s := &Stripper{out: out}
	if simHashBits == 0 {
		return s, nil
	}
	var err error
	s.simhash, err = NewSimHash(SimHashOptions{Bits: simHashBits})
	return s, err
}

// Strip returns what [Shingles.AppendRest] leaves of a set, and its SimHash fingerprint, nil if none is wanted. Both belong to
// the Stripper, which overwrites them in the next call.
func (s *Stripper) Strip(set []uint64) (rest, simhash []uint64) {
	s.rest = s.out.AppendRest(s.rest[:0], set)
	if s.simhash == nil {
		return s.rest, nil
	}
	s.simhash.Reset()
	s.simhash.AddSet(s.rest)
	s.fingerprint = s.simhash.Fingerprint(s.fingerprint)
	return s.rest, s.fingerprint
}
