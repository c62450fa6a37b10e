package transforms

import (
	"slices"
	"strconv"

	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/storage"
)

// A runner of this process never runs a task again, so what no later task reads
// need not stay until the job ends. That spares a third of the disk that a job takes,
// and the pages of memory that the system keeps it in serve what is written next.

// releaseRuns removes the run files of a stage, all of whose readers are done.
func releaseRuns(job Job, outcomes []outcome, stage *stage) {
	if !job.ReleaseRuns {
		return
	}
	notePeak(job.Temp)
	for _, o := range outcomes {
		if o.Stage == stage.name && o.Run != "" {
			_ = storage.Remove(o.Run) // one that stays is swept with the folder
		}
	}
}

// releaseSets gives back the sets of the sketch blocks, unless they are to be
// written.
func releaseSets(job Job, outcomes []outcome) {
	if !job.ReleaseRuns || slices.Contains(job.Emit, Sketches) || slices.Contains(job.Emit, Index) {
		return
	}
	for _, o := range outcomes {
		if o.Stage != fingerprintStage.name || o.Run == "" {
			continue
		}
		pieces, err := runfile.Pieces(o.Run)
		if err != nil {
			continue // whoever needs it next says so
		}
		var sets []storage.Stretch
		for _, piece := range pieces {
			if piece.Kind == setsKind {
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
