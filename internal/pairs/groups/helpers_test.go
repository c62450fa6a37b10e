package groups

import (
	"context"
	"testing"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// write writes a run file.
func write(t testing.TB, runs work.Runs, write func(*runfile.Writer) error) work.Outcome {
	return work.Outcome{Stage: work.Key, Run: worktest.Write(t, runs, write)}
}

// doShards does the tasks of all shards that keys were written to.
func doShards(t *testing.T, runs work.Runs, keys work.Outcome,
	do func(context.Context, work.Task, *work.TaskContext) error,
) []work.Outcome {
	t.Helper()
	d := work.Delivery{Needed: []runfile.Kind{records.Keys, records.Digests, records.IDs}, Shards: shards}
	all := worktest.Do(t, runs, worktest.Tasks(t, runs, d, keys.Run), do)
	for i := range all {
		all[i].Stage = work.Group
	}
	return all
}
