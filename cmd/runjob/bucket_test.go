package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/bucket"
	"mirrorbeam.dev/internal/storage/gcs"
)

// TestKilledInBucket kills jobs that work from bucket to bucket, at many points of their work. The bucket then holds
// the earlier results, or the next job finds or makes the new ones, and clears away what the dead one has left.
func TestKilledInBucket(t *testing.T) {
	server := newDeadlyBucket(t, "corpora")
	s := newScene(t)
	const folder = "gs://corpora/job"
	put := func(name string, documents int) {
		if err := storage.WriteFile(folder+"/in/"+name, randomCorpus(documents)); err != nil {
			t.Fatal(err)
		}
	}
	run := func() *started {
		return s.command("runjob", "run", "--input", folder+"/in", "--output", folder+"/out", "--temp", folder+"/temp",
			"--emit", "clusters,removed", "--overwrite")
	}
	results := func() map[string]string {
		files := map[string]string{}
		for info, err := range gcs.New(bucket.Usual()).List(folder) {
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimPrefix(info.Name, folder+"/")
			if strings.HasPrefix(name, "in/") || strings.HasSuffix(name, "summary.json") ||
				strings.HasSuffix(name, "manifest.json") {
				continue
			}
			content, err := storage.ReadFile(info.Name)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(content)
		}
		return files
	}
	put("a.jsonl", 300)
	complete := func() {
		t.Helper()
		if j := run(); j.Run() != nil {
			t.Fatal(j.stderr.String())
		}
	}
	complete()
	old := results()
	put("b.jsonl", 200)
	server.requests.Store(0)
	complete()
	all, fresh := server.requests.Load(), results()
	if len(old) < 4 || maps.Equal(old, fresh) {
		t.Fatalf("%d and %d files of results", len(old), len(fresh))
	}
	// Each point is a request that the process does not outlive. Publishing is at the end.
	for _, point := range []int64{
		3, all / 4, all / 2, all - 60, all - 45, all - 40, all - 35, all - 30, all - 25,
		all - 20, all - 15, all - 10, all - 5,
	} {
		t.Run(fmt.Sprint(point), func(t *testing.T) {
			server.killAt(t, run(), point)
			// A lease ends a minute after its process. The test does not wait.
			for name := range results() {
				if strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, "lease") {
					if err := storage.Remove(folder + "/" + name); err != nil {
						t.Fatal(err)
					}
				}
			}
			if _, whole := results()["out/_SUCCESS"]; whole {
				got := results()
				maps.DeleteFunc(got, func(name, _ string) bool {
					return !strings.HasPrefix(name, "out/") || strings.Contains(name, "/.partial-")
				})
				if !maps.Equal(got, fresh) {
					t.Errorf("killed at request %d of %d: _SUCCESS stands beside other results", point, all)
				}
			}
			complete()
			if got := results(); !maps.Equal(got, fresh) {
				t.Errorf("after request %d of %d the next run left %d files, want %d", point, all, len(got), len(fresh))
			}
		})
	}
}

// TestStoppedInBucket stops a job (SIGSTOP) at requests around its publishing until it has lost its leases. Another job
// publishes newer results, and the first one goes on. A third one fails. The newer results stay as they are.
func TestStoppedInBucket(t *testing.T) {
	server := newDeadlyBucket(t, "corpora")
	s := newScene(t)
	const folder = "gs://corpora/job"
	run := func(flags ...string) *started {
		return s.command("runjob",
			append([]string{"run", "--output", folder + "/out", "--temp", folder + "/temp", "--overwrite"},
				flags...)...)
	}
	older, newer, bad := folder+"/older.jsonl", folder+"/newer.jsonl", folder+"/bad.jsonl"
	for name, content := range map[string][]byte{
		older: randomCorpus(300),
		newer: randomCorpus(500),
		bad:   []byte("no JSON\n"),
	} {
		if err := storage.WriteFile(name, content); err != nil {
			t.Fatal(err)
		}
	}
	complete := func() map[string]string {
		t.Helper()
		if j := run("--input", newer); j.Run() != nil {
			t.Fatal(j.stderr.String())
		}
		return contents(t, folder+"/out")
	}
	complete()
	server.requests.Store(0)
	if j := run("--input", older); j.Run() != nil {
		t.Fatal(j.stderr.String())
	}
	all := server.requests.Load()
	for before := int64(2); before <= 44; before += 6 {
		stopped := run("--input", older)
		ended := server.signalAt(t, stopped, all-before, syscall.SIGSTOP)
		// Its leases end a minute later. The test does not wait.
		for name := range contents(t, folder) {
			if strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, "lease") {
				if err := storage.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
		}
		published := complete()
		check := func(after string) {
			t.Helper()
			if got := contents(t, folder+"/out"); !maps.Equal(got, published) {
				t.Errorf("stopped at request %d of %d, %s: the folder holds %v, want the files and contents of %v",
					all-before, all, after, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(published)))
			}
		}
		if err := stopped.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		<-ended
		check("after it went on")
		if j := run("--input", newer, "--input", bad, "--max-rejects", "0"); j.Run() == nil {
			t.Fatal("too many rejects were accepted")
		}
		check("after another one failed")
	}
}

