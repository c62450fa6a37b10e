package engines

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"golang.org/x/sys/unix"

	"mirrorbeam.dev/internal/util/corporatest"
)

// machine is a machine as a cluster has them: processes, a network and a folder of its own, which no other one sees. It
// is a process in namespaces of its own, and dies with it.
type machine struct {
	t       testing.TB
	network *network
	name    string
	address string
	init    *exec.Cmd
}

// network is where machines reach each other, and a bucket: a bridge in a namespace of its own.
type network struct {
	t        testing.TB
	hub      *exec.Cmd
	program  string
	folder   string // each machine has its own one there
	bucket   string // host and port
	objects  *fakestorage.Server
	machines int

	// strike is called for each run file that is written to the bucket, with the number of them since it was set.
	strike  func(number int64)
	written atomic.Int64
}

// inNamespaces starts a process in namespaces of its own, which ends with the test, however that ends. Without the
// rights for that the test is skipped.
func inNamespaces(t testing.TB, flags uintptr, script string, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command("bash", append([]string{"-ec", script + "exec cat", "bash"}, args...)...)
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	if _, err := command.StdinPipe(); err != nil { // cat ends when it is closed
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Skipf("no machine can be had: %v", err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	return command
}

// in runs a command in the namespaces of a process.
func in(t testing.TB, process *exec.Cmd, env []string, args ...string) (string, error) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	command := exec.CommandContext(ctx, "nsenter",
		append([]string{"--target", strconv.Itoa(process.Process.Pid), "--net", "--mount", "--pid"}, args...)...)
	// What the command leaves behind would keep a pipe open.
	command.Env, command.Stdout, command.Stderr = append(os.Environ(), env...), file, file
	err = command.Run()
	content, _ := os.ReadFile(out)
	return string(content), err
}

// newNetwork makes a network with a bucket, which has an object for each corpus.
func newNetwork(t testing.TB, program string) *network {
	for _, tool := range []string{"ip", "nsenter", "mount"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no machine can be had: %v", err)
		}
	}
	n := &network{t: t, program: program, folder: t.TempDir()}
	n.hub = inNamespaces(t, syscall.CLONE_NEWNET, "")
	const bridge = "ip link set lo up && ip link add hub type bridge && ip address add 10.77.0.254/24 dev hub && ip link set hub up"
	if out, err := in(t, n.hub, nil, "bash", "-ec", bridge); err != nil {
		t.Skipf("no network can be had: %v: %s", err, out)
	}
	listener := n.listen("10.77.0.254:0")
	n.bucket = listener.Addr().String()
	objects, err := fakestorage.NewServerWithOptions(fakestorage.Options{
		NoListener:  true,
		PublicHost:  n.bucket,
		ExternalURL: "http://" + n.bucket,
		Writer:      io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	n.objects = objects
	objects.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "cluster"})
	for _, corpus := range corpora {
		content, err := os.ReadFile(filepath.Join(corporatest.Folder(t), filepath.FromSlash(corpus)))
		if err != nil {
			t.Fatal(err)
		}
		objects.CreateObject(fakestorage.Object{
			ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "cluster", Name: "input/" + filepath.Base(corpus)},
			Content:     content,
		})
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/upload/") && strings.Contains(r.URL.RawQuery, "run-") {
			if number := n.written.Add(1); n.strike != nil {
				n.strike(number)
			}
		}
		objects.HTTPHandler().ServeHTTP(w, r)
	})}
	go func() { _ = server.Serve(listener) }() // until the test ends
	t.Cleanup(func() { server.Close() })
	return n
}

// listen listens in the namespace of the hub.
func (n *network) listen(address string) (listener net.Listener) {
	var failed error
	done := make(chan struct{})
	go func() { // in a thread of its own, which ends with it
		defer close(done)
		runtime.LockOSThread()
		namespace, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", n.hub.Process.Pid))
		if err != nil {
			failed = err
			return
		}
		defer namespace.Close()
		if failed = unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); failed == nil {
			listener, failed = net.Listen("tcp", address)
		}
	}()
	if <-done; failed != nil {
		n.t.Skipf("no network can be had: %v", failed)
	}
	return listener
}

// machine adds a machine. Its line has a gigabit a second and, where the kernel can, delays and losses.
func (n *network) machine(name string) *machine {
	n.t.Helper()
	n.machines++
	m := &machine{t: n.t, network: n, name: name, address: fmt.Sprintf("10.77.0.%d", n.machines)}
	const mounts = `mount --make-rprivate / && mount -t proc proc /proc && mount -t tmpfs tmpfs "$1" && `
	m.init = inNamespaces(n.t, syscall.CLONE_NEWNET|syscall.CLONE_NEWNS|syscall.CLONE_NEWPID, mounts, n.folder)
	line := fmt.Sprintf("ip link add %[1]s type veth peer name eth0 netns %[2]d && ip link set %[1]s master hub up && "+
		"(tc qdisc add dev %[1]s root handle 1: tbf rate 1gbit burst 1mb latency 50ms && tc qdisc add dev %[1]s parent 1: netem delay 2ms loss 1%%) || true", name, m.init.Process.Pid)
	shaped, err := in(n.t, n.hub, nil, "bash", "-ec", line)
	if err == nil {
		shaped, err = in(n.t, m.init, nil, "bash", "-ec",
			"ip link set lo up && ip address add "+m.address+"/24 dev eth0 && ip link set eth0 up; "+
				// The mounts are there as soon as the folder is another one.
				"until mountpoint -q "+n.folder+"; do sleep .1; done")
	}
	if err != nil {
		n.t.Skipf("no machine can be had: %v: %s", err, shaped)
	}
	return m
}

