package finished

import (
	"slices"

	"mirrorbeam/internal/carry/audit"
	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/look/warnings"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/read/sources"
	"mirrorbeam/internal/settle/state"
	"mirrorbeam/job"
	"mirrorbeam/lshbands"
)

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
	// Warnings say where the results may lack what the user wants to keep.
	Warnings []warnings.Warning `json:"warnings"`
	// GuardsMet are the guards of the settings that do not hold, such as removes:50.
	GuardsMet []string `json:"guards_met,omitempty"`
	// Sources says how much of each source is in the others.
	Sources []sources.Row `json:"sources"`
	findings.Extras
	// Plan says how candidates are found and what that promises.
	Plan Plan `json:"plan"`
	// Audit is the measured recall. It is missing if none was measured.
	Audit *audit.Result `json:"audit,omitempty"`
	// State says what has changed since the last run. It is missing if the job keeps no state.
	State *StateSummary `json:"state,omitempty"`
	// Stages has the costs of the stages, in the order of the data. Stage read only lists the splits: fingerprint reads them.
	Stages []Stage `json:"stages"`
	Cost
}

// Cost is what a whole job took.
type Cost struct {
	// Seconds is the time of the whole job.
	Seconds float64 `json:"seconds"`
	// CPUSeconds is the CPU time of the starting process. On a cluster it is the sum of the stages.
	CPUSeconds float64 `json:"cpu_seconds"`
	// PeakMemoryBytes is the largest resident size of the starting process. On a cluster it is the size of a worker at the
	// end of a task.
	PeakMemoryBytes int64 `json:"peak_memory_bytes"`
	// TempBytes is the most that the temporary files took on disk.
	TempBytes int64 `json:"temp_bytes"`
}

// SketchVersion identifies how hashes and tokens are made: sketches of different versions cannot be compared.
type SketchVersion struct {
	// Version is the version of the hashes.
	Version int `json:"version"`
	// Unicode is the version of the tables of characters.
	Unicode string `json:"unicode"`
}

// Plan says how candidates are found and what that promises.
type Plan struct {
	// Keys is the kind of keys that bring documents together.
	Keys methods.Name `json:"keys"`
	// Scheme is the scheme of MinHash keys; zero for others.
	lshbands.Scheme
	// Tables is the number of permuted tables of SimHash keys; 0 for others.
	Tables int `json:"tables,omitempty"`
	// Bits is the length of the fingerprints of SimHash keys.
	Bits int `json:"bits,omitempty"`
	// Distance is how many of these bits may differ.
	Distance int `json:"distance,omitempty"`
	// ExpectedRecall is the probability that a pair of exactly the threshold is compared. It is 0 where that is not known
	// beforehand: if SimHash keys find the candidates for another score, and if passages are looked for.
	ExpectedRecall float64 `json:"expected_recall"`
	// Words applies if passages are looked for: documents that share this many words in a row are certain to be
	// compared.
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
	// Recalled counts the tasks that an earlier run, which this one has resumed, had done.
	Recalled int64 `json:"recalled,omitempty"`
	// Records is the number of records that went into it.
	Records int64 `json:"records"`
	// Bytes is the size of these records.
	Bytes int64 `json:"bytes"`
	// Pieces is the number of pieces that its tasks read of the temporary files.
	Pieces int64 `json:"pieces"`
	// ReadBytes is the size of these pieces.
	ReadBytes int64 `json:"read_bytes"`
	// WrittenBytes is what its tasks wrote of the temporary files.
	WrittenBytes int64 `json:"written_bytes"`
}

// StateSummary says what a run found in its state, and what has changed since the last run.
type StateSummary struct {
	// Generation is the number of the generation that the run has written.
	Generation int `json:"generation"`
	// IsKept says that nothing has changed since the run that wrote the generation, so that its results stay.
	IsKept bool `json:"-"`
	// Files counts the files by how they differ from the files of the last run.
	Files state.Difference `json:"files"`
	// Changes counts the changes of clusters, mirrors, suspects and protected sites, by their kinds.
	Changes map[string]map[string]int64 `json:"changes"`
	// Unacknowledged counts the changes, of this run and of earlier ones, that are told of again until somebody acknowledges
	// them.
	Unacknowledged map[string]map[string]int64 `json:"unacknowledged"`
	// Suspects are the open ones, the oldest first, 1,000 at most.
	Suspects []OpenSuspect `json:"suspects,omitempty"`
	// Unseen counts the suspects of earlier runs that this one could not look for, and which stay as they were.
	Unseen int64 `json:"unseen,omitempty"`
}

// OpenSuspect says since when a suspect is known.
type OpenSuspect struct {
	// ID is its id as in suspects.
	ID string `json:"id"`
	// Site is its name.
	Site string `json:"site"`
	// Generation is the one whose run has first seen it; 0 if an earlier version of the program has seen it.
	Generation int64 `json:"generation,omitempty"`
	// Seen is when that run began.
	Seen string `json:"seen,omitempty"`
}

// Failing returns the conditions of [job.Config.FailOn] that the run meets. Changes count until somebody acknowledges them.
func (s *Summary) Failing() []string {
	if s.State == nil {
		return nil
	}
	var met []string
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
