package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestUserWithoutName runs the program, built without cgo, as a user that the system
// has no name for.
func TestUserWithoutName(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run it as somebody else")
	}
	program := filepath.Join(t.TempDir(), "runjob")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for folder := filepath.Dir(program); folder != os.TempDir() && folder != "/"; folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	help := exec.Command(program, "--help")
	help.Env = []string{"PATH=" + os.Getenv("PATH")}
	help.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345}}
	if out, err := help.CombinedOutput(); err != nil {
		t.Errorf("%v: %.300s", err, out)
	}
}
