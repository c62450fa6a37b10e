package corpus

// Stretch is a part of one file that is read in one go. Of a plain file it
// has the lines whose first byte lies in [Start, End). A compressed file is
// read whole: Start is 0 and End its size on disk.
type Stretch struct {
	// File is the number of the file: its index in the list.
	File int
	// Start and End are bytes of the file on disk.
	Start, End int64
}

// Split is the work of one worker: stretches in document order, that is by
// file number, then by position.
type Split []Stretch

// inflation is how much larger than its file a compressed stream is taken to
// be. Text shrinks to a third or a quarter.
const inflation = 4

// Splits cuts files into splits of about target decoded bytes, in document
// order. Files smaller than target are grouped with their neighbours, a plain
// file that is larger is cut into nearly equal parts, and a compressed file is
// never cut. Empty files have no part in any split.
//
// The cuts follow from sizes and compression alone, so that every worker
// count gives the same ones. A target below 1 counts as 1.
func Splits(files []File, target int64) []Split {
	target = max(target, 1)
	var splits []Split
	var group Split
	var weight int64
	flush := func() {
		if len(group) > 0 {
			splits = append(splits, group)
			group, weight = nil, 0
		}
	}
	for number, file := range files {
		if file.Size <= 0 {
			continue
		}
		if file.Compression == None && file.Size > target {
			flush()
			splits = append(splits, cut(number, file.Size, target)...)
			continue
		}
		size := file.TextSize()
		if weight+size > target {
			flush()
		}
		group = append(group, Stretch{File: number, End: file.Size})
		weight += size
	}
	flush()
	return splits
}

// cut divides a large plain file into the fewest parts of at most target
// bytes; no two differ by more than one byte.
func cut(number int, size, target int64) []Split {
	parts := (size-1)/target + 1
	least, longer := size/parts, size%parts
	splits := make([]Split, 0, parts)
	for start := int64(0); start < size; {
		end := start + least
		if int64(len(splits)) < longer {
			end++
		}
		splits = append(splits, Split{{File: number, Start: start, End: end}})
		start = end
	}
	return splits
}

// TextSize returns about how many bytes of decoded text the file holds.
func (f File) TextSize() int64 {
	if f.Compression != None {
		return inflation * f.Size
	}
	return f.Size
}
