package pipeline

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/job"
)

// The law of these tests: clusters and pairs are the same bytes however a job is
// run and however its input is stored.

// lawSeed is the seed of the corpus. It is fixed, so that runs of different tests can be compared.
const lawSeed = 11

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

func TestLanesChangeNothing(t *testing.T) {
	files := cut(oddities(lawSeed), 4)
	input := putCorpus(t, plain, files...)
	for _, keys := range []methods.Name{methods.MinHash, methods.Exact} {
		var want string
		for _, lanes := range []int{1, 2, 7} {
			t.Run(fmt.Sprintf("%s/%d", keys, lanes), func(t *testing.T) {
				config := byKeys(lawConfig(t, input), keys)
				config.Lanes = lanes
				got := lawfulOutput(t, config)
				if want == "" {
					want = got
				}
				sameText(t, "output", got, want)
			})
		}
	}
}

func TestMemoryChangesNothing(t *testing.T) {
	input := putCorpus(t, plain, cut(oddities(lawSeed), 4)...)
	want := lawfulOutput(t, lawConfig(t, input))
	config := lawConfig(t, input)
	config.Memory = job.LeastMemory
	sameText(t, "output", lawfulOutput(t, config), want)
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		t.Errorf("the collector's limit is still %d after the job", limit)
	}
}

// TestRunners runs the same job on a portable runner, whose worker is this process.
func TestRunners(t *testing.T) {
	files := cut(oddities(lawSeed), 4)
	config := lawConfig(t, putCorpus(t, plain, files...))
	want := lawfulOutput(t, config)
	startPrism(t)
	config.Runner = portable
	config.Output = filepath.Join(t.TempDir(), "out")
	sameText(t, "output", lawfulOutput(t, config), want)
	checkUnique(t, config, files)
}

// setFlag sets a flag of Beam for one test.
func setFlag(t testing.TB, flag *string, value string) {
	before := *flag
	*flag = value
	t.Cleanup(func() { *flag = before })
}

// TestInputForms names the same files in every possible way.
func TestInputForms(t *testing.T) {
	var files []file // all in one folder, so that their names are the same in each way
	for i, f := range cut(oddities(lawSeed), 4) {
		files = append(files, file{fmt.Sprintf("part-%d.jsonl", i), f.lines})
	}
	input := putCorpus(t, plain, files...)
	var paths []string
	for _, f := range files {
		paths = append(paths, filepath.Join(input, f.name))
	}
	want := lawfulOutput(t, lawConfig(t, input))
	reversed := slices.Clone(paths)
	slices.Reverse(reversed)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(input, link); err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string][]string{
		"files":       paths,
		"reversed":    reversed,
		"shuffled":    {paths[2], paths[0], paths[3], paths[1]},
		"glob":        {filepath.Join(input, "*.jsonl")},
		"globs":       {filepath.Join(input, "part-[23]*"), filepath.Join(input, "part-[01].jsonl")},
		"any depth":   {filepath.Join(filepath.Dir(input), "corpus", "**", "part-*.jsonl")},
		"twice":       {input, paths[1], input},
		"slash":       {input + "/"},
		"linked":      {link},
		"from inside": {"."},
	} {
		t.Run(name, func(t *testing.T) {
			if form[0] == "." {
				t.Chdir(input)
			}
			sameText(t, "output", lawfulOutput(t, lawConfig(t, form...)), want)
		})
	}
}

// TestCompressionChangesNothing stores the input in every possible way: refs are positions in the decoded stream and
// names lack the endings.
func TestCompressionChangesNothing(t *testing.T) {
	files := cut(oddities(lawSeed), 3)
	want := lawfulOutput(t, lawConfig(t, putCorpus(t, plain, files...)))
	for _, how := range []compression{gzipped, zstded} {
		t.Run(string(how), func(t *testing.T) {
			config := lawConfig(t, putCorpus(t, how, files...))
			sameText(t, "output", lawfulOutput(t, config), want)
			checkUnique(t, config, files)
			name := output.ShardName(output.Unique, 0, len(files), output.Format("jsonl."+string(how[1:])))
			if _, err := os.Stat(filepath.Join(config.Output, name)); err != nil {
				t.Errorf("unique is not compressed as the input is: %v", err)
			}
		})
	}
	t.Run("mixed", func(t *testing.T) {
		input := putCorpus(t, plain, files[0])
		put(t, filepath.Join(input, files[1].name), files[1].content(), gzipped)
		put(t, filepath.Join(input, files[2].name), files[2].content(), zstded)
		sameText(t, "output", lawfulOutput(t, lawConfig(t, input)), want)
	})
	t.Run("members", func(t *testing.T) {
		// A gzip file may consist of several, one after the other, cut anywhere.
		input := putCorpus(t, plain, files[1:]...)
		path := filepath.Join(input, files[0].name)
		content := files[0].content()
		half := len(content)/2 + 3
		first := readRaw(t, put(t, path, content[:half], gzipped))
		second := readRaw(t, put(t, path, content[half:], gzipped))
		if err := os.WriteFile(path+".gz", append(first, second...), 0o666); err != nil {
			t.Fatal(err)
		}
		sameText(t, "output", lawfulOutput(t, lawConfig(t, input)), want)
	})
	t.Run("output", func(t *testing.T) {
		for _, format := range []string{"jsonl.gz", "jsonl.zst"} {
			config := lawConfig(t, putCorpus(t, plain, files...))
			if err := setText(&config.OutputFormat, format); err != nil {
				t.Fatal(err)
			}
			sameText(t, format, lawfulOutput(t, config), want)
			checkUnique(t, config, files)
		}
	})
}

func setText[S ~string](to *S, text string) error { *to = S(text); return nil }

func readRaw(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCutsChangeNothing cuts one stream of documents with ids into files. Pairs stay as they are, and so do clusters,
// except for their refs.
func TestCutsChangeNothing(t *testing.T) {
	lines := synthetic(lawSeed)
	config := lawConfig(t, putCorpus(t, plain, cut(lines, 1)...))
	runJob(t, config)
	wantPairs := string(readOutput(t, config.Output, output.Pairs))
	wantClusters := clustersWithoutRefs(t, config)
	for _, parts := range []int{2, 3, 4} {
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

// TestLineEnds reads lines that end as on other systems, and a last line without an end. Unique gives that line one.
func TestLineEnds(t *testing.T) {
	lines := synthetic(lawSeed)
	var raw []string
	for _, l := range lines {
		raw = append(raw, l.raw)
	}
	dir := t.TempDir()
	config := lawConfig(t, put(t, filepath.Join(dir, "unix.jsonl"), []byte(strings.Join(raw, "\n")+"\n"), plain))
	runJob(t, config)
	want, unique := string(readOutput(t, config.Output, output.Pairs)), string(readOutput(t, config.Output, output.Unique))
	for name, content := range map[string]string{
		"no last end": strings.Join(raw, "\n"),
		"carriage":    strings.Join(raw, "\r\n") + "\r\n",
		"mark":        "\ufeff" + strings.Join(raw, "\n") + "\n\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			config := lawConfig(t, put(t, filepath.Join(t.TempDir(), "x.jsonl"), []byte(content), plain))
			runJob(t, config)
			sameText(t, "pairs", string(readOutput(t, config.Output, output.Pairs)), want)
			got := string(readOutput(t, config.Output, output.Unique))
			if name == "carriage" {
				sameText(t, "unique", got, strings.ReplaceAll(unique, "\n", "\r\n"))
			} else {
				sameText(t, "unique", got, unique)
			}
		})
	}
}
