// Package openfiles ends the program with one line if too few files may be open. Go itself would end it with a trace:
// the runtime opens a few of its own as soon as a package waits for a timer or opens a file, and some packages of
// others do so before main begins. Go initializes packages that are ready in the order of their paths. This one needs
// nothing but syscall, so it comes before the package os, and before all that need that one. A check in main, or an
// error that main reports, would come too late.
package openfiles

import "syscall"

const (
	// least is how many files must be allowed: the three that every program has, the runtime's, and some that the
	// program may inherit. A job looks for itself whether it has enough.
	least = 12
	// exitLimit is the exit code for a limit of the machine that is too low.
	exitLimit = 4
)

// init checks the limit that nobody but root may exceed. The package os raises the other one up to it.
func init() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || limit.Max >= least {
		return
	}
	const message = "runjob: fewer than 12 files may be open at once: raise the limit with 'ulimit -n 1024' and run " +
		"the job again\n"
	_, _ = syscall.Write(2, []byte(message)) // there is no other place to tell of an error
	syscall.Exit(exitLimit)
}
