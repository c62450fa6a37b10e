package auditing

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/joining"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
	"mirrorbeam.dev/sketch"
)

const threshold = 0.5

// similar is the number of words of a document that its near-duplicate shares.
const similar = 27

// text returns the words of a document of a group. Variants of a group are similar; variants of equal number are equal.
func text(group, variant int) string {
	words := make([]string, 30)
	for i := range words {
		words[i] = fmt.Sprintf("g%dw%d", group, i)
		if i >= similar {
			words[i] += fmt.Sprintf("v%d", variant)
		}
	}
	return fmt.Sprintf("{\"text\":%q}\n", strings.Join(words, " "))
}

// job holds what an audit sees of a job.
type job struct {
	t        *testing.T
	runs     work.Runs
	audit    *Audit
	outcomes []work.Outcome
}

// newJob fingerprints files for an audit of a sample. The first file may be of the reference. A split has 10 kB, or a
// sixth of its file.
func newJob(t *testing.T, files []string, hasReference bool, sample int) *job {
	t.Helper()
	return newJobWithin(t, "", files, hasReference, sample)
}

// newJobWithin is newJob for documents that are compared if a field has the same value.
func newJobWithin(t *testing.T, field string, files []string, hasReference bool, sample int) *job {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, content := range files {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("%d.jsonl", i)))
		if err := os.WriteFile(paths[i], []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	listing, err := corpus.List(t.Context(), paths, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	listing.Files[0].Reference = hasReference
	inputs := documents.Inputs{
		Files:  listing.Files,
		Splits: corpus.Splits(listing.Files, max(listing.Files[0].Size/6, 10_000)),
	}
	j := &job{t: t, runs: worktest.Runs(t)}
	path := work.Path(filepath.Join(dir, "inputs"))
	if err := documents.WriteInputs(string(path), inputs); err != nil {
		t.Fatal(err)
	}
	f := &documents.Fingerprinting{
		Inputs:      path,
		Kept:        documents.Kept{Marking: documents.Marking{Within: field}, Sets: documents.AllHashes},
		AuditSample: sample,
		Sketching: documents.Sketching{
			Reading: documents.Reading{Fields: corpus.Fields{Texts: []string{"text"}}, MaxDocument: 1 << 20},
			Options: sketch.Options{Measure: sketch.Measure{Shingle: 1}},
		},
	}
	j.audit = &Audit{Inputs: path, Threshold: threshold, Sample: sample}
	for _, setup := range []func() error{f.Setup, j.audit.Setup} {
		if err := setup(); err != nil {
			t.Fatal(err)
		}
	}
	for split := range inputs.Splits {
		j.outcomes = append(j.outcomes, j.do(work.Fingerprint, work.Task{Number: split}, f.Task))
	}
	return j
}

// do does a task of a stage and returns its outcome.
func (j *job) do(stage work.Stage, task work.Task,
	do func(context.Context, work.Task, *work.TaskContext) error,
) work.Outcome {
	j.t.Helper()
	o := worktest.Do(j.t, j.runs, []work.Task{task}, do)[0]
	o.Stage = stage
	return o
}

// plan draws the sample and returns the tasks.
func (j *job) plan() []work.Task {
	j.t.Helper()
	_, tasks := worktest.Plan(j.t, j.runs, j.outcomes, j.audit.Plan)
	return tasks
}

// refs returns the documents of all files, in their order.
func (j *job) refs() (refs []docref.Ref) {
	j.t.Helper()
	for _, o := range j.outcomes {
		pieces, err := runfile.Pieces(o.Run)
		if err != nil {
			j.t.Fatal(err)
		}
		w := &work.TaskContext{Memory: &work.Memory{}, Pieces: pieces}
		err = w.EachSet(j.t.Context(), func(block *sketchblock.Block, i int, _ []byte) error {
			refs = append(refs, block.Ref(i))
			return nil
		})
		if err != nil {
			j.t.Fatal(err)
		}
		w.Reader.Close()
	}
	return refs
}

// join writes a run in which each group of documents is joined by edges from the first one.
func (j *job) join(stage work.Stage, groups [][]docref.Ref) {
	j.t.Helper()
	j.outcomes = append(j.outcomes,
		j.do(stage, work.Task{}, func(_ context.Context, _ work.Task, w *work.TaskContext) error {
			node := graphs.Node(0)
			for _, group := range groups {
				first := node
				for i, ref := range group {
					if err := records.WriteFixed(&w.Run, records.EdgeNodes, 0, records.Node{
						Ref:    ref,
						Weight: 1,
						Parent: first,
					}); err != nil {
						return err
					}
					if node++; i == 0 {
						continue
					}
					b, err := w.Run.Record(records.Edges, 0, records.EdgeSize)
					if err != nil {
						return err
					}
					records.PutEdge(b, records.Edge[graphs.Node]{
						A:     first,
						B:     node - 1,
						Score: records.NewScore(1, 1, false),
					})
				}
			}
			return nil
		}))
}

// seeing is a labeller that shows documents to a judge: all of them, or the ones in a list.
type seeing struct {
	judge *Judge
	list  []uint64
	all   bool
}

func (seeing) Count(joining.Component)                 {}
func (seeing) Place(joining.Component) (uint64, error) { return 0, nil }
func (seeing) Node(int, graphs.Node, struct{}) error   { return nil }
func (s seeing) Document(d joining.Document) (none struct{}, err error) {
	if s.all || slices.Contains(s.list, uint64(d.Ref)) {
		s.judge.See(d.Ref, d.Component.First)
	}
	return none, nil
}

// result runs the tasks and returns the result that Write makes of their outcomes, whether the judge sees all documents
// or those that it needs.
func (j *job) result() *audit.Result {
	j.t.Helper()
	for _, task := range j.plan() {
		j.outcomes = append(j.outcomes, j.do(work.Audit, task, j.audit.Task))
	}
	all, needed := j.judged(true), j.judged(false)
	if !reflect.DeepEqual(all, needed) {
		j.t.Errorf("%+v of the documents that are needed, want %+v", needed, all)
	}
	return all
}

// judged returns what Write makes of the outcomes if the judge sees all documents, or the ones that Audited names.
func (j *job) judged(all bool) *audit.Result {
	j.t.Helper()
	worktest.Plan(j.t, j.runs, j.outcomes, func(_ context.Context, p *work.Planning) error {
		judge, err := NewJudge(p, j.audit.layout.FirstInput)
		if err != nil {
			return err
		}
		list, err := Audited(p)
		if err != nil {
			return err
		}
		graph := work.GraphOf(work.RunsBut(j.outcomes, work.Audit, work.Fingerprint), records.EdgeNodes, p, 1<<20)
		if err := joining.Label(graph, seeing{judge, list, all}); err != nil {
			return err
		}
		return judge.Write(string(p.Runs.Folder))
	})
	result, err := Read(string(j.runs.Folder))
	if err != nil {
		j.t.Fatal(err)
	}
	return result
}

const pairs, triples = 30, 5

// similarDocuments returns pairs of similar documents, triples of equal ones, and others.
func similarDocuments() string {
	var b strings.Builder
	for variant := range 2 {
		for group := range pairs {
			b.WriteString(text(group, variant))
		}
	}
	for i := range 3 * triples {
		b.WriteString(text(1000+i%triples, 0))
	}
	for i := range 20 {
		b.WriteString(text(2000+i, 0))
	}
	return b.String() + "{\"text\":\"\"}\n"
}

// TestAudit: an audit looks at all of a small corpus, so the recall is exact.
func TestAudit(t *testing.T) {
	for _, found := range []int{0, 11, pairs} {
		j := newJob(t, []string{similarDocuments()}, false, audit.UsualSample)
		refs := j.refs()
		var scored, stars [][]docref.Ref
		for i := range found {
			scored = append(scored, []docref.Ref{refs[i], refs[pairs+i]})
		}
		for i := range triples {
			stars = append(stars, []docref.Ref{refs[2*pairs+i], refs[2*pairs+triples+i], refs[2*pairs+2*triples+i]})
		}
		j.join(work.Group, stars)
		j.join(work.Score, scored)
		r := j.result()
		share := float64(found+3*triples) / (pairs + 3*triples)
		want := &audit.Result{
			Sampled:    len(refs) - 1,
			Partnered:  2*pairs + 3*triples,
			Pairs:      2 * (pairs + 3*triples),
			Recall:     share,
			Low:        share,
			High:       share,
			Listed:     share,
			ListedLow:  share,
			ListedHigh: share,
		}
		if !reflect.DeepEqual(r, want) {
			t.Errorf("%d pairs found: %+v, want %+v", found, r, want)
		}
	}
}

// TestAuditOfReference: pairs within the reference do not count. A pair with one document of the reference is seen from
// the side of the other.
func TestAuditOfReference(t *testing.T) {
	reference := text(1, 0) + text(1, 1) + text(2, 0)
	input := text(1, 2) + text(2, 0) + text(3, 0) + text(3, 1)
	j := newJob(t, []string{reference, input}, true, audit.UsualSample)
	refs := j.refs()
	j.join(work.Group, [][]docref.Ref{{refs[2], refs[4]}})
	j.join(work.Score, [][]docref.Ref{{refs[0], refs[3]}, {refs[1], refs[3]}})
	r := j.result()
	// The audit sees 1.2 with both of its group, 2.0 with its copy, and both of group 3.
	if r.Sampled != 4 || r.Partnered != 4 || r.Pairs != 5 {
		t.Errorf("result %+v", r)
	}
	if want := 3. / 4; r.Recall != want || r.Listed != want {
		t.Errorf("recall %g, listed %g, want %g", r.Recall, r.Listed, want)
	}
}

// TestAuditWithin: only pairs of a scope are counted, equal ones too.
func TestAuditWithin(t *testing.T) {
	in := func(scope, line string) string {
		return strings.Replace(line, "{", fmt.Sprintf("{%q:%q,", "of", scope), 1)
	}
	content := in("a", text(1, 0)) + in("b", text(1, 1)) + in("a", text(1, 2)) + text(1, 3) + // one pair
		in("a", text(2, 0)) + in("b", text(2, 0)) + text(2, 0) + text(2, 0) // and one of equal documents
	j := newJobWithin(t, "of", []string{content}, false, audit.UsualSample)
	refs := j.refs()
	j.join(work.Group, [][]docref.Ref{{refs[6], refs[7]}})
	j.join(work.Score, nil)
	if r := j.result(); r.Sampled != 8 || r.Partnered != 4 || r.Pairs != 4 || r.Recall != .5 || r.Listed != .5 {
		t.Errorf("result %+v", r)
	}
	if again := newJob(t, []string{content}, false, audit.UsualSample); again.result().Pairs != 12+12 {
		t.Errorf("all in one scope: %+v", again.result())
	}
}

// TestAuditOfShare: an audit looks at a share of a large corpus. It gives the same result from documents set apart as
// from all blocks.
func TestAuditOfShare(t *testing.T) {
	// A line that is too long makes a file large, but is no document.
	large := similarDocuments() + strings.Repeat(" ", 150<<20) + "{}\n"
	j := newJob(t, []string{large}, false, audit.UsualSample)
	if s := j.audit.shares; s.Probed == 1 || s.Sampled >= s.Probed {
		t.Fatalf("shares %+v", s)
	}
	tasks := j.plan()
	seen := func() (classes map[uint64]audit.Class, sampled []uint64) {
		var outcomes []work.Outcome
		for _, task := range tasks {
			o := j.do(work.Audit, task, j.audit.Task)
			if o.SampledAll || o.Sampled == 0 || o.Sampled > 60 {
				t.Errorf("%d documents are sampled, all: %v", o.Sampled, o.SampledAll)
			}
			outcomes = append(outcomes, o)
		}
		classes = map[uint64]audit.Class{}
		err := work.EachRecordOf(outcomes, work.Audit, records.Audit, &work.Memory{}, func(packed []byte) error {
			for class := range records.All[audit.Class](packed) {
				classes[class.Digest] = class
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		err = work.EachRecordOf(outcomes, work.Audit, records.Sample, &work.Memory{}, func(packed []byte) error {
			for s := range records.All[records.Sampled](packed) {
				sampled = append(sampled, s.Hash)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(sampled)
		return classes, sampled
	}
	classes, sampled := seen()
	j.audit.shares.Probed = 1 // limits the search alone: the sample has its own limit
	all, sampledOfAll := seen()
	if len(classes) == 0 || len(sampled) == 0 || !reflect.DeepEqual(classes, all) ||
		!slices.Equal(sampled, sampledOfAll) {
		t.Errorf("set aside: classes %v of %v; all: classes %v of %v", classes, sampled, all, sampledOfAll)
	}
}

// TestNoAudit: without documents to sample there is no task and no result.
func TestNoAudit(t *testing.T) {
	for _, j := range []*job{
		newJob(t, []string{similarDocuments()}, false, 0),
		newJob(t, []string{"{\"text\":\"\"}\n"}, false, audit.UsualSample),
	} {
		if tasks := j.plan(); len(tasks) > 0 {
			t.Errorf("tasks %+v", tasks)
		}
		if r := j.result(); r != nil {
			t.Errorf("result %+v", r)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(resultPath(dir), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil {
		t.Error("a broken result is taken")
	}
}

// TestSmallSample: a sample that is smaller than the corpus says so.
func TestSmallSample(t *testing.T) {
	j := newJob(t, []string{similarDocuments()}, false, 8)
	r := j.result()
	if r.Sampled != 8 || r.Recall < r.Low || r.Recall > r.High {
		t.Errorf("result %+v", r)
	}
}

// TestSampleWithinMemory: a sample has no more shingles than fit into its memory. With enough memory it is the same as
// without a limit.
func TestSampleWithinMemory(t *testing.T) {
	within := func(memory int64) *audit.Result {
		j := newJob(t, []string{similarDocuments()}, false, 8)
		j.audit.SampleBytes = memory
		return j.result()
	}
	unlimited := within(0)
	if ample := within(1 << 20); !reflect.DeepEqual(ample, unlimited) {
		t.Errorf("with ample memory %+v, want %+v", ample, unlimited)
	}
	if r := within(44 * 40); r.Sampled == 0 || r.Sampled >= unlimited.Sampled {
		t.Errorf("%d documents in a small sample, %d in the usual one", r.Sampled, unlimited.Sampled)
	}
}

// TestParametersTravel: JSON carries the parameters of the stage, and nothing else.
func TestParametersTravel(t *testing.T) {
	j := newJob(t, []string{text(1, 0)}, false, 1)
	j.audit.Inputs = "/tmp/caf\xe9"
	b, err := json.Marshal(j.audit)
	var got Audit
	if err == nil {
		err = json.Unmarshal(b, &got)
	}
	if want := (Audit{Inputs: j.audit.Inputs, Threshold: threshold, Sample: 1}); err != nil ||
		!reflect.DeepEqual(got, want) {
		t.Errorf("%s made %+v (%v)", b, got, err)
	}
}
