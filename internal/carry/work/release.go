package work

import (
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
