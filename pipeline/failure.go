package pipeline

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/settle/write"
)

const (
	// filesOfProcess is the number of other files that the process opens, and some to spare.
	filesOfProcess = 8
	// filesOfTask is the number of files that a task has open at a time.
	filesOfTask = 4
)

// checkOpenFiles refuses to start if the job would run out of files in the middle of its work.
func checkOpenFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("ask for the limit of open files: %w", err)
	}
	opened, err := os.ReadDir("/dev/fd")
	needed := uint64(len(opened) + filesOfProcess + filesOfTask*work.Cores())
	if errors.Is(err, syscall.EMFILE) || limit.Cur < needed {
		return fmt.Errorf("only %d files may be open at a time, and the job needs %d: raise the limit with 'ulimit -n 1024' and run the job again", limit.Cur, needed)
	}
	return nil
}

// firstReject describes the first reject of a result that has one.
func firstReject(result write.Result) string {
	first := result.FirstReject
	return fmt.Sprintf("the first is at %s:%d: %s", first.File, first.Position, first.Error)
}
