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
	"mirrorbeam/internal/storage"
	"mirrorbeam/internal/workspace"
	"mirrorbeam/transforms"
)

// listing is what --input and --reference stand for.
type listing struct {
	input, reference corpus.Listing
}

// list finds the files of a configuration. With an error comes what was found
// so far.
func (c *Config) list(ctx context.Context) (found listing, err error) {
	if found.input, err = listCorpus(ctx, c.Input, "input", c.Progress); err != nil || len(c.Reference) == 0 {
		return found, err
	}
	if found.reference, err = listCorpus(ctx, c.Reference, "reference", c.Progress); err != nil && ctx.Err() == nil {
		err = fmt.Errorf("--reference: %w", err)
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
func (l listing) inputs() (transforms.Inputs, int64, error) {
	files, err := l.input.Files, error(nil)
	if len(l.reference.Files) > 0 {
		if files, err = corpus.WithReference(l.reference.Files, files); err != nil {
			return transforms.Inputs{}, 0, err
		}
	}
	size := int64(0)
	for i := range files {
		size += files[i].TextSize()
		// Workers may run in processes with another working folder.
		if files[i].Path, err = storage.Absolute(files[i].Path); err != nil {
			return transforms.Inputs{}, 0, fmt.Errorf("list inputs: %w", err)
		}
	}
	return transforms.Inputs{Files: files, Splits: corpus.Splits(files, max(splitBytes, size/maxSplits))}, size, nil
}

// list returns the input files and splits of a configuration, and about how
// many bytes of text they hold.
func list(ctx context.Context, config Config) (transforms.Inputs, int64, error) {
	found, err := config.list(ctx)
	if err != nil {
		return transforms.Inputs{}, 0, err
	}
	return found.inputs()
}

// listApart does what list does for a job that writes: its folders must be apart
// from what it reads. The error is of a kind.
func listApart(ctx context.Context, config Config) (transforms.Inputs, int64, error) {
	found, err := config.list(ctx)
	// Results of the same job as earlier, which the listing comes upon where the
	// output is part of the input, are not the cause.
	if fault := config.checkApart(found); fault != nil {
		return transforms.Inputs{}, 0, fault
	}
	var inputs transforms.Inputs
	var size int64
	if err == nil {
		inputs, size, err = found.inputs()
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = config.fault(ErrInput, err)
	}
	return inputs, size, err
}

// checkApart refuses an output or temporary folder that the job, or the next
// one, would read, and input that the job would delete. The error is of a kind.
func (c *Config) checkApart(found listing) error {
	for _, read := range []struct {
		flag    string
		listing corpus.Listing
	}{{"--input", found.input}, {"--reference", found.reference}} {
		for _, written := range []struct{ flag, folder string }{{"--output", c.Output}, {"--temp", c.tempFolder()}} {
			folder, lies, err := read.listing.Searched(written.folder)
			if err != nil {
				return failure{ErrStorage, err}
			}
			if lies {
				return failure{ErrUsage, fmt.Errorf("%s %s: lies in the folder %s, which %s searches: another run would read results as documents: name a folder outside of it, or the files to read, as in %s '%s'",
					written.flag, written.folder, folder, read.flag, read.flag, filepath.Join(folder, "*.jsonl"))}
			}
		}
		if err := c.checkKept(read.flag, read.listing.Files); err != nil {
			return err
		}
	}
	return nil
}

// checkKept refuses files to read that are results in the output folder, which
// the job would replace.
func (c *Config) checkKept(flag string, files []corpus.File) error {
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
			return failure{ErrUsage, fmt.Errorf("%s: %s is input, and as a result in the output folder it would be replaced: name another folder with --output", flag, path)}
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
		transforms.Clusters, transforms.Pairs, transforms.Removed, transforms.Unique, transforms.Rejects, transforms.Sketches, transforms.Index,
	}
	return slices.ContainsFunc(outputs, func(output string) bool { return strings.HasPrefix(name, output+"-") })
}
