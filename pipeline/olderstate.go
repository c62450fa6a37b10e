package pipeline

import (
	"encoding/json"
	"fmt"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
)

// checkAge refuses a state that is older than the results which a run with it has left in the output folder: a state
// that was lost, or restored from a backup. A run with it would report old changes as new, or none. The error is of a
// kind.
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
	// A run that ends between its results and its state leaves files in the state, and results that are one generation
	// ahead.
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
