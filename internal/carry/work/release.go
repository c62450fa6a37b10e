package work

import (
	"encoding/json"
	"slices"
	"strconv"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/ground/storage"
)

// A runner of this process never runs a task twice. So a file that no later task reads need not stay until the job
// ends. Removing it saves a third of the job's disk space. It also frees the memory in which the system caches the
// file, for the next files.

// ReleaseStage removes the run files of a stage. All of their readers are done.
func (r Runs) ReleaseStage(outcomes []Outcome, stage Stage) {
	if !r.Release {
		return
	}
	notePeak(string(r.Folder))
	for _, o := range outcomes {
		if o.Stage == stage && o.Run != "" {
			_ = storage.Remove(o.Run) // a file that stays is removed with the folder
		}
	}
}

// ReleaseSets gives back the disk space of the sets of the sketch blocks.
func (r Runs) ReleaseSets(outcomes []Outcome) {
	if !r.Release {
		return
	}
	for _, o := range outcomes {
		if o.Stage != Fingerprint && o.Stage != Strip || o.Run == "" {
			continue
		}
		pieces, err := runfile.Pieces(o.Run)
		if err != nil {
			continue // the next reader reports the error
		}
		var sets []storage.Stretch
		for _, piece := range pieces {
			if slices.Contains([]runfile.Kind{records.Sets, records.WholeSets, records.CommonParts}, piece.Kind) {
				sets = append(sets, storage.Stretch{Offset: piece.Offset, Length: piece.Length})
			}
		}
		storage.Release(o.Run, sets)
	}
}

// notePeak notes the size of the job's folder if it is a new maximum. Steps that release do not run side by side.
func notePeak(temp string) {
	peak := strconv.FormatInt(TempBytes(temp), 10)
	_ = storage.WriteFile(peakPath(temp), []byte(peak)) // only a figure for the summary
}

func peakPath(temp string) string { return storage.Join(temp, "peak-bytes") }

// TempBytes returns the largest size that the job's folder has had, in bytes.
func TempBytes(temp string) int64 {
	noted, _ := storage.ReadFile(peakPath(temp))
	peak, _ := strconv.ParseInt(string(noted), 10, 64)
	return max(peak, storage.Used(temp))
}

// Path is the path of a file: bytes in any encoding. The parameters of tasks travel as JSON, which replaces bytes that
// are not UTF-8 by U+FFFD. So a Path travels as bytes.
type Path string

// MarshalJSON encodes the path as bytes.
func (p Path) MarshalJSON() ([]byte, error) { return json.Marshal([]byte(p)) }

// UnmarshalJSON decodes the output of MarshalJSON.
func (p *Path) UnmarshalJSON(b []byte) error {
	var path []byte
	if err := json.Unmarshal(b, &path); err != nil {
		return err
	}
	*p = Path(path)
	return nil
}

// Runs says where the tasks of a job write their run files, and how.
type Runs struct {
	// Folder is the job's own. All workers share it.
	Folder Path
	// Held is the number of bytes of its run file that a task buffers, so that sections grow to a size worth a read.
	Held int
	// LargeBytes is how many bytes of documents an ordinary task holds at most. Tasks that hold more take turns; 0: they do
	// not. It changes no result.
	LargeBytes int64
	// Release lets run files go as soon as no later task reads them. It requires a runner that never runs a task twice.
	Release bool
	// Resumable makes tasks note what they have done, and take up what they find noted. It excludes Release.
	Resumable bool
	// Unreliable, if not 0, makes tasks run as on a cluster that loses workers: see [Runs.Try]. It is the seed of what
	// goes wrong. Tests set it, to see that nothing of that changes results. It excludes Release.
	Unreliable uint64
	// Memory is the size in bytes that a worker of a cluster aims to stay below; 0: no limit, or one that the process has
	// set itself.
	Memory int64
}

// Begin begins a run file. It reuses the memory of the writer.
func (r Runs) Begin(run *runfile.Writer) { run.Reset(string(r.Folder), r.Held) }
