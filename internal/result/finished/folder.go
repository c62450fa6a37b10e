// Package finished reads back what a job has left in its output folder.
package finished

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/result/warnings"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// Folder is the output folder of a job that succeeded.
type Folder struct {
	// Path is where it is.
	Path    string
	Summary Summary

	files []output.File
}

// mostOpenings bounds how often results are opened that a job replaces meanwhile.
const mostOpenings = 10

// Open reads the manifest and the summary of the results in a folder. It is an error if there are none, if the job did
// not succeed, or if a file that the manifest lists is not there in its full length.
func Open(path string) (f *Folder, err error) {
	success := storage.Join(path, workspace.SuccessName)
	for range mostOpenings {
		before, fault := storage.Stat(success)
		if fault != nil {
			return nil, missing(path)
		}
		f, err = open(path)
		// A job that overwrites the results puts other files in their place.
		if after, _ := storage.Stat(success); after == (storage.Info{}) || before == after {
			break
		}
	}
	return f, err
}

// open opens the results in a folder that may be exchanged meanwhile.
func open(path string) (*Folder, error) {
	f := &Folder{Path: path}
	var manifest workspace.Manifest
	if err := f.readJSON(workspace.ManifestName, &manifest); err != nil {
		return nil, err
	}
	if err := f.readJSON(workspace.SummaryName, &f.Summary); err != nil {
		return nil, err
	}
	f.files = manifest.Files
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("results in %s are not whole: %w: run the job again", path, err)
	}
	return f, nil
}

// missing is the error of a folder without the mark of success. A storage without folders knows none by its name.
func missing(path string) error {
	_, err := storage.Stat(path)
	var special *storage.IrregularError
	switch isSpecial := errors.As(err, &special); {
	case errors.Is(err, fs.ErrNotExist):
		return setting.Errorf("there is no folder %s: name the {output} of an earlier 'runjob run'", path)
	case err != nil && !isSpecial:
		return fmt.Errorf("open results: %w", err)
	case err == nil, !special.Mode.IsDir():
		return setting.Errorf("%s is no folder: name the {output} of an earlier 'runjob run'", path)
	case workspace.IsInterrupted(path):
		return setting.Errorf(
			"the results in %s are not whole: the job was killed while it published them: "+
				"run it again with the same {output}, which finishes that first", path)
	}
	return fmt.Errorf("no results of a job are in %s: there is no _SUCCESS in it: run the job, or wait for its end",
		path)
}

