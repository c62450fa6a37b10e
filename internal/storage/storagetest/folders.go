package storagetest

import (
	"log/slog"
	"os"
	"testing"

	"mirrorbeam.dev/internal/storage"
)

// FoldersInMemory puts the temporary folders of a test binary into memory, if the system has a file system there with
// at least 4 GiB of room. TestMain calls it. TMPDIR, if it is set, stays what it is.
//
// Whole jobs make and remove thousands of files. To make a file ext4 looks at the inodes of all files that were removed
// in the last seconds, which takes half the time of such tests.
func FoldersInMemory() error {
	const memory, room = "/dev/shm", 4 << 30
	if free, known := storage.Free(memory); os.Getenv("TMPDIR") != "" || !known || free < room {
		return nil
	}
	return os.Setenv("TMPDIR", memory)
}

// Main runs the tests of a package that runs whole jobs: with folders in memory, and without what Beam says of each
// job.
func Main(m *testing.M) {
	if err := FoldersInMemory(); err != nil {
		panic(err)
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	m.Run()
}
