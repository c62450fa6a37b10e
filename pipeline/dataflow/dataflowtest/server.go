// Package dataflowtest is a stand-in for the Dataflow service and for Cloud Storage, on this machine. It takes jobs,
// and either plays what a test tells it or runs them, with workers that it starts from the staged program.
package dataflowtest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	df "google.golang.org/api/dataflow/v1b3"

	"mirrorbeam.dev/internal/storage/storagetest"
)

// The names that the service knows.
const (
	Project, Region, Bucket = "a-project", "europe-west4", "corpora"
)

// Server is the stand-in. Its methods may be called at any time.
type Server struct {
	// Endpoint is the address for --dataflow_endpoint.
	Endpoint string

	t       testing.TB
	objects *fakestorage.Server
	key     string // the file of the credentials

	mutex  sync.Mutex
	jobs   []*Job
	busy   int  // number of the next requests that are refused
	deaf   bool // the answer to the next job that is sent gets lost
	runs   bool
	states []string // of the jobs that are played
	said   []*df.JobMessage
	found  []*df.MetricUpdate
}

// Job is a job that the service has taken.
type Job struct {
	// Sent is the job as it came.
	Sent *df.Job
	// Raw is its JSON.
	Raw []byte

	id     string
	states []string // the first is the present one, and the others come with each request for it
	said   []*df.JobMessage
	found  []*df.MetricUpdate
	cancel func() // nil if the job does not run
}

// Start starts the services for as long as the test runs, with one bucket. Clients in this process and in those that it
// starts find the bucket and their credentials in the environment.
func Start(t testing.TB) *Server {
	s := &Server{t: t, states: []string{"JOB_STATE_PENDING", "JOB_STATE_RUNNING", "JOB_STATE_DONE"}}
	proxy := storagetest.NewProxy(t, nil)
	objects, err := fakestorage.NewServerWithOptions(fakestorage.Options{
		NoListener:  true,
		PublicHost:  proxy.Host,
		ExternalURL: proxy.URL,
		Writer:      io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	proxy.Serve(objects.HTTPHandler())
	objects.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: Bucket})
	s.objects = objects
	s.Endpoint = storagetest.NewProxy(t, http.HandlerFunc(s.serve)).URL + "/"
	s.key = filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(s.key, serviceAccount(t, s.Endpoint+"token"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"STORAGE_EMULATOR_HOST":          proxy.Host,
		"GOOGLE_APPLICATION_CREDENTIALS": s.key,
	} {
		t.Setenv(name, value)
	}
	return s
}

// serviceAccount is the key of a service account whose tokens come from an address.
func serviceAccount(t testing.TB, address string) []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	account, err := json.Marshal(map[string]string{
		"type":           "service_account",
		"project_id":     Project,
		"private_key_id": "1",
		"client_email":   "driver@" + Project + ".invalid",
		"client_id":      "1",
		"private_key":    string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"token_uri":      address,
	})
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// Flags are the flags of Beam that lead to the service.
func (s *Server) Flags() map[string]string {
	return map[string]string{
		"project": Project, "region": Region, "dataflow_endpoint": s.Endpoint,
		"staging_location": "gs://" + Bucket + "/staging", "temp_location": "gs://" + Bucket + "/temp",
	}
}

// Play makes the service play the jobs that come. Each request for a job shows the next state.
func (s *Server) Play(states ...string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.states, s.runs = states, false
}

// Say adds a message to the jobs that come, with an importance such as JOB_MESSAGE_ERROR.
func (s *Server) Say(importance, text string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.said = append(s.said, message(len(s.said), importance, text))
}

func message(n int, importance, text string) *df.JobMessage {
	at := time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC).Format(time.RFC3339Nano)
	return &df.JobMessage{Id: fmt.Sprint(n), Time: at, MessageImportance: importance, MessageText: text}
}

// Count makes the service show these counters of the jobs that come, whatever their state.
func (s *Server) Count(found ...*df.MetricUpdate) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.found = found
}

// Refuse makes the service refuse a number of the next requests with 503.
func (s *Server) Refuse(requests int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.busy = requests
}

// LoseAnswer makes the service take the next job, and fail to say so.
func (s *Server) LoseAnswer() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.deaf = true
}

// Jobs returns the jobs that have come.
func (s *Server) Jobs() []*Job {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([]*Job(nil), s.jobs...)
}

// State returns the present state of a job.
func (s *Server) State(id string) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if job := s.job(id); job != nil {
		return job.states[0]
	}
	return ""
}

// Object returns the content of a gs:// file.
func (s *Server) Object(name string) ([]byte, error) {
	object, err := s.objects.GetObject(Bucket, strings.TrimPrefix(name, "gs://"+Bucket+"/"))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return object.Content, nil
}

// Objects lists the names of the files in the bucket.
func (s *Server) Objects() (names []string) {
	found, err := s.objects.ListObjectsWithOptionsPaginated(Bucket, fakestorage.ListOptions{})
	if err != nil {
		s.t.Error(err)
	}
	for _, object := range found.Objects {
		names = append(names, "gs://"+Bucket+"/"+object.Name)
	}
	return names
}

// LaunchPlace is where the launcher of a Flex Template asks a program to leave the job with an id.
func LaunchPlace(id string) string {
	return "gs://" + Bucket + "/staging/template_launches/" + id + "/job_object"
}

// Launch takes a job from where a launched program has left it.
func (s *Server) Launch(id string) error {
	raw, err := s.Object(LaunchPlace(id))
	if err != nil {
		return err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_, err = s.take(raw, id)
	return err
}
