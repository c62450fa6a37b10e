package pipeline

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/bucket"
	"mirrorbeam.dev/internal/storage/gcs"
	"mirrorbeam.dev/internal/storage/s3"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/job"
)

// hasty are limits for tests: a server on this machine answers soon.
func hasty() bucket.Limits {
	limits := bucket.Usual()
	limits.Pause, limits.LongestPause, limits.Stall = time.Millisecond, 10*time.Millisecond, 500*time.Millisecond
	return limits
}

// services are the storages behind a network, each with a bucket behind a proxy.
var services = []struct {
	scheme string
	serve  func(t testing.TB) *storagetest.Proxy
}{
	{"gs", func(t testing.TB) *storagetest.Proxy {
		proxy := storagetest.NewProxy(t, nil)
		server, err := fakestorage.NewServerWithOptions(fakestorage.Options{
			NoListener:  true,
			PublicHost:  proxy.Host,
			ExternalURL: proxy.URL,
			Writer:      io.Discard,
		})
		if err != nil {
			t.Fatal(err)
		}
		proxy.Serve(server.HTTPHandler())
		t.Setenv("STORAGE_EMULATOR_HOST", proxy.Host)
		server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "corpora"})
		t.Cleanup(storage.Register("gs", gcs.New(hasty())))
		return proxy
	}},
	{"s3", func(t testing.TB) *storagetest.Proxy {
		server := s3mem.New()
		proxy := storagetest.NewProxy(t, gofakes3.New(server).Server())
		for name, value := range map[string]string{
			"AWS_ENDPOINT_URL_S3":         proxy.URL,
			"AWS_REGION":                  "us-east-1",
			"AWS_ACCESS_KEY_ID":           "user",
			"AWS_SECRET_ACCESS_KEY":       "secret",
			"AWS_CONFIG_FILE":             "/dev/null",
			"AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
			"AWS_EC2_METADATA_DISABLED":   "true",
			"AWS_PROFILE":                 "",
			"AWS_SESSION_TOKEN":           "",
			"AWS_REQUEST_PAYER":           "",
		} {
			t.Setenv(name, value)
		}
		if err := server.CreateBucket("corpora"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(storage.Register("s3", s3.New(hasty())))
		return proxy
	}},
}

// inBucket copies the input of a job into a bucket, and lets the job work there.
func inBucket(t *testing.T, config job.Config, scheme string) job.Config {
	t.Helper()
	folder := scheme + "://corpora/a folder/"
	config.Input = []string{copyFiles(t, config.Input[0], folder+"in")}
	config.Output = folder + "out"
	config.Temp = folder + "temp"
	return config
}

