package documents

import (
	"fmt"
	"sync/atomic"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/read/corpus"
)

const (
	// mostExpansion is how many times its length an ordinary compressed file has when it is decoded. Gzip cannot do more by itself.
	mostExpansion = 1000
	// leastExpanded is the least length of a decoded file that is worth a warning.
	leastExpanded = 16 << 20
)

// expansion counts what the compressed files of a job have become so far.
type expansion struct{ bytes atomic.Int64 }

// expansions has an entry for each job at work in this process.
var expansions work.Shared[expansion]

// expansionOf returns the count of a job, known by the path of its inputs.
func expansionOf(path string) (*expansion, error) {
	return expansions.Get(path, func(string) (*expansion, error) { return new(expansion), nil })
}

// expand counts decoded bytes of the current stretch. It fails beyond the limit of the job.
func (r *splitReader) expand(bytes int64) error {
	r.expanded += bytes
	if r.total == nil || r.mostExpanded == 0 {
		return nil
	}
	if all := r.total.bytes.Add(bytes); all > r.mostExpanded {
		return fmt.Errorf("read input %s: all compressed files together expand to more than %d bytes: raise --max-expanded, or leave the file out",
			r.files[r.rest[0].File].Path, r.mostExpanded)
	}
	return nil
}

// expanding returns 1 if a file has become much longer than files do, else 0.
func expanding(file *corpus.File, decoded int64) int64 {
	if decoded >= leastExpanded && decoded/mostExpansion > file.Size {
		return 1
	}
	return 0
}
