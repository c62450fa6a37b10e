package pipeline

import (
	"context"
	"fmt"

	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/start/failure"
	"mirrorbeam/job"
	"mirrorbeam/transforms"
)

const (
	// mostTempShare is more than a job needs of temporary files for each byte of text.
	mostTempShare = 16
	// usualTempShare is what a job needs of temporary files for each byte of its sketch blocks: half as much again for
	// keys, pairs and gathered sets.
	usualTempShare = 1.5
	// keptTempShare is the same for a job whose sketch blocks lie in its state.
	keptTempShare = 0.5
)

// checkRoom refuses a job whose temporary files clearly do not fit on their disk, and says where it is a close call. It
// reads a part of the input if there is not room in plenty.
func checkRoom(ctx context.Context, config *job.Config, j *transforms.Job, inputs *documents.Inputs) error {
	free, known := storage.Free(string(j.Runs.Folder))
	if text := inputs.TextBytes(); !known || free/mostTempShare >= text {
		return nil
	}
	share, err := j.Fingerprinting.BlockShare(ctx, inputs)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return nil // the job comes upon it, and says more
	}
	if share *= usualTempShare; config.State != "" {
		share *= keptTempShare / usualTempShare
	}
	return room{free, share * float64(inputs.TextBytes()), share * float64(inputs.LeastTextBytes())}.check(config)
}

// room is what a disk has for temporary files and what a job is estimated to need, in bytes: of text that is compressed
// as usual, and of text that is hardly smaller where it is compressed.
type room struct {
	free          int64
	wanted, least float64
}

// check is an error if there is not even half of the least room. It warns if there is less than is wanted.
func (r room) check(config *job.Config) error {
	has := fmt.Sprintf("the disk of the temporary folder %s has %.1f MB free", config.TempFolder(), float64(r.free)/1e6)
	switch free := float64(r.free); {
	case free < r.least/2:
		return failure.New(failure.Storage, setting.Errorf("%s, and the job needs about %.1f MB: make room on it, or name a folder on another disk with {temp}", has, r.wanted/1e6))
	case free < r.wanted && config.Progress != nil:
		config.Progress(fmt.Sprintf("%s, and the job may need about %.1f MB", has, r.wanted/1e6))
	}
	return nil
}
