// Package goldentest compares files with what tests make, or rewrites them.
package goldentest

import (
	"os"
	"strings"
	"testing"
)

// Updates reports whether tests rewrite the files that they compare with.
func Updates() bool { return os.Getenv("UPDATE") != "" }

// File compares a file with its content as a test makes it. A test whose name begins with TestGenerated makes a file
// from declarations, and go generate rewrites the file. Other tests compare results of the program.
func File(t testing.TB, path, want string) {
	t.Helper()
	if Updates() {
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	how := "UPDATE=1 go test -run " + t.Name()
	if strings.HasPrefix(t.Name(), "TestGenerated") {
		how = "go generate ./..."
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s differs: run '%s' and look at the difference (error: %v); it must be\n%s", path, how, err, want)
	}
}
