package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
)

// certain is a recall at which no pair of a small corpus is missed.
const certain = 0.999999

// checkAgainstTruth compares the rows of a job, and its counts, with the truth.
func checkAgainstTruth(t *testing.T, config job.Config, summary Summary, tr *truth) {
	t.Helper()
	longest, star := config.Keep == "longest", config.Split == keep.Star
	pairs := readRows[pairRow](t, config.Output, output.Pairs)
	clusters := readRows[clusterRow](t, config.Output, output.Clusters)
	removed := readRows[removedRow](t, config.Output, output.Removed)
	sameRows(t, "pairs", pairs, tr.pairRows(config.Threshold))
	sameRows(t, "clusters", clusters, tr.clusterRows(config.Threshold, longest, star))
	sameRows(t, "removed", removed, tr.removedRows(config.Threshold, longest, star))
	checkKeepLaw(t, tr, tr.firsts(), pairs, clusters, removed)
	checkSources(t, config, summary, tr)

	rejects := readRows[rejectedRow](t, config.Output, output.Rejects)
	for i := range rejects {
		if rejects[i].Error == "" {
			t.Errorf("reject without a reason: %+v", rejects[i])
		}
		rejects[i].Error = ""
	}
	sameRows(t, "rejects", rejects, tr.rejects)

	counts := summary.Counts
	identical, names := 0, map[string]bool{}
	for _, row := range pairs {
		if row.Identical {
			identical++
		}
	}
	for _, row := range clusters {
		names[row.Cluster] = true
	}
	for _, c := range []struct {
		name      string
		got, want int64
	}{
		{"documents", counts.Documents, int64(len(tr.documents) - tr.references)},
		{"reference documents", counts.ReferenceDocuments, int64(tr.references)},
		{"documents = kept + removed", counts.Kept + counts.Removed, counts.Documents},
		{"removed", counts.Removed, int64(len(removed))},
		{"removed for the reference", counts.RemovedForReference, tr.likeReference(config.Threshold)},
		{"rejected", counts.Rejected, int64(len(tr.rejects))},
		{"pairs", counts.Pairs, int64(len(pairs))},
		{"identical", counts.Identical, int64(identical)},
		{"clustered", counts.Clustered, int64(len(clusters))},
		{"clusters", counts.Clusters, int64(len(names))},
		{"skipped", summary.Skipped.Pairs, 0},
	} {
		if c.got != c.want {
			t.Errorf("count of %s is %d, want %d", c.name, c.got, c.want)
		}
	}
}

// checkKeepLaw checks the rows alone. Each removed document is identical, or has an edge, to the document kept for it,
// at the similarity stated. No edge joins two kept documents, except identical ones of the reference. An edge of one
// document is one of all that are identical to it. First is the first identical document of each.
func checkKeepLaw(t *testing.T, tr *truth, firsts []int, pairs []pairRow, clusters []clusterRow, removed []removedRow) {
	t.Helper()
	names := map[string]string{} // by ref
	first := map[string]string{} // the first identical document, by name
	isReference := map[string]bool{}
	for i, j := range firsts {
		names[tr.documents[i].ref] = tr.documents[i].name
		first[tr.documents[i].name] = tr.documents[j].name
		isReference[tr.documents[i].name] = i < tr.references
	}
	gone := map[string]bool{}
	for _, row := range removed {
		gone[names[row.Ref]] = true
	}
	edge := map[[2]string]float64{} // between classes of identical documents
	for _, row := range pairs {
		a, b := first[row.A], first[row.B]
		similarity := cmp.Or(row.Jaccard, 1-float64(row.Hamming)/64) // of fingerprints of the usual length
		edge[[2]string{a, b}], edge[[2]string{b, a}] = similarity, similarity
		ofReference := isReference[row.A] && isReference[row.B]
		if ofReference && !row.Identical {
			t.Errorf("%+v joins two documents of the reference", row)
		}
		if !gone[row.A] && !gone[row.B] && !ofReference {
			t.Errorf("%s and %s are joined and both stay", row.A, row.B)
		}
	}
	for _, row := range removed {
		one, other := first[names[row.Ref]], first[row.KeptID]
		similarity, joined := edge[[2]string{one, other}]
		if one == other {
			similarity, joined = 1, true
		}
		if !joined || similarity != row.Similarity {
			t.Errorf("%s goes for %s at %g, their edge has %g (%v)", row.ID, row.KeptID, row.Similarity, similarity,
				joined)
		}
		if gone[row.KeptID] {
			t.Errorf("%s goes for %s, which goes too", row.ID, row.KeptID)
		}
		if isReference[names[row.Ref]] {
			t.Errorf("%s goes, and is of the reference", row.ID)
		}
	}
	for _, row := range clusters {
		if row.Kept == gone[names[row.Ref]] {
			t.Errorf("%s is kept in clusters: %v, goes in removed: %v", row.ID, row.Kept, gone[names[row.Ref]])
		}
	}
}

