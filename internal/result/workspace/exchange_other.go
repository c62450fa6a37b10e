//go:build !linux && !darwin

package workspace

import "errors"

func exchange(_, _ string) error { return errors.ErrUnsupported }

// syncDisk fails: this system syncs one file at a time.
func syncDisk(_ string) error { return errors.ErrUnsupported }
