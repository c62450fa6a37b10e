package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	runreport "mirrorbeam.dev/internal/inspect/report"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

// TestReportedCommand: the command line that a report shows has the settings of the run.
func TestReportedCommand(t *testing.T) {
	for i, change := range []func(c *job.Config){
		func(*job.Config) {},
		func(c *job.Config) {
			c.Tokens, c.Threshold, c.Recall, c.Keys = sketch.WordTokens, 0.55, 0.97, "minhash"
		},
		func(c *job.Config) { c.Weight = map[string]float64{"title": 3, "body": 0.5} },
		func(c *job.Config) { c.Input, c.Reference = []string{"a b/*.jsonl", "c,d"}, []string{"it's"} },
		func(c *job.Config) { c.Emit, c.OutputFormat = []string{"clusters", "unique"}, "parquet" },
		func(c *job.Config) { c.Similarity, c.NoQuotations, c.Excerpt = "containment", true, 0 },
		func(c *job.Config) { c.Memory, c.MaxDocument, c.MaxRejects, c.Overwrite = 1<<30, 1000, 7, true },
		func(c *job.Config) {
			c.Keep, c.Split, c.SourceField, c.Within = "min:meta.date", "star", "site", "lang"
		},
		func(c *job.Config) { c.Keys, c.Hamming, c.Bits = "simhash", 5, 128 },
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			config := job.Default()
			config.Input, config.Output = []string{"in.jsonl"}, "out"
			change(&config)
			folder := t.TempDir()
			for name, value := range map[string]any{
				"manifest.json": map[string]any{"files": []string{}},
				"summary.json":  map[string]any{"config": config},
				"_SUCCESS":      "",
			} {
				encoded, err := json.Marshal(value)
				if err == nil {
					err = os.WriteFile(filepath.Join(folder, name), encoded, 0o666)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			of, err := finished.Open(folder)
			if err != nil {
				t.Fatal(err)
			}
			figures, err := runreport.Build(t.Context(), of, runreport.Options{})
			if err != nil {
				t.Fatal(err)
			}
			words, err := exec.Command("sh", "-c",
				strings.Replace(figures.Run.Command, "runjob", `printf '%s\n'`, 1)).Output()
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := parse(strings.Split(strings.TrimSuffix(string(words), "\n"), "\n"), io.Discard)
			if err != nil {
				t.Fatalf("%s: %v", figures.Run.Command, err)
			}
			got, gotErr := json.Marshal(parsed.(*runCommand).Config)
			want, wantErr := json.Marshal(config)
			if gotErr != nil || wantErr != nil || !bytes.Equal(got, want) {
				t.Errorf("%s gives\n%s, want\n%s", figures.Run.Command, got, want)
			}
		})
	}
}
