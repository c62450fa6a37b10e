package pipeline

import (
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/look/finished"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/settle/standing"
	"mirrorbeam/internal/settle/state"
	"mirrorbeam/internal/settle/write"
	"mirrorbeam/internal/start/build"
	"mirrorbeam/job"
	"mirrorbeam/transforms"
)

// notes reports whether the next run may copy rows of this one: of clusters, pairs and removed documents as lines of JSON, of a job
// whose documents are all compared alike. Rows of other outputs say more of the whole corpus.
func (r *run) notes() bool {
	c := &r.Config
	return c.State != "" && c.Scorer().HasClusters && c.CommonLaw().IsOff() && c.OutputFormat == output.JSONL &&
		len(c.Reference) == 0 && c.Across == "" && c.SourceField == "" && !c.HasSites() &&
		!slices.ContainsFunc(c.Outputs(), func(of string) bool { return !slices.Contains(standing.Outputs[:], of) })
}

// stands reports whether the run may copy rows of the last one, whose results are in the output folder. In the state are similar pairs that
// are not similar any more since a document has gone. Once there are as many as others, all rows are made anew, and the pairs with them.
func (r *run) stands() bool {
	if !r.notes() || !r.narrows() || r.settled() == "" || r.Config.Republish {
		return false
	}
	last := &r.state.Last
	if r.state.makesAllRows || last.Standing == "" || r.isLong(last.SimilarPairs) || last.SharedIDs > 0 || last.SimilarPairs > 2*last.Settled || last.Program != build.Version() ||
		r.inputs.HaveURLs() != slices.ContainsFunc(last.Files, func(f state.File) bool { return f.Format == corpus.WARC }) {
		return false
	}
	results, err := finished.Open(r.Config.Output)
	return err == nil && results.Summary.State != nil && results.Summary.State.Generation == last.Number && r.Config.HasResultsOf(&results.Summary.Config)
}

// isLong reports whether the list of the components with so many pairs would take more than an eighth of the memory of a process, each of
// which holds it.
func (r *run) isLong(pairs int64) bool {
	memory := r.Config.ProcessMemory()
	return memory > 0 && pairs*standing.ComponentBytes > memory/8
}

// giveStanding gives the components of the last run to the tasks of the job, as they are called in this run.
func (r *run) giveStanding() error {
	list, err := standing.Load(r.state.Path(r.state.Last.Standing))
	if err != nil {
		return err
	}
	numbers := map[string]int{} // of unchanged files
	for number, is := range r.inputs.Unchanged() {
		if is {
			numbers[pathOf(&r.inputs.Files[number])] = number
		}
	}
	files, before := make([]int, len(r.state.Last.Files)), -1
	for i := range files {
		files[i] = -1
		if number, is := numbers[pathOf(&r.state.Last.Files[i].File)]; is && number > before {
			files[i], before = number, number
		}
	}
	list.Renumber(files)
	r.state.standing = list
	path := transforms.StandingPath(r.results.Temp)
	if list.Give(path); job.IsLocal(r.Config.Runner) {
		return nil
	}
	return list.Write(path)
}

// pathOf returns the path of a file, or of the one file of a group.
func pathOf(file *corpus.File) string {
	if len(file.Members) > 0 {
		return file.Members[0].Path
	}
	return file.Path
}

// mergeStanding returns what the run hands on of components: those that it has made, and others that stood.
func (r *run) mergeStanding(now *write.ForNext, result *write.Result) (*standing.Next, error) {
	if r.state.standing == nil && r.isLong(result.Counts.Pairs) {
		now.Noted = nil
	}
	return standing.Merge(r.state.standing, now.Noted)
}

// rememberStanding writes what the next run is to know of components, if it may copy rows.
func (r *run) rememberStanding(f *found, next *standing.Next, names state.Names) error {
	if len(next.Shards) == 0 || f.names.Verdicts == "" {
		return nil
	}
	f.names.Standing = names.Standing
	return next.Write(r.state.Path(names.Standing))
}

// verdictsOf returns the similar pairs of the last run if components that stood have theirs among them, and nil otherwise.
func (r *run) verdictsOf(next *standing.Next) (*state.Verdicts, error) {
	if !next.HasStood {
		return nil, nil
	}
	return state.ReadVerdicts(r.state.Path(r.state.Last.Verdicts))
}