// checkUnique checks that unique holds the records that removed does not list,
// byte for byte, a file for each input file.
func checkUnique(t *testing.T, config job.Config, files []file) {
	t.Helper()
	gone := map[string]bool{}
	for _, row := range readRows[output.Removal](t, config.Output, output.Removed) {
		gone[row.Ref] = true
	}
	for i, f := range files {
		var want strings.Builder
		position := 0
		for _, l := range f.lines {
			if l.kind == documentLine && !gone[fmt.Sprintf("%s:%d", f.name, position)] {
				want.WriteString(l.raw + "\n")
			}
			position += len(l.raw) + 1
		}
		var found string
		for _, ending := range []output.Format{output.JSONL, output.JSONLGzip, output.JSONLZstd} {
			path := filepath.Join(config.Output, output.ShardName(output.Unique, i, len(files), ending))
			if _, err := os.Stat(path); err == nil {
				found = path
			}
		}
		sameText(t, found, string(readFile(t, found)), want.String())
	}
}

// TestManifest checks that the manifest lists exactly the published files, with their rows, and the input file of each
// file of unique.
func TestManifest(t *testing.T) {
	input := putCorpus(t, plain, cut(oddities(2), 3)...)
	for _, format := range output.Formats {
		t.Run(string(format), func(t *testing.T) {
			config := testConfig(t, input)
			config.OutputFormat = format
			runJob(t, config)
			var got struct{ Files []output.File }
			if err := json.Unmarshal(
				readFile(t, filepath.Join(config.Output, workspace.ManifestName)), &got,
			); err != nil {
				t.Fatal(err)
			}
			published := tree(t, config.Output)
			var inputs []string
			for _, f := range got.Files {
				content, ok := published[f.Name]
				if !ok {
					t.Errorf("%s is listed but not there", f.Name)
					continue
				}
				rows := int64(strings.Count(string(readFile(t, filepath.Join(config.Output, f.Name))), "\n"))
				if strings.HasSuffix(f.Name, ".parquet") {
					rows = rowsOfParquet(t, content)
				}
				if f.Bytes != int64(len(content)) || f.Rows != rows || f.Temporary != "" {
					t.Errorf("%+v: it has %d bytes, %d rows", f, len(content), rows)
				}
				if f.Output == output.Unique {
					inputs = append(inputs, f.Input)
				}
				delete(published, f.Name)
			}
			for _, name := range []string{workspace.ManifestName, workspace.SummaryName, workspace.SuccessName} {
				delete(published, name)
			}
			if len(published) > 0 {
				t.Errorf("not listed: %d files, such as %v", len(published), published)
			}
			want := []string{
				filepath.Join(input, "b.ndjson"), filepath.Join(input, "c.json"),
				filepath.Join(input, "d/e.jsonl"),
			}
			if !slices.Equal(inputs, want) {
				t.Errorf("unique is of %q, want %q", inputs, want)
			}
		})
	}
}

