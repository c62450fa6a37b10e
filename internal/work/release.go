package work

import (
	"strconv"

	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/storage"
)

// A runner of this process never runs a task again, so what no later task reads
// need not stay until the job ends. That spares a third of the disk that a job takes,
// and the pages of memory that the system keeps it in serve what is written next.

// ReleaseStage removes the run files of a stage, all of whose readers are done.
func (r Runs) ReleaseStage(outcomes []Outcome, stage Stage) {
	if !r.Release {
		return
	}
	notePeak(string(r.Folder))
	for _, o := range outcomes {
		if o.Stage == stage && o.Run != "" {
			_ = storage.Remove(o.Run) // one that stays is swept with the folder
		}
	}
}

// ReleaseSets gives back the sets of the sketch blocks.
func (r Runs) ReleaseSets(outcomes []Outcome) {
	if !r.Release {
		return
	}
	for _, o := range outcomes {
		if o.Stage != Fingerprint || o.Run == "" {
			continue
		}
		pieces, err := runfile.Pieces(o.Run)
		if err != nil {
			continue // whoever needs it next says so
		}
		var sets []storage.Stretch
		for _, piece := range pieces {
			if piece.Kind == records.Sets {
				sets = append(sets, storage.Stretch{Offset: piece.Offset, Length: piece.Length})
			}
		}
		storage.Release(o.Run, sets)
	}
}

// notePeak notes how much the job's folder takes if that is more than before. The
// steps that release are not run side by side.
func notePeak(temp string) {
	peak := strconv.FormatInt(TempBytes(temp), 10)
	_ = storage.WriteFile(peakPath(temp), []byte(peak)) // a figure for the summary
}

func peakPath(temp string) string { return storage.Join(temp, "peak-bytes") }

// TempBytes returns the most bytes that the job's folder has taken.
func TempBytes(temp string) int64 {
	noted, _ := storage.ReadFile(peakPath(temp))
	peak, _ := strconv.ParseInt(string(noted), 10, 64)
	return max(peak, storage.Used(temp))
}
