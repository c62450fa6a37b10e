package work

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
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
			os.Remove(o.Run) // one that stays is swept with the folder
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
		file, err := os.OpenFile(o.Run, os.O_WRONLY, 0)
		if err != nil {
			continue
		}
		for _, piece := range pieces {
			if piece.Kind == records.Sets {
				punchHole(file, piece.Offset, piece.Length)
			}
		}
		file.Close()
	}
}

// notePeak notes how much the job's folder takes if that is more than before. The
// steps that release are not run side by side.
func notePeak(temp string) {
	peak := strconv.FormatInt(TempBytes(temp), 10)
	_ = os.WriteFile(peakPath(temp), []byte(peak), 0o666) // a figure for the summary
}

func peakPath(temp string) string { return filepath.Join(temp, "peak-bytes") }

// TempBytes returns the most that the job's folder has taken on disk.
func TempBytes(temp string) int64 {
	noted, _ := os.ReadFile(peakPath(temp))
	peak, _ := strconv.ParseInt(string(noted), 10, 64)
	now := int64(0)
	entries, _ := os.ReadDir(temp)
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			now += 512 * stat.Blocks // a hole takes nothing
		}
	}
	return max(peak, now)
}
