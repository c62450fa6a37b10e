// Command objects runs a command against a bucket on this machine, and prints what the command took: time, CPU time and
// requests by kind. The bucket answers late, as one behind a network does:
//
//	go run ./scripts/objects -files 10000 -answer 30ms runjob run --input BUCKET/in --output out
//
// BUCKET in an argument stands for the bucket. It has a folder, in, with as many files as -files says, of -lines
// documents each, or the files of a folder that -from names.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"mirrorbeam.dev/internal/storage/storagetest"
)

const bucket = "corpora"

func main() {
	log.SetFlags(0)
	service := flag.String("service", "gs", "service to imitate: gs or s3")
	files := flag.Int("files", 1000, "number of files in the bucket")
	lines := flag.Int("lines", 4, "documents in a file")
	from := flag.String("from", "", "folder whose files are put into the bucket, instead of made ones")
	answer := flag.Duration("answer", 30*time.Millisecond, "how long the service waits before it answers")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("objects: name the command to run")
	}
	content := made(*files, *lines)
	if *from != "" {
		var err error
		if content, err = found(*from); err != nil {
			log.Fatal("objects: ", err)
		}
	}
	front := &front{answer: *answer, requests: map[string]int{}}
	server := httptest.NewUnstartedServer(front)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the services complain of each connection that a client leaves
	server.Start()
	defer server.Close()
	root, err := os.MkdirTemp("", "objects-")
	if err != nil {
		log.Fatal("objects: ", err)
	}
	defer os.RemoveAll(root)
	environment, err := front.serve(*service, server.URL, root, content)
	if err == nil {
		err = front.run(flag.Args(), *service, environment)
	}
	if err != nil {
		server.Close()
		os.RemoveAll(root)
		log.Fatal("objects: ", err)
	}
}

// front sits in front of a server of objects. It counts requests and answers late.
type front struct {
	target http.Handler
	answer time.Duration

	mutex    sync.Mutex
	requests map[string]int
}

// ServeHTTP counts a request.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mutex.Lock()
	f.requests[storagetest.Kind(r)]++
	f.mutex.Unlock()
	time.Sleep(f.answer)
	f.target.ServeHTTP(w, r)
}

// serve sets up a server with the content, and returns the environment of its clients. It keeps objects in the folder
// root if it would look for one among all others in memory.
func (f *front) serve(service, url, root string, content map[string][]byte) ([]string, error) {
	switch service {
	case "gs":
		host := strings.TrimPrefix(url, "http://")
		server, err := fakestorage.NewServerWithOptions(fakestorage.Options{
			NoListener:  true,
			PublicHost:  host,
			ExternalURL: url,
			Writer:      io.Discard,
			StorageRoot: root,
		})
		if err != nil {
			return nil, err
		}
		server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: bucket})
		for name, b := range content {
			server.CreateObject(fakestorage.Object{
				ObjectAttrs: fakestorage.ObjectAttrs{BucketName: bucket, Name: name},
				Content:     b,
			})
		}
		f.target = server.HTTPHandler()
		return []string{"STORAGE_EMULATOR_HOST=" + host}, nil
	case "s3":
		server := s3mem.New()
		if err := server.CreateBucket(bucket); err != nil {
			return nil, err
		}
		for name, b := range content {
			if _, err := server.PutObject(bucket, name, nil, bytes.NewReader(b), int64(len(b)), nil); err != nil {
				return nil, err
			}
		}
		f.target = gofakes3.New(server).Server()
		return []string{
			"AWS_ENDPOINT_URL_S3=" + url, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=user",
			"AWS_SECRET_ACCESS_KEY=secret",
			"AWS_EC2_METADATA_DISABLED=true",
		}, nil
	}
	return nil, fmt.Errorf("-service %s: must be gs or s3", service)
}

// run runs the command, and prints what it took.
func (f *front) run(args []string, service string, environment []string) error {
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "BUCKET", service+"://"+bucket)
	}
	command := exec.Command(args[0], args[1:]...)
	command.Env = append(os.Environ(), environment...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	begun := time.Now()
	err := command.Run()
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if state := command.ProcessState; state != nil {
		fmt.Printf("%.2f s, %.2f CPU-s; requests:", time.Since(begun).Seconds(),
			(state.UserTime() + state.SystemTime()).Seconds())
	}
	all := 0
	for _, kind := range slices.Sorted(maps.Keys(f.requests)) {
		fmt.Printf(" %s %d,", kind, f.requests[kind])
		all += f.requests[kind]
	}
	fmt.Printf(" in all %d\n", all)
	return err
}

// made returns files of documents. A quarter of the documents is like the one before.
func made(files, lines int) map[string][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	content := make(map[string][]byte, files)
	var words []string
	for i := range files {
		var b bytes.Buffer
		for line := range lines {
			if (i*lines+line)%4 != 3 || words == nil {
				words = words[:0]
				for range 40 + random.IntN(80) {
					words = append(words, fmt.Sprintf("w%d", random.IntN(50_000)))
				}
			} else {
				words[random.IntN(len(words))] = "another"
			}
			fmt.Fprintf(&b, "{\"id\":\"%d-%d\",\"text\":\"%s\"}\n", i, line, strings.Join(words, " "))
		}
		content[fmt.Sprintf("in/%02d/%06d.jsonl", i%100, i)] = b.Bytes()
	}
	return content
}

// found returns the files of a folder.
func found(folder string) (map[string][]byte, error) {
	content := map[string][]byte{}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		content["in"+strings.TrimPrefix(path, filepath.Clean(folder))] = b
		return err
	})
	return content, err
}
