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
