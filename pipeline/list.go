package pipeline

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/failure"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/setting"
	"mirrorbeam/internal/storage"
	"mirrorbeam/internal/workspace"
	"mirrorbeam/job"
)

// listing is what --input and --reference stand for.
type listing struct {
	input, reference corpus.Listing
}

// list finds the files of a configuration. With an error comes what was found
// so far.
func listConfig(ctx context.Context, c *job.Config) (found listing, err error) {
	if found.input, err = listCorpus(ctx, c.Input, "input", c.Progress); err != nil || len(c.Reference) == 0 {
		return found, err
	}
	if found.reference, err = listCorpus(ctx, c.Reference, "reference", c.Progress); err != nil && ctx.Err() == nil {
		err = setting.Errorf("{reference}: %w", err)
	}
	return found, err
}

// listCorpus lists the files of one corpus and says now and then how far it is,
// where anybody wants to know.
func listCorpus(ctx context.Context, inputs []string, name string, progress func(line string)) (corpus.Listing, error) {
	if progress == nil {
		return corpus.List(ctx, inputs, nil)
	}
	return corpus.List(ctx, inputs, func(files int64) {
		progress(fmt.Sprintf("listing the %s: %d files so far", name, files))
	})
}

// inputs returns the files, cut into splits, and about how many bytes of text
// they hold.
func (l listing) inputs() (documents.Inputs, int64, error) {
	files, err := l.input.Files, error(nil)
	if len(l.reference.Files) > 0 {
		if files, err = corpus.WithReference(l.reference.Files, files); err != nil {
			return documents.Inputs{}, 0, err
		}
	}
	size := int64(0)
	for i := range files {
		size += files[i].TextSize()
		// Workers may run in processes with another working folder.
		if files[i].Path, err = storage.Absolute(files[i].Path); err != nil {
			return documents.Inputs{}, 0, fmt.Errorf("list inputs: %w", err)
		}
	}
	return documents.Inputs{Files: files, Splits: corpus.Splits(files, max(splitBytes, size/maxSplits))}, size, nil
}

// list returns the input files and splits of a configuration, and about how
// many bytes of text they hold.
func list(ctx context.Context, config job.Config) (documents.Inputs, int64, error) {
	found, err := listConfig(ctx, &config)
	if err != nil {
		return documents.Inputs{}, 0, err
	}
	return found.inputs()
}

// listApart does what list does for a job that writes: its folders must be apart
// from what it reads. The error is of a kind.
func listApart(ctx context.Context, config job.Config) (documents.Inputs, int64, error) {
	found, err := listConfig(ctx, &config)
	// Results of the same job as earlier, which the listing comes upon where the
	// output is part of the input, are not the cause.
	if fault := checkApart(&config, found); fault != nil {
		return documents.Inputs{}, 0, fault
	}
	var inputs documents.Inputs
	var size int64
	if err == nil {
		inputs, size, err = found.inputs()
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = failure.Explain(&config, failure.Input, err)
	}
	return inputs, size, err
}

// checkApart refuses an output or temporary folder that the job, or the next
// one, would read, and input that the job would delete. The error is of a kind.
func checkApart(c *job.Config, found listing) error {
	for _, read := range []struct {
		setting string
		listing corpus.Listing
	}{{"input", found.input}, {"reference", found.reference}} {
		for _, written := range []struct{ setting, folder string }{{"output", c.Output}, {"temp", c.TempFolder()}} {
			folder, lies, err := read.listing.Searched(written.folder)
			if err != nil {
				return failure.New(failure.Storage, err)
			}
			if lies {
				return failure.New(failure.Usage, setting.Errorf("{"+written.setting+"} %s: lies in the folder %s, which {"+read.setting+"} searches: another run would read results as documents: name a folder outside of it, or the files to read, as in {"+read.setting+"} '%s'",
					written.folder, folder, filepath.Join(folder, "*.jsonl")))
			}
		}
		if err := checkKept(c, read.setting, read.listing.Files); err != nil {
			return err
		}
	}
	return nil
}

// checkKept refuses files to read that are results in the output folder, which
// the job would replace.
func checkKept(c *job.Config, name string, files []corpus.File) error {
	entries, err := os.ReadDir(c.Output)
	if err != nil {
		return nil // none is there; what is wrong with the folder is found when it is opened
	}
	entries = slices.DeleteFunc(entries, func(entry fs.DirEntry) bool { return !isResult(entry.Name()) })
	if len(entries) == 0 {
		return nil
	}
	read := make(map[corpus.Identity]bool, len(files))
	for _, file := range files {
		read[file.Identity] = file.Identity != corpus.Identity{}
	}
	for _, entry := range entries {
		path := filepath.Join(c.Output, entry.Name())
		if identity, err := corpus.Identify(path); err == nil && read[identity] {
			return failure.New(failure.Usage, setting.Errorf("{"+name+"}: %s is input, and as a result in the output folder it would be replaced: name another folder with {output}", path))
		}
	}
	return nil
}

// isResult reports whether a job may write a file of that name.
func isResult(name string) bool {
	if slices.Contains([]string{workspace.ManifestName, workspace.SummaryName, workspace.SuccessName}, name) {
		return true
	}
	outputs := []string{
		output.Clusters, output.Pairs, output.Removed, output.Unique, output.Rejects, output.Sketches, output.Index,
	}
	return slices.ContainsFunc(outputs, func(output string) bool { return strings.HasPrefix(name, output+"-") })
}
