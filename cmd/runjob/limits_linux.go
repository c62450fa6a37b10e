package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"mirrorbeam.dev/internal/failure"
)

const (
	// Go and the C library reserve gigabytes of address space, and touch little of it. A small job was seen to reserve
	// 2.0 GB on one core, 2.1 on two, 2.5 on eight and 2.7 on 32 (VmPeak). It uses smallHeap of that.
	spaceOfJob  = 2304 << 20
	spaceOfCore = 64 << 20 // the stack and the arena of a thread
	smallHeap   = 128 << 20

	// threadsOfJob, plus one a core, is more than any job was seen to start: 10 on two cores, 22 on 32.
	threadsOfJob = 16
)

// checkLimits refuses to start if the system would not let a job have the threads or the address space that
// it needs. Otherwise Go would crash in the middle of a job. A job that needs more because of its size is
// made to collect its garbage in time.
func checkLimits() error {
	if err := errors.Join(checkThreads(), checkGroups("/sys/fs/cgroup", readProc("/proc/self/cgroup")),
		checkAddressSpace()); err != nil {
		return failure.New(failure.Storage, err)
	}
	return nil
}

func checkAddressSpace() error {
	limit, err := limitOf(unix.RLIMIT_AS)
	if err != nil || limit == math.MaxUint64 {
		return err
	}
	needed := spaceOfJob + spaceOfCore*uint64(runtime.GOMAXPROCS(0))
	if limit < needed {
		return fmt.Errorf(
			"the process may have %d kB of address space, and the command needs %d kB: "+
				"raise the limit with 'ulimit -v unlimited' and run it again; --memory limits the memory in use",
			limit>>10, needed>>10)
	}
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(int64(min(limit-needed+smallHeap, math.MaxInt64)))
	}
	return nil
}

// checkThreads checks the limit of 'ulimit -u', which counts all threads of the user.
func checkThreads() error {
	limit, err := limitOf(unix.RLIMIT_NPROC)
	if err != nil || limit == math.MaxUint64 || isExempt() {
		return err
	}
	if needed := threadsOf(os.Getuid()) + moreThreads(); limit < needed {
		return fmt.Errorf(
			"the user may have %d threads, and needs %d including the running ones: "+
				"raise the limit with 'ulimit -u %d' and run the command again", limit, needed, max(needed, 1024))
	}
	return nil
}

func moreThreads() uint64 { return threadsOfJob + uint64(runtime.GOMAXPROCS(0)) }

// checkGroups checks the limits of threads in the control groups of the process. List has the form of
// /proc/self/cgroup. The files of the groups are below root.
func checkGroups(root, list string) error {
	for line := range strings.Lines(list) {
		_, after, _ := strings.Cut(strings.TrimSpace(line), ":")
		controller, path, _ := strings.Cut(after, ":")
		if controller != "" && controller != "pids" {
			continue
		}
		// The limits of a group also hold for all groups in it.
		top := filepath.Join(root, controller)
		for folder := filepath.Join(top, path); strings.HasPrefix(folder, top); folder = filepath.Dir(folder) {
			limit, err := strconv.ParseUint(firstField(readProc(filepath.Join(folder, "pids.max"))), 10, 64)
			if err != nil { // there is no such file, or no limit
				continue
			}
			used, _ := strconv.ParseUint(firstField(readProc(filepath.Join(folder, "pids.current"))), 10, 64)
			if needed := used + moreThreads(); limit < needed {
				return fmt.Errorf(
					"the control group may have %d threads, and needs %d including the running ones: raise %s", limit,
					needed, filepath.Join(folder, "pids.max"))
			}
		}
	}
	return nil
}

// limitOf returns a limit of the process. If there is none, it returns the largest number.
func limitOf(resource int) (uint64, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(resource, &limit); err != nil {
		return 0, fmt.Errorf("ask for the limits of the process: %w", err)
	}
	return limit.Cur, nil
}

// isExempt reports whether the system does not limit the threads of this user: root, and users who may lift limits.
func isExempt() bool {
	if os.Getuid() == 0 {
		return true
	}
	_, after, _ := strings.Cut(readProc("/proc/self/status"), "CapEff:")
	capabilities, _ := strconv.ParseUint(firstField(after), 16, 64)
	return capabilities&(1<<unix.CAP_SYS_RESOURCE|1<<unix.CAP_SYS_ADMIN) != 0
}

// threadsOf counts the threads of a user. Processes that end meanwhile count as none.
func threadsOf(user int) (threads uint64) {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		info, err := os.Stat(process)
		if err != nil {
			continue
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != user {
			continue
		}
		_, after, _ := strings.Cut(readProc(process+"/status"), "Threads:")
		n, _ := strconv.ParseUint(firstField(after), 10, 64)
		threads += n
	}
	return threads
}

// readProc returns the content of a file of the system. It returns nothing if the file cannot be read.
func readProc(path string) string {
	content, _ := os.ReadFile(path)
	return string(content)
}

func firstField(text string) string {
	for field := range strings.FieldsSeq(text) {
		return field
	}
	return ""
}
