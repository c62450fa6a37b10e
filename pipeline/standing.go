package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/look/finished"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/settle/standing"
	"mirrorbeam/internal/settle/state"
	"mirrorbeam/internal/settle/write"
	"mirrorbeam/internal/start/build"
	"mirrorbeam/job"
	"mirrorbeam/transforms"
)

// notes reports whether components of this run may stand in the next one, of a job whose documents are all compared alike. Rows of clusters, pairs and
// removed documents can be copied as lines of JSON. Those about sites are made anew in any case. Rows of other outputs say more of the whole corpus.
func (r *run) notes() bool {
	c := &r.Config
	return c.State != "" && c.Scorer().HasClusters && c.CommonLaw().IsOff() && len(c.Reference) == 0 && c.Across == "" && c.SourceField == "" &&
		!slices.ContainsFunc(c.Outputs(), func(of string) bool {
			return !job.IsAboutSites(of) && (!slices.Contains(standing.Outputs[:], of) || c.OutputFormat != output.JSONL)
		})
}

// stands reports whether components of the last run may stand. If rows are to be copied, its results have to be in the output folder. In the state are
// similar pairs that are not similar any more since a document has gone. Once there are as many as others, all rows are made anew, and the pairs with them.
func (r *run) stands() bool {
	if !r.notes() || !r.narrows() || r.settled() == "" || r.Config.Republish {
		return false
	}
	last := &r.state.Last
	if r.state.makesAllRows || last.Standing == "" || r.isLong(last.SimilarPairs) || last.SimilarPairs > 2*last.Settled || last.Program != build.Version() ||
		(r.inputs.Archives() > 0) != slices.ContainsFunc(last.Files, func(f state.File) bool { return f.Format == corpus.WARC }) {
		return false
	}
	if r.Config.HasSites() && (last.Kept == "" || last.Sites != r.sitesHash()) {
		return false
	}
	if !slices.ContainsFunc(r.Config.Outputs(), func(of string) bool { return !job.IsAboutSites(of) }) {
		return true
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
	last := r.state.standing
	r.state.standing = nil // it is large, and of no more use
	return standing.Merge(last, now.Noted)
}

// rememberStanding writes what the next run is to know of components, if they may stand.
func (r *run) rememberStanding(f *found, next *standing.Next, names state.Names) error {
	if len(next.Shards) == 0 || f.names.Verdicts == "" {
		return nil
	}
	f.names.Standing = names.Standing
	return next.Write(r.state.Path(names.Standing))
}

// keep keeps what else the next run is to know.
func (r *run) keep(ctx context.Context, f *found, now *write.ForNext, next *standing.Next, result *write.Result) (err error) {
	var sites func(*runfile.Reader, *runfile.Writer) error
	if r.Config.HasSites() && f.names.Standing != "" {
		sites = func(reader *runfile.Reader, out *runfile.Writer) (err error) {
			var last []runfile.Piece
			if next.HasStood {
				last, err = runfile.Pieces(r.siteParts())
			}
			if err == nil {
				err = next.CopySites(last, now.SiteParts, reader, out)
			}
			return err
		}
	}
	if f.knowsIDs = result.SharedIDs > 0; f.knowsIDs || sites != nil || r.keepsPairs() {
		f.kept, err = r.state.Keep(ctx, append(result.GroupedKeys, result.Written...), sites)
	}
	return err
}

// siteParts returns the path of the run file with what components of the last run add to sites, "" if there is none.
func (r *run) siteParts() string {
	if !r.Config.HasSites() || r.state.Last.Kept == "" {
		return ""
	}
	return r.state.Path(r.state.Last.Kept)
}

// sitesHash identifies what decides what a component adds to sites, besides the units of its documents; "" if the job is not about sites.
func (r *run) sitesHash() string {
	if !r.Config.HasSites() {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", r.Config.MirrorSites, r.inputs.Sites.Protected))
	return hex.EncodeToString(sum[:8])
}

// verdictsOf returns the similar pairs of the last run if components that stood have theirs among them, and nil otherwise.
func (r *run) verdictsOf(next *standing.Next) (*state.Verdicts, error) {
	if !next.HasStood {
		return nil, nil
	}
	return state.ReadVerdicts(r.state.Path(r.state.Last.Verdicts))
}
