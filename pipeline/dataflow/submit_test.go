package dataflow

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	df "google.golang.org/api/dataflow/v1b3"
	"google.golang.org/protobuf/proto"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/util/goldentest"
	"mirrorbeam.dev/pipeline/dataflow/dataflowtest"
)

// TestStaging: the program and the pipeline are in the bucket byte for byte, and nothing else is.
func TestStaging(t *testing.T) {
	server, service := start(t)
	self := stageSelf(t)
	submit(t, service, "nightly")
	if n := len(server.Jobs()); n != 1 {
		t.Fatalf("%d jobs were sent", n)
	}
	job := server.Jobs()[0].Sent
	worker := job.Environment.WorkerPools[0].Packages[0]
	want, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	got, err := server.Object(worker.Location)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the staged program has %d bytes, want the %d of this one (%v)", len(got), len(want), err)
	}
	if sum := sha256.Sum256(want); worker.Sha256 != hex.EncodeToString(sum[:]) {
		t.Errorf("the program is said to have the hash %s", worker.Sha256)
	}
	var options struct {
		Options struct{ PipelineURL, PipelineProtoHash string }
	}
	if err := json.Unmarshal(job.Environment.SdkPipelineOptions, &options); err != nil {
		t.Fatal(err)
	}
	model, err := server.Object(options.Options.PipelineURL)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(model); options.Options.PipelineProtoHash != hex.EncodeToString(sum[:]) {
		t.Errorf("the pipeline is said to have the hash %s", options.Options.PipelineProtoHash)
	}
	var pipeline pipepb.Pipeline
	if err := proto.Unmarshal(model, &pipeline); err != nil {
		t.Fatal(err)
	}
	if n := len(pipeline.GetComponents().GetTransforms()); n < 2 {
		t.Errorf("the pipeline has %d steps", n)
	}
	staged := server.Objects()
	slices.Sort(staged)
	if want := []string{options.Options.PipelineURL, worker.Location}; !slices.Equal(staged, want) {
		t.Errorf("in the bucket are %q, want %q", staged, want)
	}
}

// allFlags are the flags of Dataflow that change a job, apart from those that lead to the service.
var allFlags = map[string]string{
	"labels":                            `{"team":"corpora","night":"1"}`,
	"num_workers":                       "3",
	"max_num_workers":                   "9",
	"autoscaling_algorithm":             "THROUGHPUT_BASED",
	"worker_machine_type":               "n2-highmem-8",
	"number_of_worker_harness_threads":  "8",
	"disk_size_gb":                      "100",
	"disk_type":                         "pd-ssd",
	"disk_provisioned_iops":             "3000",
	"disk_provisioned_throughput_mibps": "140",
	"flexrs_goal":                       "FLEXRS_COST_OPTIMIZED",
	"min_cpu_platform":                  "Intel Ice Lake",
	"experiments":                       "shuffle_mode=service",
	"dataflow_service_options":          "enable_prime",
	"dataflow_kms_key":                  "projects/a/locations/b/keyRings/c/cryptoKeys/d",
	"service_account_email":             "worker@a-project.invalid",
	"network":                           "net",
	"subnetwork":                        "regions/europe-west4/subnetworks/sub",
	"no_use_public_ips":                 "true",
	"worker_zone":                       "europe-west4-b",
	"sdk_container_image":               "europe-west4-docker.pkg.dev/a-project/images/beam:1",
}

// TestJob: what is sent is the job of testdata, with every flag.
func TestJob(t *testing.T) {
	for name, flags := range map[string]map[string]string{"least": nil, "all": allFlags} {
		t.Run(name, func(t *testing.T) {
			server, service := start(t)
			setFlags(t, flags)
			submit(t, service, "nightly")
			got := mainFields(t, server.Jobs()[0].Raw)
			goldentest.File(t, filepath.Join("testdata", name+".json"), string(got))
		})
	}
}

