package write

import (
	"context"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/settle/state"
)

// rowsPerShard is the number of rows of a file of changes.
const rowsPerShard = 100_000

// WriteChanges writes what has changed since the last run of a scheduled job.
func WriteChanges(f Files, changes []output.Change) (files []output.File, err error) {
	shards := max((len(changes)+rowsPerShard-1)/rowsPerShard, 1)
	for shard := range shards {
		rows := changes[len(changes)*shard/shards : len(changes)*(shard+1)/shards]
		file, err := writeRows(f, f.Name(output.Changes, shard, shards), func(row func(output.Change) error) error {
			for _, change := range rows {
				if err := row(change); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// ForNext is what a run finds that the next run of a scheduled job is to know.
type ForNext struct {
	// Clusters are groups of documents, Mirrors groups of sites. Suspects are the alerts.
	Clusters, Mirrors []state.Group
	Suspects          []state.Alert
	// Verdicts are about the similar pairs.
	Verdicts []state.Verdict
}

// ReadForNext reads what tasks have written for the next run, in the order of their run files.
func ReadForNext(ctx context.Context, runs []work.Path) (*ForNext, error) {
	reader := runfile.Reader{Stopped: ctx.Err}
	defer reader.Close()
	n := new(ForNext)
	for _, run := range runs {
		pieces, err := runfile.Pieces(string(run))
		if err != nil {
			return nil, err
		}
		clusters, err := readAll(&reader, pieces, records.Memberships, state.NextGroup)
		if err != nil {
			return nil, err
		}
		mirrors, err := readAll(&reader, pieces, records.SiteGroups, state.NextGroup)
		if err != nil {
			return nil, err
		}
		suspects, err := readAll(&reader, pieces, records.Alerts, state.NextAlert)
		if err != nil {
			return nil, err
		}
		pairs, err := readAll(&reader, pieces, records.Verdicts, nextVerdict)
		if err != nil {
			return nil, err
		}
		n.Clusters, n.Mirrors = append(n.Clusters, clusters...), append(n.Mirrors, mirrors...)
		n.Suspects, n.Verdicts = append(n.Suspects, suspects...), append(n.Verdicts, pairs...)
	}
	return n, nil
}

// readAll reads all records of a kind. Next reads the first one and returns the bytes of the others.
func readAll[T any](reader *runfile.Reader, pieces []runfile.Piece, kind runfile.Kind, next func([]byte) (T, []byte, error)) (all []T, err error) {
	packed, err := reader.ReadKind(nil, pieces, kind)
	for err == nil && len(packed) > 0 {
		var one T
		one, packed, err = next(packed)
		all = append(all, one)
	}
	return all, err
}

func nextVerdict(packed []byte) (state.Verdict, []byte, error) {
	return state.GetVerdict(packed), packed[state.VerdictSize:], nil
}