// sameFiles compares the files of results.
func sameFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, content := range want {
		sameText(t, name, got[name], content)
	}
	if len(got) != len(want) || len(got) < 5 {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

// TestServices runs a job from bucket to bucket, with one request in thirty hurt. It publishes the same bytes as on the
// local disk, and leaves nothing else. So does one in memory, and one whose results replace earlier ones.
func TestServices(t *testing.T) {
	local := lawConfig(t, putCorpus(t, plain, cut(oddities(lawSeed), 3)...))
	runJob(t, local)
	want := allFiles(t, local.Output)
	run := func(t *testing.T, config job.Config) {
		t.Helper()
		summary, err := Run(t.Context(), config)
		if err != nil || summary.TempBytes == 0 {
			t.Fatalf("%d bytes of temporary files: %v", summary.TempBytes, err)
		}
		sameFiles(t, allFiles(t, config.Output), want)
		if left := allFiles(t, config.Temp); len(left) > 0 {
			t.Errorf("temporary files are left: %d", len(left))
		}
	}
	for _, service := range services {
		t.Run(service.scheme, func(t *testing.T) {
			proxy := service.serve(t)
			config := inBucket(t, local, service.scheme)
			proxy.Hurt(30, 7)
			run(t, config)
			proxy.Hurt(0, 0)
			if hurts := proxy.Hurts(); len(hurts) < 4 {
				t.Errorf("hurt were only %v", hurts)
			}
		})
	}
	t.Run("memory", func(t *testing.T) {
		_, folder := storagetest.NewMemory(t)
		config := local
		config.Input = []string{copyFiles(t, local.Input[0], storage.Join(folder, "input"))}
		config.Output = storage.Join(folder, "output")
		config.Temp = storage.Join(folder, "temp")
		config.Overwrite = true
		run(t, config)
		run(t, config)
	})
}

// TestSmallObjects runs a job over many small objects, of which tasks read some ahead, with one request in thirty hurt.
// It publishes the bytes of a local job, kept records among them. Each object is asked for three times: to see its
// format, to fingerprint it and to copy it.
func TestSmallObjects(t *testing.T) {
	const files = 120
	var corpus []file
	for i, lines := 0, oddities(lawSeed); i < files; i++ {
		corpus = append(corpus, file{fmt.Sprintf("%03d.jsonl", i), lines[len(lines)*i/files : len(lines)*(i+1)/files]})
	}
	local := lawConfig(t, putCorpus(t, plain, corpus...))
	local.Emit = []string{output.Clusters, output.Unique}
	runJob(t, local)
	want := allFiles(t, local.Output)
	for _, service := range services {
		t.Run(service.scheme, func(t *testing.T) {
			proxy := service.serve(t)
			config := inBucket(t, local, service.scheme)
			config.Temp, config.Overwrite = "", true
			for _, hurt := range []int{0, 30} {
				proxy.Hurt(hurt, 7)
				proxy.Requests()
				if _, err := Run(t.Context(), config); err != nil {
					t.Fatal(err)
				}
				reads := proxy.Requests()["read"]
				proxy.Hurt(0, 0)
				sameFiles(t, allFiles(t, config.Output), want)
				// some are made again where answers are slow
				if hurt == 0 && (reads < 3*files || reads > 3*files+files/2) {
					t.Errorf("%d reads of %d objects", reads, files)
				}
			}
		})
	}
}

// TestCheckOpensFew: a check of many objects asks for their names, and opens a few. It still finds a missing field.
func TestCheckOpensFew(t *testing.T) {
	for _, service := range services {
		t.Run(service.scheme, func(t *testing.T) {
			proxy := service.serve(t)
			var files []file
			for i := range 100 {
				files = append(files, file{fmt.Sprintf("%02d.jsonl", i), cut(oddities(lawSeed), 4)[i%4].lines[:2]})
			}
			config := inBucket(t, lawConfig(t, putCorpus(t, plain, files...)), service.scheme)
			proxy.Requests()
			checked, err := Check(t.Context(), config)
			if err != nil || checked.Bytes == 0 {
				t.Errorf("%+v, %v", checked, err)
			}
			sum := 0
			for _, n := range proxy.Requests() {
				sum += n
			}
			if sum == 0 || sum > 40 {
				t.Errorf("%d requests for 100 objects", sum)
			}
			config.TextField = "no such"
			if _, err = Check(t.Context(), config); err == nil || !strings.Contains(err.Error(), "no such") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestBudget: the requests of a job are bounded by its splits, shards and files, whatever is in them.
func TestBudget(t *testing.T) {
	for _, service := range services {
		t.Run(service.scheme, func(t *testing.T) {
			proxy := service.serve(t)
			spent := map[int]map[string]int{}
			for _, copies := range []int{1, 4} {
				var files []file
				for _, f := range cut(oddities(lawSeed), 4) {
					lines := f.lines
					for range copies - 1 {
						lines = append(lines, f.lines...)
					}
					files = append(files, file{f.name, lines})
				}
				config := lawConfig(t, putCorpus(t, plain, files...))
				config = inBucket(t, config, service.scheme)
				config.Overwrite = true
				proxy.Requests()
				summary, err := Run(t.Context(), config)
				if err != nil {
					t.Fatal(err)
				}
				spent[copies] = proxy.Requests()
				checkRequests(t, &summary, spent[copies])
			}
			t.Logf("%v", spent)
			for kind, n := range spent[4] {
				// A job of four times as many records has as many splits and shards here.
				if limit := spent[1][kind]*5/4 + 10; n > limit {
					t.Errorf("%s: %d requests, %d for a fourth of the records", kind, n, spent[1][kind])
				}
			}
			const stages, splits, shards = 12, 4, 4
			if reads := spent[4]["read"]; reads > stages*splits*shards+200 {
				t.Errorf("%d reads", reads)
			}
			if all := spent[4]["stat"] + spent[4]["list"]; all > 150 {
				t.Errorf("%d requests that only ask", all)
			}
		})
	}
}

// checkRequests compares the requests that a summary counts with those that a service has seen. The last ones, which
// give back what the job held, come after it.
func checkRequests(t *testing.T, summary *Summary, seen map[string]int) {
	t.Helper()
	counted, dollars, inStages := map[string]int{}, 0., int64(0)
	for _, r := range summary.Requests {
		counted[strings.Replace(r.Kind, "describe", "stat", 1)] = int(r.Requests)
		dollars += r.Dollars
		if hasBytes := r.Kind == "read" || r.Kind == "write"; hasBytes != (r.Bytes > 0) {
			t.Errorf("%s: %d bytes", r.Kind, r.Bytes)
		}
	}
	for _, stage := range summary.Stages {
		inStages += stage.Requests
	}
	for _, kind := range []string{"stat", "read", "write", "copy"} {
		if counted[kind] != seen[kind] || seen[kind] == 0 {
			t.Errorf("%s: %d requests are counted, %d were made", kind, counted[kind], seen[kind])
		}
	}
	if counted["list"] == 0 || counted["list"] > seen["list"] || counted["remove"] > seen["remove"] {
		t.Errorf("counted %v, made %v", counted, seen)
	}
	if want := (0.4*float64(counted["read"]+counted["stat"]) +
		5*float64(counted["list"]+counted["write"]+counted["copy"])) / 1e6; math.Abs(dollars-want) > 1e-9 {
		t.Errorf("%g dollars, want %g", dollars, want)
	}
	if inStages < int64(seen["read"])/2 {
		t.Errorf("the stages have made %d requests of %v", inStages, seen)
	}
}

// allFiles returns the results in a folder of any storage, by name. What tells of the run itself is left out.
func allFiles(t *testing.T, folder string) map[string]string {
	t.Helper()
	s, err := storage.Of(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for info, err := range s.List(folder) {
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(info.Name, folder+"/")
		if name == "summary.json" || name == "manifest.json" {
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

// copyFiles copies the files in a folder of the local disk to a folder of any storage, which it returns.
func copyFiles(t *testing.T, from, to string) string {
	t.Helper()
	for info, err := range (storage.Local{}).List(from) {
		if err != nil {
			t.Fatal(err)
		}
		content, err := storage.ReadFile(info.Name)
		if err == nil {
			err = storage.WriteFile(to+strings.TrimPrefix(info.Name, from), content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}
