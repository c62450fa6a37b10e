package graphs

const (
	voteSlots = 1 << 10
	// frequentShare is how rare a hash may be that is sure to be found: one of that many has it.
	frequentShare = 1 << 8
)

// Votes finds the frequent ones among very many hashes, which are evenly spread, in bounded memory. Of a hash that most
// hashes of a slot are, some votes are left in the end (Boyer and Moore, MJRTY, 1991). The zero value is ready for use.
type Votes struct {
	all   int
	slots []slot
}

type slot struct {
	hash  uint64
	votes int
}

// Add takes in a hash.
func (v *Votes) Add(hash uint64) {
	if v.slots == nil {
		v.slots = make([]slot, voteSlots)
	}
	v.all++
	switch s := &v.slots[hash%voteSlots]; {
	case s.hash == hash:
		s.votes++
	case s.votes == 0:
		*s = slot{hash, 1}
	default:
		s.votes--
	}
}

// Frequent returns the hashes that are more than a 256th of all, and perhaps others that are not much rarer, with about
// their numbers: at most the true ones.
func (v *Votes) Frequent() map[uint64]int {
	found := map[uint64]int{}
	for _, s := range v.slots {
		if s.votes > v.all/frequentShare/2 {
			found[s.hash] = s.votes
		}
	}
	return found
}
