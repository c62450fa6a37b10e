package workspace

import "golang.org/x/sys/unix"

// exchange swaps two names. Where the file system cannot, it says so.
func exchange(a, b string) error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) }
