package corpus

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"mirrorbeam/internal/output"
	"mirrorbeam/internal/regular"
)

// resultsIn returns the names of the files of a folder that a job has written,
// by its manifest; nil where no job has.
func resultsIn(folder string, entries []fs.DirEntry) (map[string]bool, error) {
	const manifestName, summaryName, successName = "manifest.json", "summary.json", "_SUCCESS"
	has := map[string]bool{}
	for _, entry := range entries {
		if name := entry.Name(); name == manifestName || name == summaryName || name == successName {
			has[name] = true
		}
	}
	if !has[manifestName] || len(has) == 1 {
		return nil, nil
	}
	b, err := regular.Read(filepath.Join(folder, manifestName))
	if isAbsent(err) {
		return nil, nil // a job is just replacing it
	}
	if err != nil {
		return nil, fmt.Errorf("see whether %s holds results of a job: %w", folder, err)
	}
	var manifest struct{ Files []output.File }
	if json.Unmarshal(b, &manifest) != nil {
		return nil, nil // somebody else's
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

// isLeftover reports whether a name is that of the working folder of a job or
// of its lock, which a job that is killed leaves behind: "run-" and 26 random
// characters.
func isLeftover(name string) bool {
	const randomLength, alphabet = 26, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	random, isRun := strings.CutPrefix(strings.TrimPrefix(strings.TrimSuffix(name, ".lock"), ".partial-"), "run-")
	return isRun && len(random) == randomLength && strings.Trim(random, alphabet) == ""
}
