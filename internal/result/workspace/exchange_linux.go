package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two names. It returns an error if the file system cannot do that.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// syncDisk waits until all that was written to the file system of a folder is on the device. It is unsupported but for
// the file systems of local disks, which do as promised.
func syncDisk(folder string) error {
	file, err := os.Open(folder)
	if err != nil {
		return err
	}
	var of unix.Statfs_t
	if err = unix.Fstatfs(int(file.Fd()), &of); err == nil {
		switch of.Type {
		case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC:
			err = os.NewSyscallError("syncfs", unix.Syncfs(int(file.Fd())))
		default:
			err = errors.ErrUnsupported
		}
	}
	return errors.Join(err, file.Close())
}
