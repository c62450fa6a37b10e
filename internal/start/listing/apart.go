package listing

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/start/failure"
	"mirrorbeam/internal/start/workspace"
	"mirrorbeam/job"
)

// checkApart refuses an output, temporary or state folder that this job, or the next one, would read, and input that the job
// would delete. The error is of a kind.
func checkApart(c *job.Config, found listed) error {
	for _, read := range []struct {
		setting string
		listing corpus.Listing
	}{{"input", found.input}, {"reference", found.reference}, {"ignore", found.ignored}} {
		for _, written := range []struct{ setting, folder string }{{"output", c.Output}, {"temp", c.TempFolder()}, {"state", c.State}} {
			if written.folder == "" {
				continue
			}
			folder, lies, err := read.listing.Searched(written.folder)
			if err != nil {
				return failure.New(failure.Storage, err)
			}
			if lies {
				return failure.New(failure.Usage, setting.Errorf("{"+written.setting+"} %s: lies in the folder %s, which {"+read.setting+"} searches: another run would read results as documents: name a folder outside of it, or the files to read, as in {"+read.setting+"} '%s'",
					written.folder, folder, storage.Join(folder, "*.jsonl")))
			}
		}
		if err := checkKept(c, read.setting, read.listing.Files); err != nil {
			return err
		}
	}
	return nil
}

// checkKept refuses input files that are results in the output folder, which the job would replace.
func checkKept(c *job.Config, name string, files []corpus.File) error {
	if storage.Scheme(c.Output) != "" {
		return checkKeptStored(c, name, files)
	}
	entries, err := os.ReadDir(c.Output)
	if err != nil {
		return nil // there is no manifest; a fault of the folder is found when it is opened
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
			return replaced(name, path)
		}
	}
	return nil
}

// replaced is the error of an input file that is a result in the output folder.
func replaced(name, path string) error {
	return failure.New(failure.Usage, setting.Errorf("{"+name+"}: %s is input, and as a result in the output folder it would be replaced: name another folder with {output}", path))
}

// checkKeptStored does what checkKept does where files have one name each.
func checkKeptStored(c *job.Config, name string, files []corpus.File) error {
	folder := strings.TrimRight(c.Output, "/") + "/"
	for _, file := range files {
		if result, isThere := strings.CutPrefix(file.Path, folder); isThere && isResult(result) {
			return replaced(name, file.Path)
		}
	}
	return nil
}

// isResult reports whether a job may write a file of that name.
func isResult(name string) bool {
	if slices.Contains([]string{workspace.ManifestName, workspace.SummaryName, workspace.SuccessName}, name) {
		return true
	}
	return slices.ContainsFunc(output.All(), func(output string) bool { return strings.HasPrefix(name, output+"-") })
}
