package pipeline

import (
	"math"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	"mirrorbeam/internal/carry/audit"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/look/warnings"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/read/sources"
	"mirrorbeam/internal/settle/write"
	"mirrorbeam/job"
	"mirrorbeam/lshbands"
	"mirrorbeam/sketch"
)

// Summary is the content of summary.json.
type Summary struct {
	Version    string        `json:"version"`
	Config     job.Config    `json:"config"`
	ConfigHash string        `json:"config_hash"`
	Sketch     SketchVersion `json:"sketch"`
	Counts     Counts        `json:"counts"`
	Skipped    work.Skipped  `json:"skipped"`
	// PassedOver counts records of the input that are no documents, by the reason.
	PassedOver work.PassedOver `json:"passed_over,omitempty"`
	// Warnings say where the results may lack what the user wants to keep.
	Warnings []warnings.Warning `json:"warnings"`
	// GuardsMet are the guards of the configuration that do not hold.
	GuardsMet []string `json:"guards_met,omitempty"`
	// Sources says how much of each source is in the others.
	Sources []sources.Row `json:"sources"`
	// Common says which shingles are common. It is nil if none was looked for.
	Common *work.CommonFound `json:"common,omitempty"`
	// Mirrors says what was found of sites. It is nil if no output is about sites.
	Mirrors *work.MirrorFindings `json:"mirrors,omitempty"`
	Plan    Plan                 `json:"plan"`
	// Audit is nil if the recall was not measured.
	Audit *audit.Result `json:"audit,omitempty"`
	// State is nil if the job has none.
	State   *StateSummary `json:"state,omitempty"`
	Stages  []Stage       `json:"stages"`
	Seconds float64       `json:"seconds"`
	// CPUSeconds is the CPU time of this process. On a cluster it is the sum of the stages.
	CPUSeconds float64 `json:"cpu_seconds"`
	// PeakMemoryBytes is the largest resident size of this process so far. On a cluster it is that of a worker at the end
	// of a task.
	PeakMemoryBytes int64 `json:"peak_memory_bytes"`
	// TempBytes is the largest size of the temporary files.
	TempBytes int64 `json:"temp_bytes"`
}

// Counts is what was counted of the corpus.
type Counts struct {
	work.Counts
	// PassedOver counts files of the searched folders that no format takes, by the endings of their names.
	PassedOver corpus.PassedFiles `json:"passed_over,omitempty"`
}

// SketchVersion identifies how hashes and tokens are made: sketches of different versions cannot be compared.
type SketchVersion struct {
	Version int    `json:"version"`
	Unicode string `json:"unicode"`
}

// Plan says how candidates are found and what that promises.
type Plan struct {
	Keys methods.Name `json:"keys"`
	// Scheme is the scheme of MinHash keys; zero for others.
	lshbands.Scheme
	// Tables is the number of permuted tables of SimHash keys, for fingerprints of
	// Bits bits that may differ in Distance of them; zero for others.
	Tables   int `json:"tables,omitempty"`
	Bits     int `json:"bits,omitempty"`
	Distance int `json:"distance,omitempty"`
	// ExpectedRecall is the probability that a pair of exactly the threshold is compared. It is 0 if SimHash keys find
	// the candidates for another score, since nothing is known beforehand, and if passages are looked for.
	ExpectedRecall float64 `json:"expected_recall"`
	// Words applies if passages are looked for: documents that share this many words in a row are certain to be
	// compared.
	Words int `json:"words,omitempty"`
}

// Stage is the cost of one stage.
type Stage struct {
	Name string `json:"name"`
	// Seconds is the time from the start of its first task to the end of its last.
	Seconds float64 `json:"seconds"`
	// CPUSeconds is the CPU time of its tasks, without the garbage collector's; 0 if the system does not account for
	// threads.
	CPUSeconds float64 `json:"cpu_seconds"`
	// PeakMemoryBytes is the largest resident size of a process at the end of a task; 0 if the system does not tell.
	PeakMemoryBytes int64 `json:"peak_memory_bytes"`
	Tasks           int64 `json:"tasks"`
	// Recalled counts the tasks that an earlier run, which this one has resumed, had done.
	Recalled int64 `json:"recalled,omitempty"`
	// Records and Bytes are the size of its input.
	Records int64 `json:"records"`
	Bytes   int64 `json:"bytes"`
	// Pieces and ReadBytes are what its tasks read of the temporary files, WrittenBytes what they wrote of them.
	Pieces       int64 `json:"pieces"`
	ReadBytes    int64 `json:"read_bytes"`
	WrittenBytes int64 `json:"written_bytes"`
}

// summarize says what a job found and what it cost. Its plan, its audit and its time are still to come.
func summarize(config job.Config, all []sources.Source, result write.Result, metered *metrics.Results) Summary {
	table := sources.Table(all, result.Sources)
	found := warnings.Findings{
		Counts: result.Counts, Mirrors: result.Mirrors, Texts: result.Texts, Repeated: result.Repeated, Sources: table, Templates: result.Templates, Bridges: result.Bridges, Largest: result.Largest,
	}
	s := Summary{
		Version: version(), Config: config,
		Sketch: SketchVersion{sketch.Version, sketch.UnicodeVersion},
		Counts: Counts{Counts: result.Counts}, Skipped: result.Skipped, PassedOver: result.PassedOver,
		Warnings: warnings.Of(&config, found), GuardsMet: warnings.GuardsMet(&config, found),
		Sources: table, Common: result.Common, Stages: stages(metered),
	}
	if config.HasSites() {
		s.Mirrors = &result.Mirrors
	}
	if !job.IsLocal(config.Runner) {
		for _, stage := range s.Stages {
			s.CPUSeconds += stage.CPUSeconds
			s.PeakMemoryBytes = max(s.PeakMemoryBytes, stage.PeakMemoryBytes)
		}
		s.CPUSeconds = round(s.CPUSeconds)
		return s
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err == nil {
		s.CPUSeconds = round(time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds())
		s.PeakMemoryBytes = maxResident(usage.Maxrss)
	}
	return s
}

// planOf describes how candidates are found.
func planOf(config job.Config, scheme lshbands.Scheme, allPairs bool) Plan {
	p := Plan{Keys: config.Method(), Scheme: scheme}
	if allPairs {
		p.Keys = methods.All
	}
	method, _ := methods.Of(p.Keys) // Validate has checked the name
	promise := method.Promise(&methods.Parameters{
		Threshold: config.Threshold, Scheme: scheme, Shingle: config.Shingle, Passage: config.Passage, Scoring: config.Scoring(),
	})
	p.ExpectedRecall, p.Words = promise.Recall, promise.Words
	if method.Settings.Distance {
		p.Bits, p.Distance = config.Bits, config.Hamming
		if tables, err := lshbands.PlanTables(p.Bits, p.Distance, config.Blocks...); err == nil { // Validate has checked this, too
			p.Tables = tables.Tables()
		}
	}
	return p
}

// stages returns the costs of the stages.
func stages(of *metrics.Results) []Stage {
	var all []Stage
	for _, s := range meter(of) {
		s.Seconds, s.CPUSeconds = float64(s.span.Max-s.span.Min)/1000, round(s.CPUSeconds)
		all = append(all, s.Stage)
	}
	return all
}

// round drops fractions of a millisecond, which nobody reads.
func round(seconds float64) float64 {
	return math.Round(seconds*1000) / 1000
}

// version returns the version that the program was built as.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && !strings.Contains(v, setting.Value[:min(12, len(setting.Value))]) {
			v += " " + setting.Value
		}
	}
	return v
}
