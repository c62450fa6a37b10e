package setting

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func flagName(setting string) string { return "--" + setting }

func TestText(t *testing.T) {
	fault := Errorf("{keys} %s: is for {verify} exact", "all")
	braces := Errorf("{output} %s: cannot be used: %w", "a{temp}b", fs.ErrPermission)
	one := Errorf("{keys}: none")
	for _, test := range []struct {
		err         error
		plain, want string
	}{
		{fault, "keys all: is for verify exact", "--keys all: is for --verify exact"},
		{
			braces, "output a{temp}b: cannot be used: permission denied",
			"--output a{temp}b: cannot be used: permission denied",
		},
		{
			fmt.Errorf("start: %w", fault), "start: keys all: is for verify exact",
			"start: --keys all: is for --verify exact",
		},
		{
			errors.Join(fault, fault, fs.ErrExist),
			"keys all: is for verify exact\nkeys all: is for verify exact\nfile already exists",
			"--keys all: is for --verify exact\n--keys all: is for --verify exact\nfile already exists",
		},
		{
			errors.Join(one, fmt.Errorf("again: %w", one), Errorf("{output}: %w", one)),
			"keys: none\nagain: keys: none\noutput: keys: none",
			"--keys: none\nagain: --keys: none\n--output: --keys: none",
		},
		{fs.ErrExist, "file already exists", "file already exists"},
		{Errorf("a { is no setting"), "a { is no setting", "a { is no setting"},
	} {
		if got := test.err.Error(); got != test.plain {
			t.Errorf("the message is %q, want %q", got, test.plain)
		}
		if got := Text(test.err, flagName); got != test.want {
			t.Errorf("with flags it is %q, want %q", got, test.want)
		}
	}
	if !errors.Is(braces, fs.ErrPermission) || errors.Unwrap(fault) != nil {
		t.Errorf("%v wraps %v, and %v wraps %v", braces, errors.Unwrap(braces), fault, errors.Unwrap(fault))
	}
}