// mainFields is a job without what differs between runs and machines, or says the same again.
func mainFields(t *testing.T, raw []byte) []byte {
	var job map[string]any
	if err := json.Unmarshal(raw, &job); err != nil {
		t.Fatal(err)
	}
	delete(job, "clientRequestId")
	environment := job["environment"].(map[string]any)
	options := environment["sdkPipelineOptions"].(map[string]any)
	delete(options, "display_data")
	goOptions := options["beam:option:go_options:v1"].(map[string]any)["options"].(map[string]any)
	for name, value := range goOptions {
		known := flag.Lookup(name)
		// A flag that another test has set and reset is listed, too.
		if strings.HasPrefix(name, "test.") || value == "" || known != nil && value == known.DefValue {
			delete(goOptions, name)
		}
	}
	pool := environment["workerPools"].([]any)[0].(map[string]any)
	delete(pool["sdkHarnessContainerImages"].([]any)[0].(map[string]any), "capabilities")
	encoded, err := json.MarshalIndent(job, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for pattern, with := range map[string]string{
		`/go-\d+-\d+/`: "/go-N/", `"[0-9a-f]{64}"`: `"HASH"`, `2\.\d+\.\d+`: "VERSION",
	} {
		encoded = regexp.MustCompile(pattern).ReplaceAll(encoded, []byte(with))
	}
	return append(encoded, '\n')
}

// TestEveryFlag: no flag of the test above is lost on the way.
func TestEveryFlag(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("testdata", "all.json"))
	if err != nil {
		t.Fatal(err)
	}
	var job df.Job
	if err := json.Unmarshal(content, &job); err != nil {
		t.Fatal(err)
	}
	pool := job.Environment.WorkerPools[0]
	for name, found := range map[string]bool{
		"labels":                            job.Labels["team"] == "corpora" && job.Labels["night"] == "1",
		"num_workers":                       pool.NumWorkers == 3,
		"max_num_workers":                   pool.AutoscalingSettings.MaxNumWorkers == 9,
		"autoscaling_algorithm":             pool.AutoscalingSettings.Algorithm == "AUTOSCALING_ALGORITHM_BASIC",
		"worker_machine_type":               pool.MachineType == allFlags["worker_machine_type"],
		"number_of_worker_harness_threads":  pool.NumThreadsPerWorker == 8,
		"disk_size_gb":                      pool.DiskSizeGb == 100,
		"disk_type":                         pool.DiskType == "pd-ssd",
		"disk_provisioned_iops":             pool.DiskProvisionedIops == 3000,
		"disk_provisioned_throughput_mibps": pool.DiskProvisionedThroughputMibps == 140,
		"flexrs_goal":                       job.Environment.FlexResourceSchedulingGoal == "FLEXRS_COST_OPTIMIZED",
		"min_cpu_platform": slices.Contains(job.Environment.Experiments,
			"min_cpu_platform=Intel Ice Lake"),
		"experiments":              slices.Contains(job.Environment.Experiments, "shuffle_mode=service"),
		"dataflow_service_options": slices.Equal(job.Environment.ServiceOptions, []string{"enable_prime"}),
		"dataflow_kms_key":         job.Environment.ServiceKmsKeyName == allFlags["dataflow_kms_key"],
		"service_account_email":    job.Environment.ServiceAccountEmail == allFlags["service_account_email"],
		"network":                  pool.Network == "net",
		"subnetwork":               pool.Subnetwork == allFlags["subnetwork"],
		"no_use_public_ips":        pool.IpConfiguration == "WORKER_IP_PRIVATE",
		"worker_zone":              job.Environment.WorkerZone == "europe-west4-b",
		"sdk_container_image":      pool.WorkerHarnessContainerImage == allFlags["sdk_container_image"],
	} {
		if !found {
			t.Errorf("--%s does not reach the job", name)
		}
	}
	if len(allFlags) != 21 {
		t.Errorf("%d flags are given, and 21 are looked for", len(allFlags))
	}
}

// TestBusyService: a service that refuses some requests gets the job once.
func TestBusyService(t *testing.T) {
	server, service := start(t)
	server.Refuse(5)
	submit(t, service, "nightly")
	if n := len(server.Jobs()); n != 1 {
		t.Errorf("%d jobs were sent", n)
	}
}

// TestLostAnswer: a job that the service has taken without saying so is found.
func TestLostAnswer(t *testing.T) {
	server, service := start(t)
	server.Play("JOB_STATE_PENDING")
	submit(t, service, "other")
	server.LoseAnswer()
	id := submit(t, service, "nightly")
	if n := len(server.Jobs()); n != 2 {
		t.Errorf("%d jobs were sent", n)
	}
	if server.State(id) == "" {
		t.Errorf("the service knows no job %q", id)
	}
}

// TestSameName: a job of the same name is not taken for ours.
func TestSameName(t *testing.T) {
	server, service := start(t)
	server.Play("JOB_STATE_RUNNING")
	submit(t, service, "nightly")
	server.Refuse(1) // so that there is a second try
	id, err := service.submit(t.Context(), smallPipeline(), "nightly")
	if !errors.Is(err, failure.Storage) || !strings.Contains(err.Error(), "there is a job of this name") {
		t.Errorf("job %q, error %v", id, err)
	}
}

// TestInterruptedBeforeSending: nothing is sent after an interruption.
func TestInterruptedBeforeSending(t *testing.T) {
	server, service := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := service.submit(ctx, smallPipeline(), "nightly"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if n := len(server.Jobs()); n > 0 {
		t.Errorf("%d jobs were sent", n)
	}
}

// TestLaunched: the launcher of a Flex Template gets the job where it wants it, and sends it itself. Other templates
// are refused.
func TestLaunched(t *testing.T) {
	server, service := start(t)
	const id = "2026-01-01_00_00_00-123"
	location := dataflowtest.LaunchPlace(id)
	setFlags(t, map[string]string{templateFlag: location})
	if got := submit(t, service, "nightly"); got != id {
		t.Errorf("the job is called %q, want %q", got, id)
	}
	content, err := server.Object(location)
	if err != nil {
		t.Fatal(err)
	}
	var job df.Job
	if err := json.Unmarshal(content, &job); err != nil || job.Name != "nightly" ||
		len(job.Environment.WorkerPools) != 1 {
		t.Errorf("the launcher gets %s (%v)", content, err)
	}
	if n := len(server.Jobs()); n > 0 {
		t.Errorf("%d jobs were sent", n)
	}
	setFlags(t, map[string]string{templateFlag: "gs://corpora/templates/nightly"})
	if _, err := service.submit(t.Context(), smallPipeline(), "nightly"); !errors.Is(err, failure.Usage) {
		t.Errorf("a template that nobody launches: %v", err)
	}
}

// TestCheck: flags that are missing are all named at once.
func TestCheck(t *testing.T) {
	start(t)
	if err := Check(t.Context()); err != nil {
		t.Error(err)
	}
	setFlags(t, map[string]string{"staging_location": "/tmp/staging"})
	if err := Check(t.Context()); !errors.Is(err, failure.Usage) || !strings.Contains(err.Error(), "must be gs://") {
		t.Errorf("staging on a disk: %v", err)
	}
	setFlags(t, map[string]string{"staging_location": "", "project": "", "region": ""})
	if err := Check(t.Context()); !errors.Is(err, failure.Usage) ||
		!strings.Contains(err.Error(), "--staging_location gs://BUCKET/FOLDER, --project NAME, --region NAME") {
		t.Errorf("nothing given: %v", err)
	}
	if flag.Lookup(templateFlag).Value.String() != "" {
		t.Error("a flag is left set")
	}
}
