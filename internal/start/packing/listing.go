package packing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/start/listing"
	"mirrorbeam/job"
)

// Listing makes the files of [Arranging] the inputs of a job, and a task for each split of them.
type Listing struct {
	// Inputs is the path of the list of inputs, which it writes.
	Inputs work.Path
	// StopWords is the list of stop words; empty for none.
	StopWords string
	// MaxDocument is the length of the longest text, in bytes.
	MaxDocument job.ByteSize
}

// Plan writes the list of inputs. If an earlier attempt has written it, that attempt's files stay: other tasks
// may read them already.
func (l *Listing) Plan(ctx context.Context, p *work.Planning) error {
	inputs, err := documents.OpenInputs(string(l.Inputs))
	if errors.Is(err, fs.ErrNotExist) {
		inputs, err = l.list(ctx, p)
	}
	if err != nil {
		return err
	}
	for number := range inputs.Splits {
		p.Emit(work.Task{Number: number})
	}
	return nil
}

// list lists the files of the outcomes.
func (l *Listing) list(ctx context.Context, p *work.Planning) (*documents.Inputs, error) {
	var files []output.File
	for _, o := range p.Outcomes {
		files = append(files, o.Files...)
	}
	files = slices.DeleteFunc(files, func(file output.File) bool { return file.Output != arranged })
	if len(files) == 0 {
		empty, err := (&Arranging{Folder: p.Runs.Folder}).write(0, nil)
		if err != nil {
			return nil, fmt.Errorf("list no documents: %w", err)
		}
		files = append(files, empty)
	}
	slices.SortFunc(files, func(a, b output.File) int { return cmp.Compare(a.Name, b.Name) })
	config := job.Default()
	config.Format, config.MaxDocument = "jsonl", l.MaxDocument
	for _, file := range files {
		config.Input = append(config.Input, storage.Join(string(p.Runs.Folder), file.Name))
	}
	inputs, _, err := listing.Inputs(ctx, config)
	if err != nil {
		return nil, err
	}
	inputs.StopWords = l.StopWords
	return &inputs, documents.WriteInputs(string(l.Inputs), inputs)
}
