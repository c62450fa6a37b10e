package workspace

import "golang.org/x/sys/unix"

// exchange swaps two names. It returns an error if the file system cannot do that.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
