package panics

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/records/paged"
)

func fail(list []int) int { return list[len(list)] }

// TestOver: a panic becomes an error that names the step and the place, an error stays one, and a panic that no
// document causes goes on.
func TestOver(t *testing.T) {
	for _, one := range []struct {
		name string
		do   func() error
		want string
	}{
		{"nothing", func() error { return nil }, ""},
		{"an error", func() error { return io.EOF }, "EOF"},
		{
			"an index", func() error { return fmt.Errorf("%d", fail(nil)) },
			"the document was read: runtime error: index out of range [0] with length 0 (panics.fail, panics_test.go:",
		},
		{
			"a nil pointer", func() error { var e *Error; return errors.New(e.Step) },
			"invalid memory address or nil pointer dereference (panics.TestOver.",
		},
		{
			"a text", func() error { panic("too " + strings.Repeat("long ", 1000)) },
			"the document was read: too long long",
		},
	} {
		t.Run(one.name, func(t *testing.T) {
			err := Over("read", one.do)
			switch caught := Of(err); {
			case one.want == "" && err != nil,
				one.want != "" && (err == nil || !strings.Contains(err.Error(), one.want)):
				t.Errorf("%v, want %q", err, one.want)
			case (caught != nil) != strings.Contains(fmt.Sprint(err), "panicked"), len(fmt.Sprint(err)) > 2*mostValue:
				t.Errorf("%v of %d bytes is the panic %v", err, len(err.Error()), caught)
			}
		})
	}
	for _, value := range []any{&paged.Fault{}} {
		func() {
			defer func() {
				if got := recover(); got != value {
					t.Errorf("the panic %v goes on as %v", value, got)
				}
			}()
			err := Over("read", func() error { panic(value) })
			t.Errorf("the panic %v ends as %v", value, err)
		}()
	}
}
