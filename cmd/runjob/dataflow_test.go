package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/bucket"
	"mirrorbeam.dev/internal/storage/gcs"
	"mirrorbeam.dev/pipeline/dataflow/dataflowtest"
)

// folder is where the jobs of these tests work.
const folder = "gs://" + dataflowtest.Bucket + "/job"

// putInput writes the input of a job into the bucket.
func putInput(s *scene, documents int) {
	s.t.Helper()
	s.t.Cleanup(storage.Register("gs", gcs.New(bucket.Usual())))
	if err := storage.WriteFile(folder+"/in.jsonl", randomCorpus(documents)); err != nil {
		s.t.Fatal(err)
	}
}

// onDataflow prepares the main job on a stand-in for Dataflow, from bucket to bucket.
func onDataflow(s *scene, server *dataflowtest.Server, documents int, more ...string) *started {
	s.t.Helper()
	putInput(s, documents)
	return againOnDataflow(s, server, more...)
}

// againOnDataflow does the same with the input that is there.
func againOnDataflow(s *scene, server *dataflowtest.Server, more ...string) *started {
	s.t.Helper()
	args := append([]string{
		"run", "--runner", "dataflow", "--input", folder + "/in.jsonl", "--output",
		folder + "/out", "--temp", folder + "/temp",
	}, more...)
	for name, value := range server.Flags() {
		args = append(args, "--"+name, value)
	}
	return s.command("runjob", args...)
}

// left lists what a job has left in the bucket, apart from its input and what Beam has staged.
func left(server *dataflowtest.Server) (names []string) {
	for _, name := range server.Objects() {
		if !strings.Contains(name, "/staging/") && !strings.HasSuffix(name, "/in.jsonl") {
			names = append(names, name)
		}
	}
	return names
}

// TestDataflowFromBucketToBucket: the program stages itself, works from what it has staged, and publishes.
func TestDataflowFromBucketToBucket(t *testing.T) {
	server := dataflowtest.Start(t)
	server.Run()
	s := newScene(t)
	j := onDataflow(s, server, 300)
	if err := j.Run(); err != nil {
		t.Fatalf("%v: %s", err, &j.stderr)
	}
	checkPublished(t, server, 300)
}

// checkPublished checks that the results of a number of documents are published, and that nothing else is left.
func checkPublished(t *testing.T, server *dataflowtest.Server, documents int) {
	t.Helper()
	summary, err := server.Object(folder + "/out/summary.json")
	if err != nil || !strings.Contains(string(summary), fmt.Sprintf(`"documents": %d,`, documents)) {
		t.Errorf("the summary is %s (%v)", summary, err)
	}
	for _, name := range left(server) {
		if !strings.Contains(name, "/job/out/") {
			t.Errorf("%s is left", name)
		}
	}
}

// TestDataflowState: the second run on Dataflow reads nothing again, from a state in the bucket.
func TestDataflowState(t *testing.T) {
	server := dataflowtest.Start(t)
	server.Run()
	s := newScene(t)
	putInput(s, 300)
	for _, want := range []string{"generation 1: 1 file read, 0 unchanged", "generation 2: 0 files read, 1 unchanged"} {
		j := againOnDataflow(s, server, "--state", folder+"/state", "--overwrite", "--republish")
		if err := j.Run(); err != nil || !strings.Contains(j.stderr.String(), want) {
			t.Fatalf("%v, want %s: %s", err, want, &j.stderr)
		}
	}
	verify := s.command("runjob", "state", "verify", folder+"/state")
	if err := verify.Run(); err != nil {
		t.Errorf("%v: %s", err, &verify.stderr)
	}
}

