package pipeline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/build"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/util/setting"
)

// unchanged reports whether a run would only repeat what the last one with its state has published: the files, the
// lists, the program and all settings that matter are the same, and the results are in the output folder. The summary
// is the one of these results, with the changes that are open.
func (r *run) unchanged() (Summary, bool) {
	s := r.state
	if s == nil || s.Last.Number == 0 || r.Config.Rebuild || r.Config.Republish ||
		s.difference != (state.Difference{Unchanged: s.difference.Unchanged}) ||
		s.Last.Program != build.Version() || s.Last.Results != r.ConfigHash || s.Last.Lists != r.listsHash() {
		return Summary{}, false
	}
	results, err := finished.Open(r.Config.Output)
	if err != nil {
		return Summary{}, false // the run makes them again, or says what is wrong
	}
	kept := results.Summary
	if kept.State == nil || kept.State.Generation != s.Last.Number || !r.Config.HasResultsOf(&kept.Config) ||
		!r.hasFilesOf(&kept) || !r.hasSideCopies() {
		return Summary{}, false
	}
	open, err := s.Last.Unacknowledged(s.Folder)
	if err != nil {
		return Summary{}, false
	}
	kept.Config.Output = r.Config.Output // the folder may have been moved
	kept.State = &finished.StateSummary{
		Generation:     s.Last.Number,
		Files:          s.difference,
		Changes:        r.count(nil),
		Unacknowledged: r.count(open),
		Suspects:       kept.State.Suspects,
		Unseen:         kept.State.Unseen,
		IsKept:         true,
	}
	return kept, true
}

// hasFilesOf reports whether the files are the ones that the summary of earlier results counts and names.
func (r *run) hasFilesOf(kept *Summary) bool {
	now := Summary{Config: r.Config}
	noteFiles(&now, r.inputs, nil)
	return now.Counts.FilesRejected == kept.Counts.FilesRejected &&
		slices.Equal(now.Files.Rejected, kept.Files.Rejected) &&
		slices.Equal(now.Files.Unmatched, kept.Files.Unmatched) &&
		maps.Equal(now.Counts.PassedOver, kept.Counts.PassedOver) &&
		maps.Equal(now.Files.PassedOver, kept.Files.PassedOver)
}

// hasSideCopies reports whether the copies of files that describe folders are as these files are now.
func (r *run) hasSideCopies() bool {
	for _, side := range write.SideCopies(r.inputs, r.Config.Layout, r.Config.Outputs()) {
		now, err := storage.ReadFile(quoting.Original(side.Input))
		copied, missing := storage.ReadFile(storage.Join(r.Config.Output, side.Name))
		if err != nil || missing != nil || !bytes.Equal(now, copied) {
			return false
		}
	}
	return true
}

func (r *run) listsHash() string {
	encoded, _ := json.Marshal(r.inputs.Sites)
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:8])
}

// checkAge refuses a state that is older than the results which a run with it has left in the output folder: one that
// was lost, or restored from a backup. A run with it would report old changes as new, or none. The error is of a kind.
func (r *run) checkAge() error {
	content, err := storage.ReadFile(storage.Join(r.Config.Output, workspace.SummaryName))
	var last struct {
		Config struct {
			State string `json:"state"`
		} `json:"config"`
		State finished.StateSummary `json:"state"`
	}
	if r.Config.AllowOlderState || err != nil || json.Unmarshal(content, &last) != nil {
		return nil // results that cannot be read are found when the output folder is opened
	}
	if folder, err := storage.Absolute(last.Config.State); err != nil || last.Config.State == "" ||
		folder != r.state.Folder {
		return nil
	}
	known, published := r.state.Last.Number, last.State.Generation
	// A run that ends between its results and its state leaves files in the state, and results one generation ahead.
	if published <= known || published == known+1 && !r.state.IsEmpty() {
		return nil
	}
	holds := "is empty"
	if known > 0 {
		holds = fmt.Sprintf("is at generation %d", known)
	}
	return failure.New(failure.Usage, setting.Errorf(
		"the {state} %s %s, and the results in the {output} %s have generation %d: restore the state, "+
			"or continue without it by {allow_older_state}",
		r.Config.State, holds, r.Config.Output, published))
}
