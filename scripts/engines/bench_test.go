package engines

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkEngines runs a job on this machine, on Flink and on Spark, with its temporary files on the disk and in a
// bucket. It reports the time that tasks took on the processor, the memory of the largest worker, and the requests to
// the bucket. What Java takes is in none of these. docs/explanation/performance.md has the table.
func BenchmarkEngines(b *testing.B) {
	program, want := tools(b)
	external := []string{"--environment_type=EXTERNAL", "--environment_config=localhost:50000"}
	for _, engine := range []struct {
		name  string
		flags []string
		jobs  map[string][]string
	}{
		{"flink", append(external, "--runner=flink", "--endpoint=localhost:8099"), map[string][]string{
			"one slot": {"--parallelism=1"}, "two slots": {"--parallelism=2"},
		}},
		{
			"spark", append(external, "--runner=spark", "--endpoint=localhost:8097"),
			map[string][]string{"two cores": nil},
		},
	} {
		b.Run(engine.name, func(b *testing.B) {
			c := start(b, engine.name, program, engine.flags...)
			for name, flags := range engine.jobs {
				c.measure(b, name+", disk", want[0], flags...)
				c.measure(b, name+", bucket", want[0], append(flags, inBucket)...)
			}
			if engine.name == "flink" {
				c.flags = nil
				c.measure(b, "this machine, disk", want[0])
				c.measure(b, "this machine, bucket", want[0], inBucket)
			}
		})
	}
}

// measure runs a job, which must have the results of the local run.
func (c *cluster) measure(b *testing.B, name string, want map[string]string, flags ...string) {
	b.Run(name, func(b *testing.B) {
		for b.Loop() {
			output := filepath.Join(b.TempDir(), "out")
			command, said := job(b, c, c.program, corpora[0], output, flags...)
			if err := command.Run(); err != nil {
				b.Fatalf("%v: %s", err, last(said.String()))
			}
			c.same(b, results(b, output), want)
			content, err := os.ReadFile(filepath.Join(output, "summary.json"))
			if err != nil {
				b.Fatal(err)
			}
			var summary struct {
				Stages []struct {
					CPU float64 `json:"cpu_seconds"`
				}
				Memory float64 `json:"peak_memory_bytes"`
			}
			if err := json.Unmarshal(content, &summary); err != nil {
				b.Fatal(err)
			}
			cpu := 0.0
			for _, stage := range summary.Stages {
				cpu += stage.CPU
			}
			b.ReportMetric(cpu, "CPU-s")
			b.ReportMetric(summary.Memory/(1<<20), "MiB")
			b.ReportMetric(float64(c.requests.Load()), "requests")
		}
	})
}
