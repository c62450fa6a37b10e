package pipeline

import (
	"fmt"
	"strings"

	"mirrorbeam/internal/workspace"
)

// tempFolder returns the folder that the runs of a configuration make theirs in.
func (c *Config) tempFolder() string {
	if c.Temp != "" {
		return c.Temp
	}
	return workspace.UsualTemp(c.Output)
}

// openWorkspace makes the folders of a run.
func (c *Config) openWorkspace() (*workspace.Workspace, error) {
	return workspace.Open(workspace.Options{Output: c.Output, Temp: c.tempFolder(), Overwrite: c.Overwrite})
}

// checkFolders checks where a job writes.
func (c *Config) checkFolders(check func(ok bool, format string, args ...any)) {
	for _, folder := range []struct{ flag, path string }{{"--output", c.Output}, {"--temp", c.Temp}} {
		err := CheckPath(folder.flag, folder.path)
		check(err == nil, "%v", err)
	}
}

// CheckPath refuses the value of a flag that is an address and no path, such as
// s3://bucket/folder: a folder by the name of "s3:" is not what anybody wants.
func CheckPath(flag, path string) error {
	if strings.Contains(path, "://") {
		return fmt.Errorf("%s %s: only local paths can be used, not addresses: give a path such as out/", flag, path)
	}
	return nil
}
