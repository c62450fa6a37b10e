package storage

import (
	"os"
	"syscall"
)

// punchHole gives the space of a stretch of a file back to the disk. The file keeps its length. Nothing
// happens if the disk cannot do that.
func punchHole(file *os.File, offset, length int64) {
	const keepSize, hole = 1, 2 // FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE
	_ = syscall.Fallocate(int(file.Fd()), keepSize|hole, offset, length)
}
