package work

import (
	"encoding/json"

	"mirrorbeam/internal/runfile"
)

// Path is the path of a file. A path is bytes, whatever the encoding of the names in it.
// JSON, in which the parameters of tasks travel, puts U+FFFD for bytes that are not UTF-8:
// so a Path travels as bytes.
type Path string

// MarshalJSON encodes the path as bytes.
func (p Path) MarshalJSON() ([]byte, error) { return json.Marshal([]byte(p)) }

// UnmarshalJSON decodes what MarshalJSON has encoded.
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
	// Held is how many bytes of its run file a task holds back in memory, so that
	// sections grow to a size worth a read.
	Held int
	// Release allows run files to go as soon as no task that is still to come reads
	// them: the runner does not run a task twice.
	Release bool
}

// Begin begins a run file with the memory of the writer.
func (r Runs) Begin(run *runfile.Writer) { run.Reset(string(r.Folder), r.Held) }