// run runs a command on the machine.
func (m *machine) run(args ...string) (string, error) {
	m.t.Helper()
	return in(m.t, m.init,
		[]string{
			"TMPDIR=" + m.network.folder, "RUNJOB=" + m.network.program,
			"STORAGE_EMULATOR_HOST=" + m.network.bucket, "SLOTS=2", "TASK_MANAGERS=1",
		}, args...)
}

// start starts the part of a cluster that a machine has.
func (m *machine) start(role string, manager *machine) {
	m.t.Helper()
	script, err := filepath.Abs("../flink.sh")
	if err != nil {
		m.t.Fatal(err)
	}
	if out, err := m.run("env", "ROLE="+role, "ADDRESS="+m.address, "MANAGER="+manager.address, script,
		"start"); err != nil {
		m.t.Fatalf("start %s: %v: %s", m.name, err, out)
	}
}

// cut takes the machine off the network, or puts it back.
func (m *machine) cut(isCut bool) {
	state := "up"
	if isCut {
		state = "down"
	}
	if out, err := in(m.t, m.network.hub, nil, "ip", "link", "set", m.name, state); err != nil {
		m.t.Errorf("set the line of %s %s: %v: %s", m.name, state, err, out)
	}
}

// slow lets the worker of the machine run for a tenth of the time, until the returned function is called.
func (m *machine) slow() (end func()) {
	signal := func(name string) {
		_, _ = m.run("pkill", "-"+name, "-f", "worker-pool|--worker_pool|--control_endpoint")
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			signal("STOP")
			time.Sleep(900 * time.Millisecond)
			signal("CONT")
			time.Sleep(100 * time.Millisecond)
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// job runs a job from a machine, and returns the bytes of its results.
func (m *machine) job(name string, flags ...string) map[string]string {
	m.t.Helper()
	m.network.written.Store(0)
	args := append([]string{
		m.network.program, "run", "--input", "gs://cluster/input/" + filepath.Base(corpora[1]),
		"--output", "gs://cluster/" + name, "--emit", "clusters,pairs",
	}, flags...)
	begun := time.Now()
	if out, err := m.run(args...); err != nil {
		m.t.Fatalf("%s: %v: %s", name, err, last(out))
	}
	m.t.Logf("%s: %.0f s", name, time.Since(begun).Seconds())
	found := map[string]string{}
	for _, kind := range []string{"clusters", "pairs"} {
		list, err := m.network.objects.ListObjectsWithOptionsPaginated("cluster",
			fakestorage.ListOptions{Prefix: name + "/" + kind + "-"})
		if err != nil {
			m.t.Fatal(err)
		}
		for _, object := range list.Objects {
			content, err := m.network.objects.GetObject("cluster", object.Name)
			if err != nil {
				m.t.Fatal(err)
			}
			found[kind] += string(content.Content)
		}
	}
	return found
}

// TestMachines runs jobs on Flink on three machines that share nothing but a bucket. A machine dies in the middle of a
// job, one is cut off for a minute, and one is ten times slower than the other. The results are the same bytes as on
// one machine.
func TestMachines(t *testing.T) {
	program, _ := tools(t)
	n := newNetwork(t, program)
	manager, first, second := n.machine("manager"), n.machine("first"), n.machine("second")
	want := manager.job("local")
	if len(want["pairs"]) == 0 {
		t.Fatal("no pairs")
	}
	manager.start("manager", manager)
	first.start("worker", manager)
	second.start("worker", manager)
	flags := []string{
		"--runner=flink", "--endpoint=" + manager.address + ":8099", "--flink_rest=" + manager.address + ":8081",
		"--parallelism=4",
		"--environment_type=EXTERNAL", "--environment_config=localhost:50000", "--temp=gs://cluster/temp",
	}
	check := func(name string) {
		t.Helper()
		got := manager.job(strings.ReplaceAll(name, " ", "-"), flags...)
		for kind, content := range want {
			if !bytes.Equal([]byte(got[kind]), []byte(content)) {
				t.Errorf("%s: %s of %d bytes, not the %d of one machine", name, kind, len(got[kind]), len(content))
			}
		}
	}
	check("three machines")

	end := first.slow()
	check("one is slow")
	end()

	flags[3] = "--parallelism=2" // what one machine can do
	var healed chan struct{}
	n.strike = func(number int64) {
		if number == 12 && healed == nil {
			healed = make(chan struct{})
			first.cut(true)
			go func() {
				defer close(healed)
				time.Sleep(time.Minute)
				first.cut(false)
			}()
		}
	}
	check("one is cut off")
	if n.strike = nil; healed == nil {
		t.Fatal("no machine was cut off")
	}
	<-healed

	isDead := false
	n.strike = func(number int64) {
		if number == 12 && !isDead {
			isDead = true
			_ = second.init.Process.Kill()
		}
	}
	check("one dies")
	if !isDead {
		t.Error("no machine has died")
	}
}
