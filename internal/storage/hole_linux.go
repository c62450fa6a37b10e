package storage

import (
	"os"
	"syscall"
)

// punchHole gives the space of a stretch of a file back to the disk; the file keeps its length. If the disk cannot do
// that nothing happens.
func punchHole(file *os.File, offset, length int64) {
	const keepSize, hole = 1, 2 // FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE
	_ = syscall.Fallocate(int(file.Fd()), keepSize|hole, offset, length)
}
