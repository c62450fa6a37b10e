package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// interruptible reads a file, such as the standard input, for as long as a context
// lasts: a read that waits for more, which nothing else would end, ends with it.
type interruptible struct {
	ctx  context.Context
	file *os.File
}

// attention is how long a read waits before it looks whether the context has ended.
const attention = 100 * time.Millisecond

// Read waits for bytes to read and reads them, or returns the fault of the context.
func (r interruptible) Read(b []byte) (int, error) {
	for {
		if err := r.ctx.Err(); err != nil {
			return 0, err
		}
		waiting := []unix.PollFd{{Fd: int32(r.file.Fd()), Events: unix.POLLIN}}
		ready, err := unix.Poll(waiting, int(attention.Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR): // a signal came, perhaps the one that ends the context
		case err != nil:
			return 0, fmt.Errorf("wait for %s: %w", r.file.Name(), err)
		case ready > 0:
			return r.file.Read(b)
		}
	}
}
