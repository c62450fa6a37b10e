package work

import (
	"encoding/json"

	"mirrorbeam/internal/ground/runfile"
)

// Path is the path of a file: bytes in any encoding. The parameters of tasks travel as JSON, which replaces bytes that
// are not UTF-8 by U+FFFD. So a Path travels as bytes.
type Path string

// MarshalJSON encodes the path as bytes.
func (p Path) MarshalJSON() ([]byte, error) { return json.Marshal([]byte(p)) }

// UnmarshalJSON decodes the output of MarshalJSON.
func (p *Path) UnmarshalJSON(b []byte) error {
	var path []byte
	if err := json.Unmarshal(b, &path); err != nil {
		return err
	}
	*p = Path(path)
	return nil
}

// Runs says where the tasks of a job write their run files, and how.
type Runs struct {
	// Folder is the job's own. All workers share it.
	Folder Path
	// Held is the number of bytes of its run file that a task buffers, so that sections grow to a size worth a read.
	Held int
	// LargeBytes is how many bytes of documents an ordinary task holds at most. Tasks that hold more take turns; 0: they do
	// not. It changes no result.
	LargeBytes int64
	// Release lets run files go as soon as no later task reads them. It requires a runner that never runs a task twice.
	Release bool
	// Resumable makes tasks note what they have done, and take up what they find noted. It excludes Release.
	Resumable bool
	// Unreliable, if not 0, makes tasks run as on a cluster that loses workers: see [Runs.Try]. It is the seed of what
	// goes wrong. Tests set it, to see that nothing of that changes results. It excludes Release.
	Unreliable uint64
	// Memory is the size in bytes that a worker of a cluster aims to stay below; 0: no limit, or one that the process has
	// set itself.
	Memory int64
}

// Begin begins a run file. It reuses the memory of the writer.
func (r Runs) Begin(run *runfile.Writer) { run.Reset(string(r.Folder), r.Held) }
