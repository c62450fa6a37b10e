package corpus

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"mirrorbeam/internal/ground/storage"
)

func names(entries []fs.DirEntry) []string {
	all := make([]string, len(entries))
	for i, entry := range entries {
		all[i] = entry.Name()
	}
	return all
}

// holdsResults returns the error for a folder in which a wanted file is a result of a job.
func holdsResults(folder, name string) error {
	return fmt.Errorf("%s holds results of an earlier job, such as %s: name the files that you want, such as %s, or leave the folder out",
		folder, name, storage.Join(folder, "unique-*"))
}

// The files that a job writes beside its results.
const manifestName, summaryName, successName = "manifest.json", "summary.json", "_SUCCESS"

// isOfResults reports whether a file of that name says that a job has written its folder.
func isOfResults(name string) bool {
	return name == manifestName || name == summaryName || name == successName
}

// resultsIn returns the names of the files that a job has written in a folder, according to its manifest. It
// returns nil if no job has. Names are all names in the folder.
func resultsIn(folder string, names []string) (map[string]bool, error) {
	has := map[string]bool{}
	for _, name := range names {
		if isOfResults(name) {
			has[name] = true
		}
	}
	if !has[manifestName] || len(has) == 1 {
		return nil, nil
	}
	b, err := storage.ReadFile(storage.Join(folder, manifestName))
	if isAbsent(err) {
		return nil, nil // a job is replacing it right now
	}
	if err != nil {
		return nil, fmt.Errorf("see whether %s holds results of a job: %w", folder, err)
	}
	var manifest struct {
		Files []struct{ Name, Output string }
	}
	if json.Unmarshal(b, &manifest) != nil {
		return nil, nil // the manifest of another program
	}
	results := map[string]bool{}
	for _, file := range manifest.Files {
		if file.Name != "" && file.Output != "" {
			results[file.Name] = true
		}
	}
	if len(results) == 0 {
		return nil, nil
	}
	results[manifestName], results[summaryName] = true, true
	return results, nil
}

// isLeftover reports whether a killed job has left a file or folder: it has the name of a job's working
// folder, "run-" and 26 random characters, or of the lock of such a folder.
func isLeftover(name string) bool {
	const randomLength, alphabet = 26, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	random, isRun := strings.CutPrefix(strings.TrimPrefix(strings.TrimSuffix(name, ".lock"), ".partial-"), "run-")
	return isRun && len(random) == randomLength && strings.Trim(random, alphabet) == ""
}
