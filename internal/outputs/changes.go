package outputs

import (
	"mirrorbeam/internal/lineage"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/verdicts"
	"mirrorbeam/internal/work"
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

// ReadForNext reads what tasks have written for the next run: the clusters, in the order of the run files, and the similar
// pairs.
func ReadForNext(runs []work.Path) (groups []lineage.Group, pairs []verdicts.Verdict, err error) {
	var reader runfile.Reader
	defer reader.Close()
	for _, run := range runs {
		pieces, err := runfile.Pieces(string(run))
		if err != nil {
			return nil, nil, err
		}
		packed, err := reader.ReadKind(nil, pieces, records.Memberships)
		if err != nil {
			return nil, nil, err
		}
		for len(packed) > 0 {
			var g lineage.Group
			if g, packed, err = lineage.NextGroup(packed); err != nil {
				return nil, nil, err
			}
			groups = append(groups, g)
		}
		if packed, err = reader.ReadKind(nil, pieces, records.Verdicts); err != nil {
			return nil, nil, err
		}
		for ; len(packed) > 0; packed = packed[verdicts.Size:] {
			pairs = append(pairs, verdicts.Get(packed))
		}
	}
	return groups, pairs, nil
}
