// Package docref defines the document reference: the number that names a document inside a job.
package docref

import "fmt"

// Ref names one document: 24 bits of file number, 40 bits of position in the file (the offset of its line in the
// decoded stream). It is known while the document is being read, is unique without collisions, and does not depend on
// the number of workers or on the runner. Files are numbered in the order of their names, so the order of refs is the
// order of documents.
type Ref uint64

const (
	positionBits = 40

	// MaxFiles is the number of files a job can hold.
	MaxFiles = 1 << (64 - positionBits)
	// MaxPosition is the largest position a document can have in its file.
	MaxPosition = 1<<positionBits - 1
)

// New returns the ref of the document at position of the file with that
// number. It refuses what does not fit, rather than name two documents alike.
func New(file int, position int64) (Ref, error) {
	if file < 0 || file >= MaxFiles {
		return 0, fmt.Errorf("file number %d is outside 0 to %d: split the corpus over several jobs", file, MaxFiles-1)
	}
	if position < 0 || position > MaxPosition {
		return 0, fmt.Errorf("position %d is outside 0 to %d: cut the file into smaller ones", position,
			int64(MaxPosition))
	}
	return Ref(uint64(file)<<positionBits | uint64(position)), nil
}

// File returns the number of the file that holds the document.
func (r Ref) File() int { return int(r >> positionBits) }

// Position returns where the document starts in the decoded stream of its file.
func (r Ref) Position() int64 { return int64(r & MaxPosition) }
