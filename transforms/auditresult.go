package transforms

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"mirrorbeam/internal/audit"
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
)

// writeAudit sees which of the audited pairs are in one component of the graph, and
// writes what that says of the job.
func writeAudit(temp string, outcomes []outcome, graph *components.Graph) error {
	var packed []byte
	if err := readRuns(outcomes, auditStage.name, auditKind, &packed); err != nil {
		return err
	}
	sampled, all := 0, false
	for _, o := range outcomes {
		sampled, all = max(sampled, o.Sampled), all || o.SampledAll
	}
	if sampled == 0 {
		return nil
	}
	numbers := map[docref.Ref]int{}
	samples := make([]audit.Sample, sampled)
	for ; len(packed) > 0; packed = packed[auditSize:] {
		number, ok := numbers[getRef(packed)]
		if !ok {
			number = len(numbers)
			numbers[getRef(packed)] = number
		}
		s := &samples[number]
		found, recaptured := graph.Joined(getRef(packed), getRef(packed[refSize:])), packed[2*refSize] == 1
		s.Partners++
		if found {
			s.Found++
		}
		if recaptured {
			s.Recaptured++
		}
		if found && recaptured {
			s.BothFound++
		}
	}
	b, err := json.Marshal(audit.Estimate(samples, all))
	path := auditPath(temp)
	if err == nil {
		err = os.WriteFile(path+".partial", b, 0o666)
	}
	if err == nil {
		err = os.Rename(path+".partial", path)
	}
	if err != nil {
		return fmt.Errorf("write audit: %w", err)
	}
	return nil
}

func auditPath(temp string) string { return filepath.Join(temp, "audit.json") }

// ReadAudit returns the audit of the pipeline whose folder is temp, nil if there
// was none.
func ReadAudit(temp string) (*audit.Result, error) {
	b, err := os.ReadFile(auditPath(temp))
	if os.IsNotExist(err) {
		return nil, nil
	}
	var result audit.Result
	if err == nil {
		err = json.Unmarshal(b, &result)
	}
	if err != nil {
		return nil, fmt.Errorf("read audit: %w", err)
	}
	return &result, nil
}
