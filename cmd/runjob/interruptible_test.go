package main

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"
)

// TestInterruptible: a file is read to its end. A read that waits for more ends with the context, even if the
// writer goes on.
func TestInterruptible(t *testing.T) {
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	ctx, cancel := context.WithCancel(context.Background())
	in := interruptible{ctx, from}
	if _, err := to.WriteString("one\n"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 10)
	if n, err := in.Read(b); n != 4 || err != nil {
		t.Errorf("%d bytes: %v", n, err)
	}
	cancel()
	if n, err := in.Read(b); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context %d bytes: %v", n, err)
	}
	to.Close()
	in.ctx = context.Background()
	if n, err := in.Read(b); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end of the file %d bytes: %v", n, err)
	}
}

// TestInterruptedWhileItWaits: the context ends during a read.
func TestInterruptedWhileItWaits(t *testing.T) {
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	defer to.Close()
	ctx, cancel := context.WithTimeout(context.Background(), attention/2)
	defer cancel()
	if n, err := (interruptible{ctx, from}).Read(make([]byte, 10)); n != 0 ||
		!errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%d bytes: %v", n, err)
	}
}
