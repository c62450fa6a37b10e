package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// inContainer runs a shell command in namespaces of its own, with the image as its root: read-only, with the folders of
// the caller at /data and a small /tmp. With rights it runs as the user of the image, else as the only user there is.
const inContainer = `
root=$0 data=$1 command=$2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o size=64m,mode=1777 tmpfs "$root/tmp"
mount --bind "$data" "$root/data"
mount -o remount,bind,ro "$root"
runjob() { chroot $USERSPEC "$root" /runjob "$@"; }
eval "$command"`

// container is the image of a release, unpacked.
type container struct {
	t          *testing.T
	root, data string
	commit     string
}

// unpacked makes a release of the last commit for this machine, and unpacks its image.
func unpacked(t *testing.T) *container {
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("no unshare: the image was not run")
	}
	temp := t.TempDir()
	here, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	s, err := clone(t.Context(), here, filepath.Join(temp, "source"))
	if err != nil {
		t.Fatal(err)
	}
	commit, err := s.command(nil, "git", "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.release([]target{{"linux", runtime.GOARCH}}, temp)
	if err != nil {
		t.Fatal(err)
	}
	image, err := r.variant(r.programs[0])
	if err != nil {
		t.Fatal(err)
	}
	c := &container{t, filepath.Join(temp, "root"), filepath.Join(temp, "data"), strings.TrimSpace(string(commit))}
	files := mutate.Extract(image)
	defer files.Close()
	unpack(t, files, c.root)
	// Whoever starts containers makes these, and tells the container its own name.
	for _, folder := range []string{filepath.Join(c.root, "proc"), filepath.Join(c.root, "data"), c.data} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(c.data, 0o777),
		os.WriteFile(filepath.Join(c.root, "etc", "hosts"), []byte("127.0.0.1 localhost\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	return c
}

// unpack writes the files of a tar stream below a folder.
func unpack(t *testing.T, files io.Reader, folder string) {
	t.Helper()
	for r := tar.NewReader(files); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, h.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeDir {
			err = os.Mkdir(path, h.FileInfo().Mode())
		} else {
			var content []byte
			if content, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, content, h.FileInfo().Mode().Perm())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// run runs a shell command in which "runjob" is the program of the container.
func (c *container) run(command string) (exit int, said string) {
	c.t.Helper()
	args := []string{"--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child"}
	userspec := "--userspec=" + nobody + ":" + nobody
	if os.Getuid() != 0 {
		args, userspec = append(args, "--user", "--map-root-user"), ""
		c.t.Log("without rights: the container has no other user")
	}
	process := exec.CommandContext(c.t.Context(), "unshare",
		append(args, "sh", "-ec", inContainer, c.root, c.data, command)...)
	process.Env = append(os.Environ(), "USERSPEC="+userspec)
	var out bytes.Buffer
	process.Stdout, process.Stderr, process.WaitDelay = &out, &out, 10*time.Second
	err := process.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		c.t.Fatal(err)
	}
	if failed != nil && strings.Contains(out.String(), "unshare failed") {
		c.t.Skipf("no namespaces: the image was not run: %s", out.String())
	}
	return process.ProcessState.ExitCode(), out.String()
}

// TestImageRuns: the image is enough of a system for the program. It knows its commit and its build, runs a job as a
// user without rights on a root that nobody can write to, and serves workers that a probe finds.
func TestImageRuns(t *testing.T) {
	c := unpacked(t)
	if exit, said := c.run("runjob version"); exit != 0 || !strings.Contains(said, "commit "+c.commit+" of ") ||
		!strings.Contains(said, "\nbuild ") {
		t.Errorf("version: exit code %d: %s", exit, said)
	}
	lines := `{"id":"1","text":"one and two and three and four"}` + "\n" +
		`{"id":"2","text":"one and two and three and four"}` + "\n"
	if err := os.WriteFile(filepath.Join(c.data, "in.jsonl"), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	if exit, said := c.run("runjob run --input /data/in.jsonl --output /data/out"); exit != 0 ||
		!strings.Contains(said, "1 removed") {
		t.Errorf("a job: exit code %d: %s", exit, said)
	}
	made, err := os.Stat(filepath.Join(c.data, "out", "_SUCCESS"))
	if err != nil {
		t.Fatal(err)
	}
	if owner := ownerOf(made); os.Getuid() == 0 && owner != nobody {
		t.Errorf("the results belong to user %s", owner)
	}
	if exit, said := c.run("runjob run --input /data/in.jsonl --output /out"); exit != 4 ||
		!strings.Contains(said, "read-only") {
		t.Errorf("a job that writes to the root: exit code %d: %s", exit, said)
	}
	served := `ip link set lo up 2>/dev/null || { echo no loopback; exit 77; }
runjob worker-pool & pool=$!
for i in 1 2 3 4 5 6 7 8 9 10; do if runjob worker-pool --probe; then kill $pool; exit 0; fi; sleep .2; done
exit 1`
	switch exit, said := c.run(served); {
	case exit == 77:
		t.Log("no command ip: no worker pool was started")
	case exit != 0 || !strings.Contains(said, "three quarters"):
		t.Errorf("a worker pool: exit code %d: %s", exit, said)
	}
}

func ownerOf(info os.FileInfo) string {
	owner, _ := info.Sys().(*syscall.Stat_t)
	return strconv.Itoa(int(owner.Uid))
}