func (f *Folder) check() error {
	stat := storage.Stat
	if storage.Scheme(f.Path) != "" { // where one listing replaces many requests
		listed, err := workspace.Listed(f.Path)
		if err != nil {
			return err
		}
		stat = func(path string) (storage.Info, error) {
			if info, is := listed[path]; is {
				return info, nil
			}
			return storage.Info{}, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
		}
	}
	for _, file := range f.files {
		info, err := stat(f.path(file))
		if err == nil && info.Size != file.Bytes {
			err = fmt.Errorf("%s has %d bytes and manifest.json says %d", file.Name, info.Size, file.Bytes)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Has reports whether the job has written an output, such as pairs.
func (f *Folder) Has(name string) bool {
	return slices.ContainsFunc(f.files, func(file output.File) bool { return file.Output == name })
}

// Paths returns where the files of an output are, in order.
func (f *Folder) Paths(name string) (paths []string) {
	for _, file := range f.files {
		if file.Output == name {
			paths = append(paths, f.path(file))
		}
	}
	return paths
}

// path returns where a file is. Its name may not lead out of the folder.
func (f *Folder) path(file output.File) string {
	if output.IsTreeName(file.Name) {
		return storage.Join(f.Path, file.Name)
	}
	return storage.Join(f.Path, path.Base(file.Name))
}

func (f *Folder) readJSON(name string, value any) error {
	b, err := storage.ReadFile(storage.Join(f.Path, name))
	if err != nil {
		return fmt.Errorf("results in %s cannot be read: %s: %w", f.Path, name, err)
	}
	if err := json.Unmarshal(b, value); err != nil {
		return fmt.Errorf("results in %s are damaged, as a power cut leaves them: %s: %w: run the job again "+
			"into another folder", f.Path, name, err)
	}
	return nil
}

// Shingles returns shingles that did not count, [output.IgnoredShingles] or [output.CommonShingles], in ascending
// order. It is an error if the job has not written them.
func (f *Folder) Shingles(name string) (*sketch.Shingles, error) {
	packed, err := f.Packed(name)
	if err != nil {
		return nil, err
	}
	return sketch.NewShingles(sketchblock.AppendSet(nil, packed))
}

// Packed returns the same shingles as they are packed in a sketch block.
func (f *Folder) Packed(name string) ([]byte, error) {
	paths := f.Paths(name)
	if len(paths) != 1 {
		return nil, fmt.Errorf(
			"results in %s do not say which shingles were left out: run the job again with this version of the program", f.Path)
	}
	packed, err := storage.ReadFile(paths[0])
	if err != nil {
		return nil, fmt.Errorf("results in %s cannot be read: %w", f.Path, err)
	}
	return packed, nil
}

// Need is an error unless the job has written at least one of the outputs.
func (f *Folder) Need(names ...string) error {
	if slices.ContainsFunc(names, f.Has) {
		return nil
	}
	return setting.Errorf("the job in %s has written only %s, and %s is required: run it again with {emit} %s",
		f.Path, strings.Join(f.Summary.Config.Emit, ", "), strings.Join(names, " or "), strings.Join(names, ","))
}

// Summary is the content of summary.json.
type Summary struct {
	// Version is the version of the program.
	Version string `json:"version"`
	// Config has every setting.
	Config job.Config `json:"config"`
	// ConfigHash is a hash of the settings that can change clusters and pairs.
	ConfigHash string `json:"config_hash"`
	// Sketch identifies how hashes and tokens are made: sketches of different versions cannot be compared.
	Sketch SketchVersion `json:"sketch"`
	findings.Totals
	// Begun is when the job began, in UTC, as in 2026-11-25T21:40:00Z. Earlier versions lack it.
	Begun string `json:"begun,omitempty"`
	// Files names files that were not read, or only in part.
	Files FileNotes `json:"files,omitzero"`
	// Warnings say where the results may differ from what the user wants.
	Warnings []warnings.Warning `json:"warnings"`
	// GuardsMet are the conditions of --guard that are met, such as removes:50.
	GuardsMet []string `json:"guards_met,omitempty"`
	// Sources says how much of each source is in other sources.
	Sources []sources.Row `json:"sources"`
	findings.Extras
	// Plan says how candidates are found, and with which recall.
	Plan Plan `json:"plan"`
	// Audit is the measured recall. It is missing if none was measured.
	Audit *audit.Result `json:"audit,omitempty"`
	// State says what has changed since the last run. It is missing if the job keeps no state.
	State *StateSummary `json:"state,omitempty"`
	// Stages has the costs of the stages, in order. Stage read only lists the splits; fingerprint reads them.
	Stages []Stage `json:"stages"`
	Cost
}

// FileNotes says how many files were read, and names some that were not, or only in part: ten of a kind at most, the
// first in the order of the corpus or of names.
type FileNotes struct {
	// Read is the number of files of the input and the reference that were read.
	Read int64 `json:"read"`
	// Rejected are files that could not be read at all; counts.files_rejected counts them.
	Rejected []FileFault `json:"rejected,omitempty"`
	// Damaged are files that are cut short or damaged; counts.files_damaged counts them.
	Damaged []string `json:"damaged,omitempty"`
	// PassedOver has the first file of each reason of counts.passed_over.
	PassedOver map[string]string `json:"passed_over,omitempty"`
	// GuessedEncodings has the first file of each encoding of counts.guessed_encodings.
	GuessedEncodings map[string]string `json:"guessed_encodings,omitempty"`
	// Order names the first 10,000 files that were read, in document order, if that is not the order of their names.
	Order []string `json:"order,omitempty"`
	// Fields names settings such as text_field that nobody chose, and that the first records decided.
	Fields []string `json:"fields,omitempty"`
	// Unmatched are the patterns of --include and --exclude that match no file.
	Unmatched []string `json:"unmatched,omitempty"`
}

// FileFault is a file that could not be read.
type FileFault struct {
	// File is its path relative to the input.
	File string `json:"file"`
	// Error says why it could not be read.
	Error string `json:"error"`
}

// Cost is what a whole job took.
type Cost struct {
	// Seconds is the time of the whole job.
	Seconds float64 `json:"seconds"`
	// CPUSeconds is the CPU time of the starting process in that time. On a cluster it is the sum of the stages.
	CPUSeconds float64 `json:"cpu_seconds"`
	// PeakMemoryBytes is the largest resident size of the starting process. On a cluster it is the size of a worker at
	// the end of a task.
	PeakMemoryBytes int64 `json:"peak_memory_bytes"`
	// TempBytes is the largest size of the temporary files on disk.
	TempBytes int64 `json:"temp_bytes"`
	// Tier names the instructions of the kernels of the starting process, as MIRRORBEAM_CPU does.
	Tier string `json:"tier,omitempty"`
	// Requests are the requests to buckets and web servers until results were published, by kind; missing if there were
	// none.
	Requests []Requests `json:"requests,omitempty"`
}

// Requests are requests of one kind to buckets or servers of the web.
type Requests struct {
	// Kind is list, describe, read, write, copy or remove, for buckets, or fetch, for servers of the web.
	Kind string `json:"kind"`
	// Requests is their number, retries included.
	Requests int64 `json:"requests"`
	// Bytes is the size of the file contents that they carried.
	Bytes int64 `json:"bytes,omitempty"`
	// Seconds is the total time that read requests waited for their answers to begin, concurrent ones each.
	Seconds float64 `json:"seconds,omitempty"`
	// Dollars is their list price.
	Dollars float64 `json:"dollars"`
}

// RequestsOf returns what was spent, by kind.
func RequestsOf(spent storage.Spent) (all []Requests) {
	for _, kind := range storage.Kinds() {
		r := Requests{
			Kind:     kind.String(),
			Requests: spent.Requests[kind],
			Dollars:  kind.Dollars(float64(spent.Requests[kind])),
		}
		switch kind {
		case storage.Reading:
			r.Bytes, r.Seconds = spent.ReadBytes, spent.Answering.Seconds()
		case storage.Writing:
			r.Bytes = spent.WrittenBytes
		case storage.Fetching:
			r.Bytes = spent.FetchedBytes
		}
		if r.Requests > 0 {
			all = append(all, r)
		}
	}
	return all
}

// SketchVersion identifies how hashes and tokens are made: sketches of different versions cannot be compared.
type SketchVersion struct {
	// Version is the version of the hashes.
	Version int `json:"version"`
	// Unicode is the version of the tables of characters.
	Unicode string `json:"unicode"`
}

// Plan says how candidates are found, and with which recall.
type Plan struct {
	// Keys is the kind of keys that bring documents together.
	Keys methods.Name `json:"keys"`
	// Scheme is the scheme of MinHash keys; zero for others.
	lshbands.Scheme
	// Tables is the number of permuted tables of SimHash keys; 0 for others.
	Tables int `json:"tables,omitempty"`
	// Blocks are the --blocks of these tables, if they follow from the number of documents; empty for others.
	Blocks []int `json:"blocks,omitempty"`
	// Bits is the length of the fingerprints of SimHash keys.
	Bits int `json:"bits,omitempty"`
	// Distance is how many of these bits may differ.
	Distance int `json:"distance,omitempty"`
	// ExpectedRecall is the probability that a pair of exactly the threshold is compared. It is 0 if unknown: if
	// SimHash keys find the candidates for another score, and if passages are looked for.
	ExpectedRecall float64 `json:"expected_recall"`
	// Words is set if passages are looked for: documents that share this many words in a row are always compared.
	Words int `json:"words,omitempty"`
}

// Stage is the cost of one stage.
type Stage struct {
	// Name is the name of the stage.
	Name string `json:"name"`
	// Seconds is the time from the start of its first task to the end of its last.
	Seconds float64 `json:"seconds"`
	// CPUSeconds is the CPU time of its tasks, without the garbage collector's; 0 if the system does not account for
	// threads.
	CPUSeconds float64 `json:"cpu_seconds"`
	// PeakMemoryBytes is the largest resident size of a process at the end of a task; 0 if the system does not tell.
	PeakMemoryBytes int64 `json:"peak_memory_bytes"`
	// Tasks counts its tasks.
	Tasks int64 `json:"tasks"`
	// Recalled counts the tasks that an earlier, resumed run had done.
	Recalled int64 `json:"recalled,omitempty"`
	// Records is the number of its input records.
	Records int64 `json:"records"`
	// Bytes is the size of these records.
	Bytes int64 `json:"bytes"`
	// Pieces is the number of blocks of temporary files that its tasks read.
	Pieces int64 `json:"pieces"`
	// ReadBytes is the size of these blocks.
	ReadBytes int64 `json:"read_bytes"`
	// WrittenBytes is the size of the temporary files that its tasks wrote.
	WrittenBytes int64 `json:"written_bytes"`
	// Requests is the number of requests to buckets that the process made meanwhile.
	Requests int64 `json:"requests,omitempty"`
}

// StateSummary says what a run found in its state, and what has changed since the last run.
type StateSummary struct {
	// Generation is the generation that the run wrote.
	Generation int `json:"generation"`
	// IsKept says that nothing has changed since the run that wrote the generation, so that its results stay.
	IsKept bool `json:"-"`
	// Files counts the files by their difference from the last run.
	Files state.Difference `json:"files"`
	// Scratch says why the run compared all documents from scratch. It is missing if it did not, and in the first run.
	Scratch string `json:"from_scratch,omitempty"`
	// Changes counts the changes of clusters, mirrors, suspects and protected sites, by their kinds.
	Changes map[string]map[string]int64 `json:"changes"`
	// Unacknowledged counts the unacknowledged changes of this run and earlier ones, which are reported again.
	Unacknowledged map[string]map[string]int64 `json:"unacknowledged"`
	// Suspects are the unacknowledged suspects, the oldest first, 1,000 at most.
	Suspects []OpenSuspect `json:"suspects,omitempty"`
	// Unseen counts the suspects of earlier runs that this run could not check, which remain.
	Unseen int64 `json:"unseen,omitempty"`
}

// OpenSuspect says since when a suspect is known.
type OpenSuspect struct {
	// ID is its id as in suspects.
	ID string `json:"id"`
	// Site is its name.
	Site string `json:"site"`
	// Generation is the generation whose run first saw it; 0 if an earlier version of the program did.
	Generation int64 `json:"generation,omitempty"`
	// Seen is when that run began.
	Seen string `json:"seen,omitempty"`
}

// Failing returns the conditions of [job.Config.FailOn] that the run meets. Acknowledged changes do not count.
func (s *Summary) Failing() []string {
	var met []string
	for condition, n := range map[string]int64{
		job.FailOnRejects: s.Counts.Rejected,
		job.FailOnDamaged: s.Counts.FilesRejected + s.Counts.FilesDamaged,
		job.FailOnPanics:  s.Counts.Panics,
	} {
		if n > 0 && slices.Contains(s.Config.FailOn, condition) {
			met = append(met, condition)
		}
	}
	slices.Sort(met)
	if s.State == nil {
		return met
	}
	for _, of := range output.Followed {
		for _, kind := range output.ChangeKindsOf(of) {
			condition := job.FailCondition(kind, of)
			if s.State.Unacknowledged[of][kind] > 0 && slices.Contains(s.Config.FailOn, condition) {
				met = append(met, condition)
			}
		}
	}
	return met
}