// TestEmit checks that a job writes the requested outputs and nothing else.
func TestEmit(t *testing.T) {
	input := putCorpus(t, plain, cut(synthetic(3), 1)...)
	whole := testConfig(t, input)
	runJob(t, whole)
	for _, name := range whole.Emit {
		t.Run(name, func(t *testing.T) {
			config := testConfig(t, input)
			config.Emit = []string{name}
			runJob(t, config)
			sameText(t, name, string(readOutput(t, config.Output, name)), string(readOutput(t, whole.Output, name)))
			for _, other := range whole.Emit {
				files, _ := filepath.Glob(filepath.Join(config.Output, other+"-*"))
				if other != name && len(files) > 0 {
					t.Errorf("%v was not asked for", files)
				}
			}
		})
	}
}

// TestSummaryFile checks that summary.json holds the summary that Run returned.
func TestSummaryFile(t *testing.T) {
	config := testConfig(t, putCorpus(t, plain, cut(synthetic(4), 2)...))
	summary := runJob(t, config)
	want, err := json.MarshalIndent(summary, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	sameText(t, workspace.SummaryName, string(readFile(t, filepath.Join(config.Output, workspace.SummaryName))),
		string(want)+"\n")
	if summary.ConfigHash != config.ResultHash(job.Lists{}) {
		t.Errorf("the hash is %s, want %s", summary.ConfigHash, config.ResultHash(job.Lists{}))
	}
	if summary.Plan.ExpectedRecall != 1 {
		t.Errorf("plan %+v promises less than exact keys", summary.Plan)
	}
	if len(summary.Stages) != len(work.Stages) {
		t.Fatalf("%d stages, want %d", len(summary.Stages), len(work.Stages))
	}
	for i, name := range work.Stages {
		stage := summary.Stages[i]
		if idle := slices.Contains([]work.Stage{
			work.Read, work.Audit, work.Source, work.Common, work.Strip,
			work.Prune, work.Trim, work.Site, work.Guard, work.Mirror,
		}, name); stage.Name != string(name) ||
			!idle && (stage.Tasks == 0 || stage.Records == 0) {
			t.Errorf("stage %d is %+v, want %s at work", i, stage, name)
		}
		if name == "audit" && stage.Tasks > 0 {
			t.Errorf("%+v: exact keys have nothing to audit", stage)
		}
		if name == "source" && stage.Tasks > 0 {
			t.Errorf("%+v: without a field of sources there is nothing to count", stage)
		}
	}
	if info, err := os.Stat(filepath.Join(config.Output, workspace.SuccessName)); err != nil || info.Size() != 0 {
		t.Errorf("mark of success: %v, %v", info, err)
	}
}

// checkFollows checks the rows. They name each pair of classes of identical documents once. Each row is true. Two
// documents of the reference share a row only if they are identical. All that is true follows from the rows: the
// documents are in one class, or a row joins their classes.
func checkFollows(t *testing.T, tr *truth, rows []pairRow, isTrue func(i, j int) bool) {
	t.Helper()
	number := map[string]int{}
	for i := range tr.documents {
		number[tr.documents[i].name] = i
	}
	class := make([]int, len(tr.documents)) // the first document of each class
	for i := range class {
		class[i] = i
	}
	for _, row := range rows {
		if a, b := number[row.A], number[row.B]; row.Identical {
			if class[b] != b || class[a] != a || a > b {
				t.Errorf("%+v is in no star of a first document", row)
			}
			class[b] = a
		}
	}
	joined := map[[2]int]bool{}
	for _, row := range rows {
		a, b := number[row.A], number[row.B]
		if !isTrue(a, b) || a >= b {
			t.Errorf("%+v is wrong", row)
		}
		if row.Identical {
			continue
		}
		classes := [2]int{min(class[a], class[b]), max(class[a], class[b])}
		if joined[classes] || class[a] == class[b] || b < tr.references {
			t.Errorf("%+v is there twice, or of the reference only", row)
		}
		joined[classes] = true
	}
	found := 0
	for j := tr.references; j < len(class); j++ {
		for i := range j {
			if !isTrue(i, j) {
				continue
			}
			found++
			if !joined[[2]int{min(class[i], class[j]), max(class[i], class[j])}] && class[i] != class[j] {
				t.Errorf("%s and %s do not follow from the rows", tr.documents[i].name, tr.documents[j].name)
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d true pairs", found)
	}
}
