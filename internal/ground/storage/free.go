package storage

import "golang.org/x/sys/unix"

// Free returns how many bytes may still be written to the disk of a folder. Known is false if nobody knows: the folder
// is not on a disk, is not there, or its file system does not tell.
func Free(folder string) (bytes int64, known bool) {
	var found unix.Statfs_t
	if Scheme(folder) != "" || unix.Statfs(folder, &found) != nil || found.Blocks == 0 {
		return 0, false
	}
	return int64(found.Bavail) * int64(found.Bsize), true
}