// TestInterruptedInBucket: a job whose bucket answers no more, at many points of its work, ends soon after Ctrl-C or
// SIGTERM. The bucket then holds the earlier results, or the next job finishes what this one has begun to publish.
func TestInterruptedInBucket(t *testing.T) {
	server := newMuteBucket(t, "corpora")
	s := newScene(t)
	const folder = "gs://corpora/job"
	if err := storage.WriteFile(folder+"/in/a.jsonl", randomCorpus(300)); err != nil {
		t.Fatal(err)
	}
	run := func() *started {
		return s.command("runjob", "run", "--input", folder+"/in", "--output", folder+"/out", "--temp", folder+"/temp",
			"--overwrite")
	}
	if j := run(); j.Run() != nil {
		t.Fatal(j.stderr.String())
	}
	all := server.requests.Load()
	for i, point := range []int64{1, 4, all / 4, all / 2, all - 40, all - 30, all - 20, all - 10, all - 5} {
		t.Run(fmt.Sprint(point), func(t *testing.T) {
			ways := []mute{refusing, silent}
			signal := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[i/2%2]
			took, code, message := server.interruptAt(t, run(), point, ways[i%2], signal)
			// It takes some two seconds at the most. The rest is for a machine that does other things as well.
			if took > 10*time.Second {
				t.Errorf("interrupted at request %d of %d, the job ends after %v", point, all, took)
			}
			isHalf := (code == exitStorage || code == exitUnavailable) && point > all/2 &&
				strings.Contains(message, "it stopped half-way")
			_, published := storage.Stat(folder + "/out/_SUCCESS")
			isDone := code == exitDone && published == nil && point > all-20 // it only cleared away
			if code != 128+int(signal) && !isHalf && !isDone {
				t.Errorf("interrupted at request %d of %d: exit code %d: %s", point, all, code, message)
			}
			for info, err := range gcs.New(bucket.Usual()).List(folder) {
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(info.Name, ".lock") || strings.HasSuffix(info.Name, "lease") {
					if err := storage.Remove(info.Name); err != nil {
						t.Fatal(err)
					}
				}
			}
			if j := run(); j.Run() != nil {
				t.Fatal(j.stderr.String())
			}
			if _, err := storage.Stat(folder + "/out/_SUCCESS"); err != nil {
				t.Errorf("interrupted at request %d of %d: the next run leaves no whole results: %v", point, all, err)
			}
		})
	}
}

// TestReportInBucket: a run in a bucket writes its page there, and the next one replaces it.
func TestReportInBucket(t *testing.T) {
	newDeadlyBucket(t, "corpora")
	s := newScene(t)
	const folder = "gs://corpora/job"
	if err := storage.WriteFile(folder+"/in/a.jsonl", randomCorpus(30)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		j := s.command("runjob", "run", "--input", folder+"/in", "--output", folder+"/out", "--temp", folder+"/temp",
			"--overwrite", "--report")
		if err := j.Run(); err != nil {
			t.Fatal(err, j.stderr.String())
		}
		page, err := storage.ReadFile(folder + "/out/report.html")
		if err != nil || !strings.Contains(string(page), `"documents":30,`) {
			t.Errorf("the page has %d bytes: %v", len(page), err)
		}
	}
}
