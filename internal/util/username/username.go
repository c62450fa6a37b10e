// Package username gives the process a user name and a home where the system knows neither.
// Such a user has no entry in /etc/passwd (docker run --user 1234).
//
// A package of Beam asks for the user when it is initialized, and breaks down where there is no answer. Without cgo the
// answer may come from the environment. This package imports little, so that it is initialized before that one (the Go
// linker orders packages by their imports, then by their paths).
package username

import (
	"os"
	"strconv"
)

func init() {
	for name, value := range map[string]string{"USER": strconv.Itoa(os.Getuid()), "HOME": os.TempDir()} {
		if os.Getenv(name) == "" {
			os.Setenv(name, value)
		}
	}
}
