package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// interruptible reads a file, such as the standard input, until a context ends. A read that waits for more
// bytes ends with the context. Nothing else would end it.
type interruptible struct {
	ctx  context.Context
	file *os.File
}

// attention is how long a read waits before it checks whether the context has ended.
const attention = 100 * time.Millisecond

// Read waits for bytes and reads them. If the context ends first, it returns the error of the context.
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
