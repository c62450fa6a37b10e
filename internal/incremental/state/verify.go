package state

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/storage"
)

// Verify reads all that the newest generation of the state in a folder needs, and older generations, and checks them.
// It returns the number of bytes. It needs no lease.
func Verify(ctx context.Context, folder string) (bytes int64, err error) {
	content, err := Read(folder)
	if err != nil {
		return 0, err
	}
	segments := content.segments()
	if content.Kept != "" {
		segments[content.Kept] = nil // no segment, but all of it is read
	}
	var reader runfile.Reader
	defer reader.Close()
	var buffer []byte
	for _, name := range slices.Sorted(maps.Keys(segments)) {
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
		for shard := range segments[name] {
			if !counted[shard] {
				return 0, &storage.DamagedError{
					Op:   "verify",
					Path: storage.Join(folder, name),
					Err:  fmt.Errorf("it lacks segment %d", shard),
				}
			}
		}
	}
	if err := content.verifyOthers(folder); err != nil {
		return 0, err
	}
	return bytes, VerifyOlder(folder)
}

// VerifyOlder returns an error if a generation before the newest one is damaged. Runs do without it.
func VerifyOlder(folder string) error {
	all, err := list(folder)
	if err != nil {
		return err
	}
	for _, g := range all.generations[:max(len(all.generations)-1, 0)] {
		_, err := g.read(folder)
		if _, isBroken := errors.AsType[brokenError](err); isBroken {
			return fmt.Errorf(
				"%w: it is not the newest generation, which is whole, so no run needs it: "+
					"'runjob state prune' removes it", err)
		}
	}
	return nil
}

func (c *Content) verifyOthers(folder string) error {
	for _, of := range []struct {
		name string
		read func(path string) error
	}{
		{c.Clusters, fault(ReadGroups)},
		{c.Mirrors, fault(ReadGroups)},
		{c.Suspects, fault(ReadAlerts)},
		{c.Notifications, fault(ReadNotifications)},
		{c.Pairs, fault(ReadCachedPairs)},
	} {
		if of.name == "" {
			continue
		}
		if err := of.read(storage.Join(folder, of.name)); err != nil {
			return err
		}
	}
	return nil
}

// fault returns read without what it reads.
func fault[T any](read func(path string) (T, error)) func(path string) error {
	return func(path string) error {
		_, err := read(path)
		return err
	}
}
