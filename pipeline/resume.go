package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// recipe returns a hash of all that decides what the tasks of a run do: the program, the parameters of the stages and
// the inputs. It is empty if the run is not to be resumed.
func (r *run) recipe() (string, error) {
	if !r.Config.Resume {
		return "", nil
	}
	hash := sha256.New()
	if err := hashProgram(hash); err != nil {
		return "", err
	}
	for _, part := range []any{r.job, r.inputs} {
		encoded, err := json.Marshal(part)
		if err != nil {
			return "", fmt.Errorf("identify the job: %w", err)
		}
		hash.Write(encoded)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// hashProgram adds this program to a hash: another version may cut or write records in another way.
func hashProgram(hash io.Writer) error {
	path, err := os.Executable()
	if err != nil {
		return fmt.Errorf("identify this program: %w", err)
	}
	program, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("identify this program: %w", err)
	}
	defer program.Close()
	if _, err := io.Copy(hash, program); err != nil {
		return fmt.Errorf("identify this program: %w", err)
	}
	return nil
}

// sayResumed tells the user whether the run goes on where a dead run was.
func (r *run) sayResumed() {
	switch {
	case r.Config.Progress == nil:
	case r.results.Resumed:
		r.Config.Progress("an earlier job has died: going on from what it has done")
	case r.results.Outdated:
		r.Config.Progress("an earlier job has died, but its configuration, its input or the program was another: beginning anew")
	}
}

// sayKept tells the user what is kept of a run that has failed.
func (r *run) sayKept() {
	if r.results.IsKept() && r.Config.Progress != nil {
		r.Config.Progress(fmt.Sprintf("what the job has done is kept in %s: run it again with the same flags to go on; without --resume to begin anew", r.results.Temp))
	}
}
