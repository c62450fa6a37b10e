package work

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"mirrorbeam.dev/internal/storage"
)

// TestFaults: a fault survives the way through a runner, whatever the names of files in it.
func TestFaults(t *testing.T) {
	hostile := faultMark + ` "input" "" "" "x" (end) ` + faultMark + "\xff\n no space left on device"
	_, missing := os.Open("/does/not/exist/" + hostile)
	full := &os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.ENOSPC}
	for _, c := range []struct {
		err  error
		want Fault
	}{
		{errors.New("digest is wrong"), Fault{Kind: OtherFault}},
		{errors.New(hostile), Fault{Kind: OtherFault}},
		{fmt.Errorf("read (all): %w", missing), Fault{
			Kind:  StorageFault,
			Errno: "ENOENT",
			Path:  "/does/not/exist/" + hostile,
		}},
		{inputError{missing}, Fault{Kind: InputFault, Errno: "ENOENT", Path: "/does/not/exist/" + hostile}},
		{fmt.Errorf("split 3: %w", inputError{errors.New("cut short: twice (here)")}), Fault{Kind: InputFault}},
		{fmt.Errorf("write: %w", full), Fault{Kind: StorageFault, Errno: "ENOSPC", Path: "b"}},
		{fs.ErrInvalid, Fault{Kind: OtherFault}},
		{fmt.Errorf("recall: %w", &storage.DamagedError{Op: "read", Path: "/state/a", Err: full}), Fault{
			Kind:  DamageFault,
			Errno: "ENOSPC",
			Path:  "/state/a",
		}},
		{&fs.PathError{Op: "read", Path: "gs://bucket/a", Err: io.ErrUnexpectedEOF}, Fault{
			Kind: StorageFault,
			Path: "gs://bucket/a",
		}},
		{&fs.PathError{Op: "open", Path: "gs://bucket/a", Err: fs.ErrNotExist}, Fault{
			Kind:  StorageFault,
			Errno: "ENOENT",
			Path:  "gs://bucket/a",
		}},
	} {
		c.want.Text = c.err.Error()
		if got, found := FaultOf(fmt.Errorf("wrapped: %w", MarkFault(c.err))); !found || got != c.want {
			t.Errorf("%v: wrapped, it is %+v, found %v, want %+v", c.err, got, found, c.want)
		}
		text := fmt.Sprintf("job failed: "+faultMark+
			" bundle 7\n\tcaused by:\n%v\n\tcaused by:\nfull error:\n%v (in plan)\nmore", MarkFault(c.err),
			MarkFault(c.err))
		if got, found := FaultOf(errors.New(text)); !found || got != c.want {
			t.Errorf("%v: as text, it is %+v, found %v, want %+v", c.err, got, found, c.want)
		}
	}
	if _, found := FaultOf(errors.New("a runner's own fault")); found {
		t.Error("found a fault where there is none")
	}
	if text := MarkFault(errors.New("x\ny")).Error(); strings.Contains(text, "\n") {
		t.Errorf("a fault of several lines: %q", text)
	}
}
