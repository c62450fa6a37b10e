package sketch

// Winnow appends to selected the places of the hashes that winnowing selects
// (Schleimer, Wilkerson, Aiken, Winnowing: local algorithms for document
// fingerprinting, SIGMOD 2003), ascending: of every window of that many hashes in
// a row the least. Lists that have a window in common have one of its hashes in
// common among the selected, wherever it stands in them. A list that is shorter is
// one window. A window below 1 counts as 1.
//
// Of equal hashes the rightmost of the window is selected, unless that of the
// window before is one of them (the article's robust winnowing), which spares the
// repeats of a monotonous text. Of evenly spread hashes without repeats 2 in
// window + 1 are selected.
func Winnow(selected []uint32, hashes []uint64, window int) []uint32 {
	if len(hashes) == 0 {
		return selected
	}
	window = min(max(window, 1), len(hashes))
	least := -1 // selected in the window before
	for end := window; end <= len(hashes); end++ {
		begin := end - window
		switch last := end - 1; {
		case least < begin:
			least = begin
			for i := begin + 1; i < end; i++ {
				if hashes[i] <= hashes[least] {
					least = i
				}
			}
		case hashes[last] < hashes[least]:
			least = last
		default:
			continue
		}
		selected = append(selected, uint32(least))
	}
	return selected
}

// Passages appends to hashes one for each stretch of so many adjacent shingles of s
// that follow each other in the text: a hash of longer shingles. It is what to
// winnow where those of the measure are so short that unlike texts share many.
func (s *Sequence) Passages(hashes []uint64, shingles int) []uint64 {
	for begin := 0; begin < s.Len(); {
		end := begin + 1
		for end < s.Len() && s.Tokens[end] == s.Tokens[end-1]+1 {
			end++
		}
		hashes = appendShingles(hashes, s.Shingles[begin:end], shingles)
		begin = end
	}
	return hashes
}
