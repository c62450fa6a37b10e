package jobservice

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
)

// sums adds up the counters of each stage.
func sums(found *metrics.Results) string {
	all := map[string]int64{}
	for _, counter := range found.AllMetrics().Counters() {
		all[counter.Key.Namespace+" "+counter.Key.Name] += counter.Result()
	}
	return fmt.Sprint(all)
}

// TestMetricsOnFlink reads what Flink 1.19 answered while a job ran: counters of the stages that had ended tasks. Flink
// may not know a job yet, show something else, or not answer.
func TestMetricsOnFlink(t *testing.T) {
	shown, err := os.ReadFile("testdata/accumulators.json")
	if err != nil {
		t.Fatal(err)
	}
	flink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/jobs/overview":
			fmt.Fprint(w,
				`{"jobs":[{"jid":"a","name":"mine-root-1","state":"RUNNING"},{"jid":"b","name":"odd-root-1","state":"RUNNING"}]}`)
		case "/jobs/a/accumulators":
			_, _ = w.Write(shown)
		case "/jobs/b/accumulators":
			fmt.Fprintf(w,
				`{"user-task-accumulators":[{"name":"other","value":"?"},{"name":%q,"value":"null and void"}]}`,
				beamAccumulator)
		default:
			http.NotFound(w, r)
		}
	}))
	defer flink.Close()
	s := &Server{Options: Options{Flink: true, FlinkREST: strings.TrimPrefix(flink.URL, "http://")}}
	for id, want := range map[string]string{
		"mine-root-1_1f0c": "map[fingerprint records:11738 fingerprint tasks:2 group records:1420636 group tasks:13]",
		"new-root-1_1f0c":  "map[]",
	} {
		found, err := s.metricsSoFar(t.Context(), nil, id)
		if err != nil {
			t.Fatal(err)
		}
		if got := sums(found); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if _, err := s.metricsSoFar(t.Context(), nil, "odd-root-1_1f0c"); err == nil {
		t.Error("a text that is no JSON is read")
	}
	flink.Close()
	if _, err := s.metricsSoFar(t.Context(), nil, "mine-root-1_1f0c"); err == nil ||
		!strings.Contains(err.Error(), "--flink_rest") {
		t.Errorf("Flink does not answer: %v", err)
	}
}

// TestMetricsSoFar: other engines are asked through their job server.
func TestMetricsSoFar(t *testing.T) {
	s := serve(t, &fakeServer{state: jobpb.JobState_RUNNING})
	client, connection, err := s.connect()
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	found, err := s.metricsSoFar(t.Context(), client, "id")
	if err != nil || sums(found) != "map[]" {
		t.Errorf("%v, %v", found, err)
	}
}

// TestHindrance: a job that waits for slots, or whose tasks fail again and again, is told of while it runs.
func TestHindrance(t *testing.T) {
	const fault = `java.lang.RuntimeException: Error received from SDK harness: process bundle failed: ` +
		`mirrorbeam fault: "input" "" "" "list inputs: no credentials were found"`
	for _, c := range []struct{ name, exceptions, vertices, want string }{
		{"runs", `{"root-exception":null}`, `{"status":"FINISHED"},{"parallelism":4,"status":"SCHEDULED"}`, ""},
		{"no graph yet", `{}`, "", ""},
		{
			"waits", `{}`, `{"parallelism":4,"status":"SCHEDULED"},{"parallelism":1,"status":"CREATED"}`,
			"the job waits for slots of Flink: it asks for up to 4, and 2 are free",
		},
		{
			"a task fails", fmt.Sprintf(`{"root-exception":%q}`, fault+"\n\tat java.base"), `{"status":"SCHEDULED"}`,
			"Flink tries again what has failed: list inputs: no credentials were found",
		},
		{
			"a TaskManager is lost", `{"root-exception":"org.apache.flink.X: lost\n\tat x"}`, `{"status":"SCHEDULED"}`,
			"Flink tries again what has failed: org.apache.flink.X: lost",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			flink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/jobs/overview":
					fmt.Fprint(w, `{"jobs":[{"jid":"a","name":"mine-root-1","state":"RUNNING"}]}`)
				case "/jobs/a/exceptions":
					fmt.Fprint(w, c.exceptions)
				case "/jobs/a":
					fmt.Fprintf(w, `{"vertices":[%s]}`, c.vertices)
				case "/overview":
					fmt.Fprint(w, `{"slots-total":2,"slots-available":2}`)
				default:
					http.NotFound(w, r)
				}
			}))
			defer flink.Close()
			address := strings.TrimPrefix(flink.URL, "http://")
			got, err := hindrance(t.Context(), address, "mine-root-1")
			if err != nil || got != c.want {
				t.Errorf("%q, %v", got, err)
			}
			if got, err := hindrance(t.Context(), address, "another-root-1"); err != nil || got != "" {
				t.Errorf("a job that Flink does not know yet: %q, %v", got, err)
			}
		})
	}
}