// TestDataflowLaunched plays a Flex Template: the program leaves a job for the launcher and ends, the launcher starts
// the job, and another process publishes its results.
func TestDataflowLaunched(t *testing.T) {
	server := dataflowtest.Start(t)
	server.Run()
	s := newScene(t)
	const id = "2026-01-01_00_00_00-77"
	j := onDataflow(s, server, 300, "--template_location", dataflowtest.LaunchPlace(id))
	if err := j.Run(); err != nil || !strings.Contains(j.stderr.String(), id) {
		t.Fatalf("%v: %s", err, &j.stderr)
	}
	if n := len(server.Jobs()); n > 0 {
		t.Fatalf("the program has sent %d jobs, and the launcher is to send one", n)
	}
	if err := server.Launch(id); err != nil {
		t.Fatal(err)
	}
	finish := s.command("runjob", "finish", "--report", folder+"/out")
	if err := finish.Run(); err != nil {
		t.Fatalf("%v: %s", err, &finish.stderr)
	}
	if page, err := server.Object(folder + "/out/report.html"); err != nil ||
		!strings.Contains(string(page), "</html>") {
		t.Errorf("a report of %d bytes: %v", len(page), err)
	}
	checkPublished(t, server, 300)
}

// TestDataflowLeft: a job that was left is found by its output folder, and can be cancelled.
func TestDataflowLeft(t *testing.T) {
	server := dataflowtest.Start(t)
	server.Play("JOB_STATE_RUNNING")
	s := newScene(t)
	j := onDataflow(s, server, 30, "--async")
	if err := j.Run(); err != nil {
		t.Fatalf("%v: %s", err, &j.stderr)
	}
	cancel := s.command("runjob", "finish", "--cancel", folder+"/out")
	if err := cancel.Run(); err != nil {
		t.Fatalf("%v: %s", err, &cancel.stderr)
	}
	if state := server.State("2026-01-01_00_00_00-1"); state != "JOB_STATE_CANCELLED" {
		t.Errorf("the job is in the state %s", state)
	}
	if litter := left(server); len(litter) > 0 {
		t.Errorf("left: %q", litter)
	}
}

// TestDataflowFails: the message is the service's, and the exit code says that the job's machines are to blame.
func TestDataflowFails(t *testing.T) {
	server := dataflowtest.Start(t)
	server.Play("JOB_STATE_RUNNING", "JOB_STATE_FAILED")
	server.Say("JOB_MESSAGE_ERROR", "The zone has no machines of this type.")
	s := newScene(t)
	j := onDataflow(s, server, 30)
	j.Run()
	const want = "runjob: The zone has no machines of this type.\n"
	if code := j.ProcessState.ExitCode(); code != exitStorage || !strings.Contains(j.stderr.String(), want) {
		t.Errorf("exit code %d: %s", code, &j.stderr)
	}
	if litter := left(server); len(litter) > 0 {
		t.Errorf("left: %q", litter)
	}
}

// TestDataflowInterrupted: Ctrl-C cancels the job, and the program ends when the job has ended.
func TestDataflowInterrupted(t *testing.T) {
	server := dataflowtest.Start(t)
	server.Play("JOB_STATE_RUNNING")
	s := newScene(t)
	j := onDataflow(s, server, 30)
	if err := j.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- j.Wait() }()
	for len(server.Jobs()) == 0 {
		select {
		case err := <-ended:
			t.Fatalf("the program ended before the job was sent: %v: %s", err, &j.stderr)
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := j.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-ended
	if code := j.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, &j.stderr)
	}
	if state := server.State("2026-01-01_00_00_00-1"); state != "JOB_STATE_CANCELLED" {
		t.Errorf("the job is in the state %s", state)
	}
	if litter := left(server); len(litter) > 0 {
		t.Errorf("left: %q", litter)
	}
}

