package jobservice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

const (
	// longestDial is the longest that a job server may take to answer. Beam itself waits two minutes and says nothing.
	longestDial = 5 * time.Second
	// longestProbe is how long a server may take to show that it is none.
	longestProbe = time.Second
)

// ErrOther says that something answers that is no job server.
var ErrOther = errors.New("no job server")

// Probe returns an error unless something answers that may be a job server. The error is [ErrOther] if something else
// answers, such as Flink itself, and says what to do. People who know the addresses of their cluster often name those.
func Probe(ctx context.Context, address string) error {
	dialer := net.Dialer{Timeout: longestDial}
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer connection.Close()
	defer context.AfterFunc(ctx, func() { connection.Close() })()
	_ = connection.SetDeadline(time.Now().Add(longestProbe)) // a server that stays silent may be a job server
	_, err = fmt.Fprintf(connection, "GET /overview HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", address)
	var answer []byte
	if err == nil {
		answer, err = io.ReadAll(io.LimitReader(connection, 1<<16))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case bytes.Contains(answer, []byte("flink-version")):
		return fmt.Errorf("that is the address of Flink, and %w: start Beam's job server for it, and give the address of that, which is often port 8099: see docs/clusters.md", ErrOther)
	case bytes.HasPrefix(answer, []byte("HTTP/1.")):
		return fmt.Errorf("a web server answers there, and %w: the job server of Flink is often at port 8099: see docs/clusters.md", ErrOther)
	case len(answer) == 0 && !errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("something answers there that hangs up, as a master of Spark does, and %w: start Beam's job server for it, and give the address of that: see docs/clusters.md", ErrOther)
	}
	return nil
}
