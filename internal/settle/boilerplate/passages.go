package boilerplate

import "mirrorbeam/sketch"

// leastNew is the least number of shingles of a passage that are in no earlier one, and the least number of known ones in a row
// that part two passages. A phrase of everyday language is shorter.
const leastNew = sketch.LeastOwn

// place is a shingle of a text, in the order of the text.
type place struct {
	// isBoilerplate says that the shingle is boilerplate.
	isBoilerplate bool
	// documents is the number of documents that have it if it is new, and 0 if an earlier place or document has it.
	documents int64
}

func (p place) isNew() bool { return p.documents > 0 }

// stretch is a passage: the shingles from one place to another, which is the first after it. Documents is the number of
// documents that have the rarest of its new shingles.
type stretch struct {
	from, to  int
	documents int64
}

// passagesOf returns the passages of a text, in its order. A passage is a run of boilerplate that begins and ends with a new
// shingle and has leastNew of them. As many known ones in a row part two passages. Where so many new ones, next to each
// other but for known ones, are in at least twice as many documents as the rarest of the passage, they are a passage of their own.
func passagesOf(places []place) (all []stretch) {
	for from := 0; from < len(places); from++ {
		if !places[from].isNew() {
			continue
		}
		end, known := from+1, 0 // the end is behind the last new one
		for to := end; to < len(places) && places[to].isBoilerplate && known < leastNew; to++ {
			if known++; places[to].isNew() {
				end, known = to+1, 0
			}
		}
		all = append(all, split(places, from, end)...)
		from = end
	}
	return all
}

// split cuts a run of boilerplate where it is much more frequent than the rarest of its new shingles.
func split(places []place, from, to int) (all []stretch) {
	from, to = trim(places, from, to)
	rarest, fresh := int64(0), 0
	for _, p := range places[from:to] {
		if p.isNew() {
			fresh++
			if rarest == 0 || p.documents < rarest {
				rarest = p.documents
			}
		}
	}
	if fresh < leastNew {
		return nil
	}
	rest := from // what is before it is done
	for at := from; at < to; {
		end, many := at, 0
		for end < to && (!places[end].isNew() || places[end].documents >= 2*rarest) {
			if places[end].isNew() {
				many++
			}
			end++
		}
		if many >= leastNew {
			all = append(append(all, split(places, rest, at)...), split(places, at, end)...)
			rest = end
		}
		at = end + 1
	}
	if rest == from {
		return []stretch{{from, to, rarest}}
	}
	return append(all, split(places, rest, to)...)
}

// trim leaves out the known shingles on both sides.
func trim(places []place, from, to int) (first, end int) {
	for from < to && !places[from].isNew() {
		from++
	}
	for from < to && !places[to-1].isNew() {
		to--
	}
	return from, to
}
