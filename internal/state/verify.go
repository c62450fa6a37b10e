package state

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mirrorbeam/internal/lineage"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/storage"
	"mirrorbeam/internal/verdicts"
)

// Verify reads all that the newest generation of the state in a folder needs, and checks it. It returns the number of
// bytes. It needs no lease.
func Verify(ctx context.Context, folder string) (bytes int64, err error) {
	content, err := Read(folder)
	if err != nil {
		return 0, err
	}
	units := map[string]map[int]bool{} // that the generation names, by run file
	for i := range content.Files {
		for _, stretch := range content.Files[i].Stretches {
			if units[stretch.Run] == nil {
				units[stretch.Run] = map[int]bool{}
			}
			units[stretch.Run][stretch.Shard] = true
		}
	}
	var reader runfile.Reader
	defer reader.Close()
	var buffer []byte
	for _, name := range slices.Sorted(maps.Keys(units)) {
		pieces, err := runfile.Pieces(storage.Join(folder, name))
		if err != nil {
			return 0, err
		}
		counted := map[int]bool{}
		for _, piece := range pieces {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			if buffer, err = reader.Read(buffer[:0], piece); err != nil {
				return 0, err
			}
			counted[piece.Shard] = counted[piece.Shard] || piece.Kind == records.StretchFigures
			bytes += piece.Length
		}
		for shard := range units[name] {
			if !counted[shard] {
				return 0, fmt.Errorf("%s lacks unit %d", storage.Join(folder, name), shard)
			}
		}
	}
	if content.Clusters != "" {
		if _, err := lineage.Read(storage.Join(folder, content.Clusters)); err != nil {
			return 0, err
		}
	}
	if content.Verdicts != "" {
		if _, err := verdicts.Read(storage.Join(folder, content.Verdicts)); err != nil {
			return 0, err
		}
	}
	return bytes, nil
}
