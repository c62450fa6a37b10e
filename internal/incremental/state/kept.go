package state

import (
	"context"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

// keptKinds are the kinds of the records that [State.Keep] copies.
var keptKinds = []runfile.Kind{records.LastingKeys, records.KeptPairs, records.SharedIDs}

// Keep copies what the next run is to know from the run files of tasks into a run file of the state: ids that several
// documents have and, of a job that looks for passages, the pairs with their passages, and keys under which all
// documents meet again. Keep returns the name of the file, relative to the folder.
func (s *State) Keep(ctx context.Context, runs []work.Path) (string, error) {
	out, reader := runfile.NewWriter(s.Segments(), heldBytes), runfile.Reader{Stopped: ctx.Err}
	out.Durable = true
	defer out.Abort()
	defer reader.Close()
	var buffer []byte
	for _, run := range runs {
		pieces, err := runfile.Pieces(string(run))
		if err != nil {
			return "", err
		}
		for _, piece := range pieces {
			if !slices.Contains(keptKinds, piece.Kind) {
				continue
			}
			if buffer, err = reader.Read(buffer[:0], piece); err == nil {
				err = out.Section(piece.Kind, 0, buffer)
			}
			if err != nil {
				return "", fmt.Errorf("write the checkpoint for the next run: %w", err)
			}
		}
	}
	// there may be no record, and a file without a section is none
	if err := out.Section(records.KeptPairs, 0); err != nil {
		return "", fmt.Errorf("write the checkpoint for the next run: %w", err)
	}
	path, err := out.Close()
	return relative(s.Folder, path), err
}

// Past says what has become of the files of the last generation in the inputs of a run.
func (s *State) Past(in *documents.Inputs) documents.Past {
	now, unchanged := make(map[string]int, len(in.Files)), in.Unchanged()
	for number := range in.Files {
		now[only(&in.Files[number]).Path] = number
	}
	past := documents.Past{Numbers: make([]int, len(s.Last.Files))}
	for i := range s.Last.Files {
		file := &s.Last.Files[i]
		number, isThere := now[only(&file.File).Path]
		if isThere && unchanged[number] {
			past.Numbers[i] = number
			continue
		}
		past.Numbers[i] = documents.IsGone
		for _, stretch := range file.Stretches {
			past.Gone = append(past.Gone, documents.Segment{
				Run:   s.Path(stretch.Run),
				Shard: stretch.Shard,
				Size:  s.sizes[stretch.Run],
			})
		}
	}
	return past
}
