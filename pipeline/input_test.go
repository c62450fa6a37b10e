package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/job"
)

// lawConfig is a job at a low threshold, so that there is much to compare.
func lawConfig(t testing.TB, input ...string) job.Config {
	config := testConfig(t, input...)
	config.Threshold = 0.6
	return config
}

// lawfulOutput runs the job and returns the bytes that must not change.
func lawfulOutput(t testing.TB, config job.Config) string {
	t.Helper()
	if summary := runJob(t, config); summary.Counts.Pairs < 50 || summary.Counts.Clusters < 20 {
		t.Fatalf("a corpus with too little to compare: %+v", summary.Counts)
	}
	return lawful(t, config.Output)
}

// setFlag sets a flag of Beam for one test.
func setFlag(t testing.TB, flag *string, value string) {
	before := *flag
	*flag = value
	t.Cleanup(func() { *flag = before })
}

// TestCutsChangeNothing cuts one stream of documents with ids into files. Pairs stay as they are, and so do clusters,
// except for their refs.
func TestCutsChangeNothing(t *testing.T) {
	lines := synthetic(lawSeed)
	config := lawConfig(t, putCorpus(t, plain, cut(lines, 1)...))
	runJob(t, config)
	wantPairs := string(readOutput(t, config.Output, output.Pairs))
	wantClusters := clustersWithoutRefs(t, config)
	for _, parts := range []int{2, 4} {
		t.Run(fmt.Sprint(parts), func(t *testing.T) {
			config := lawConfig(t, putCorpus(t, plain, cut(lines, parts)...))
			runJob(t, config)
			sameText(t, "pairs", string(readOutput(t, config.Output, output.Pairs)), wantPairs)
			sameRows(t, "clusters", clustersWithoutRefs(t, config), wantClusters)
		})
	}
}

func clustersWithoutRefs(t testing.TB, config job.Config) []clusterRow {
	t.Helper()
	rows := readRows[clusterRow](t, config.Output, output.Clusters)
	for i := range rows {
		rows[i].Ref = ""
	}
	return rows
}

// TestCompressionChangesNothing stores each file in another way: refs are positions in the decoded stream and names lack the
// endings.
func TestCompressionChangesNothing(t *testing.T) {
	files := cut(oddities(lawSeed), 3)
	want := lawfulOutput(t, lawConfig(t, putCorpus(t, plain, files...)))
	input := putCorpus(t, plain, files[0])
	put(t, filepath.Join(input, files[1].name), files[1].content(), gzipped)
	put(t, filepath.Join(input, files[2].name), files[2].content(), zstded)
	config := lawConfig(t, input)
	config.OutputFormat = output.JSONLGzip
	sameText(t, "output", lawfulOutput(t, config), want)
	checkUnique(t, config, files)
	for i, ending := range []output.Format{output.JSONL, output.JSONLGzip, output.JSONLZstd} {
		if _, err := os.Stat(filepath.Join(config.Output, output.ShardName(output.Unique, i, len(files), ending))); err != nil {
			t.Errorf("unique is not compressed as the input is: %v", err)
		}
	}
}