// TestDataflowScript runs the script of the documentation, with a gcloud that knows one bucket.
func TestDataflowScript(t *testing.T) {
	if runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
		t.Skip("the script builds a program for workers, and this test has none to give it")
	}
	script, err := filepath.Abs("../../scripts/dataflow.sh")
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("runjob")
	if err != nil {
		t.Fatal(err)
	}
	server := dataflowtest.Start(t)
	server.Run()
	s := newScene(t)
	putInput(s, 300)
	s.write("bin/gcloud", []byte(`#!/bin/sh
case "$*" in
'storage buckets describe gs://corpora --project a-project --format value(location)') echo EUROPE-WEST4 ;;
*) echo "gcloud is asked to $*" >&2 && exit 1 ;;
esac
`))
	if err := os.Chmod(filepath.Join(s.dir, "bin/gcloud"), 0o755); err != nil {
		t.Fatal(err)
	}
	j := s.command(script, dataflowtest.Project, dataflowtest.Region, dataflowtest.Bucket, folder+"/in.jsonl",
		folder+"/out",
		"--dataflow_endpoint", server.Endpoint)
	j.Env = append(j.Env, "PATH="+filepath.Join(s.dir, "bin")+":"+os.Getenv("PATH"), "RUNJOB="+program)
	if err := j.Run(); err != nil {
		t.Fatalf("%v: %s", err, &j.stderr)
	}
	if strings.Contains(j.stderr.String(), "dataflow.sh") {
		t.Errorf("the script complains: %s", &j.stderr)
	}
	checkPublished(t, server, 300)
}

// TestDataflowCheck runs the script that looks at a project, with a gcloud that knows one.
func TestDataflowCheck(t *testing.T) {
	script, err := filepath.Abs("../../scripts/dataflow-check.sh")
	if err != nil {
		t.Fatal(err)
	}
	whole := map[string]string{
		"services list": "dataflow.googleapis.com\ncompute.googleapis.com\n" +
			"storage.googleapis.com\nlogging.googleapis.com",
		"storage buckets describe":               "EUROPE-WEST4",
		"projects get-iam-policy":                "roles/dataflow.worker",
		"storage buckets get-iam-policy":         "roles/storage.objectUser",
		"compute networks subnets describe":      "True",
		"resource-manager org-policies describe": "DENY",
		"compute regions describe":               "CPUS,200.0,8.0\nDISKS_TOTAL_GB,4096.0,100.0",
		"auth application-default":               "a token",
		"compute networks describe":              "default",
		"projects describe":                      "12345",
	}
	for _, c := range []struct {
		name, question, answer string
		lacking                string // what the script says next to "lacks"; "": nothing
	}{
		{"all is there", "", "", ""},
		{"no API", "services list", "storage.googleapis.com", "API dataflow"},
		{"a bucket elsewhere", "storage buckets describe", "US", "a bucket gs://corpora in europe-west4 (it is in: us"},
		{"a worker without its role", "projects get-iam-policy", "roles/viewer", "the role roles/dataflow.worker"},
		{"a closed bucket", "storage buckets get-iam-policy", "roles/viewer", "the role roles/storage.objectUser"},
		{"no way out", "compute networks subnets describe", "False", "a way to the buckets"},
		{"no subnetwork", "compute networks subnets describe", "", "a subnetwork default"},
		{"no quota of addresses", "resource-manager org-policies describe", "", "quota IN_USE_ADDRESSES: none left of 20"},
		{"few cores", "compute regions describe", "CPUS,72.0,8.0\nDISKS_TOTAL_GB,4096,0", "quota CPUS: 64 left of 160"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			gcloud := "#!/bin/sh\ncase \"$*\" in\n"
			for question, answer := range whole {
				if question == c.question {
					answer = c.answer
				}
				gcloud += fmt.Sprintf("%q*) echo '%s' ;;\n", question, answer)
			}
			s.write("bin/gcloud", []byte(gcloud+"*) exit 1 ;;\nesac\n"))
			if err := os.Chmod(filepath.Join(s.dir, "bin/gcloud"), 0o755); err != nil {
				t.Fatal(err)
			}
			j := s.command(script, "my-project", "europe-west4", "corpora")
			j.Env = append(j.Env, "GOOGLE_APPLICATION_CREDENTIALS=",
				"PATH="+filepath.Join(s.dir, "bin")+":"+os.Getenv("PATH"))
			out, err := j.Output()
			if said := strings.Contains(string(out), "\nlacks  "+c.lacking); (err != nil) != (c.lacking != "") ||
				c.lacking != "" && !said || c.lacking == "" && strings.Contains(string(out), "lacks") {
				t.Errorf("%v:\n%s%s", err, out, &j.stderr)
			}
		})
	}
}
