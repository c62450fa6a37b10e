package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/inspect/index"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

// OpenState opens an index of the documents that the newest generation of a state holds. It makes the index from the
// sketches, in the user's folder for caches, unless an earlier query has made it. From then on nothing of the state is
// needed: runs may go on, and nothing that they remove is missed. Progress, if not nil, gets a line if the index is to
// be made. It fails as [Open] does, but a damaged state is a fault of the storage.
func OpenState(ctx context.Context, folder string, progress func(line string)) (*Index, error) {
	s := stateReader{folder: folder, progress: progress}
	x, err := s.open(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(err, state.ErrNone) {
		err = fmt.Errorf("there is no state: %w", err)
	}
	if remedy := state.Remedy(folder, err); remedy != nil {
		return nil, failure.New(failure.Storage, remedy)
	}
	if errors.Is(err, failure.Storage) {
		return nil, failure.New(failure.Storage, fmt.Errorf("the state %s: %w", folder, err))
	}
	if err != nil {
		return nil, failure.New(failure.Input, fmt.Errorf("open state %s: %w", folder, err))
	}
	return x, nil
}

type stateReader struct {
	folder   string
	progress func(line string)
	telling  sync.Once
	content  *state.Content
	seed     uint64
	header   index.Header // with what the indexes of all parts hold
}

func (s *stateReader) open(ctx context.Context) (x *Index, err error) {
	if s.folder, err = storage.Absolute(s.folder); err != nil {
		return nil, err
	}
	for before := -1; ; {
		x, err := s.openNewest(ctx)
		if !errors.Is(err, fs.ErrNotExist) || s.number() == before {
			return x, err
		}
		before = s.number()
	}
}

func (s *stateReader) number() int {
	if s.content == nil {
		return 0
	}
	return s.content.Number
}

func (s *stateReader) openNewest(ctx context.Context) (_ *Index, err error) {
	if s.content, err = state.Read(s.folder); err != nil {
		if !errors.Is(err, state.ErrNone) && !errors.Is(err, fs.ErrNotExist) {
			err = failure.New(failure.Storage, err) // as 'runjob state' says
		}
		return nil, err
	}
	var config job.Config
	if err := json.Unmarshal(s.content.Config, &config); err != nil {
		return nil, fmt.Errorf("read the configuration of the last run: %w", err)
	}
	isOtherText := s.content.MainText != webtext.MainVersion && config.HTMLText == webtext.Main
	if s.content.Sketch != sketch.Version || s.content.Unicode != sketch.UnicodeVersion || isOtherText {
		return nil, errors.New("another version of this program made it: run its job again with this one and --rebuild")
	}
	if err := config.CheckIndex(); err != nil {
		return nil, fmt.Errorf("an index of its documents cannot be made: it %w", err)
	}
	x := newIndex(config)
	s.seed, s.header = config.Seed.Number, index.Header{Threshold: config.Threshold}
	if x.isDistance {
		s.header.Bits, s.header.Distance, s.header.Blocks = config.SimHashBits(), config.Hamming, config.Blocks
	}
	kind := fmt.Sprint(index.Magic, s.seed, s.header.Threshold, s.header.Bits, s.header.Distance, s.header.Blocks)
	parts := s.parts()
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("the index of a state is made in the folder for caches: %w", err)
	}
	paths := make([]string, len(parts))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(min(work.Cores(), mostBuilders))
	for number, part := range parts {
		group.Go(func() (err error) {
			of := item{
				s.folder,
				fmt.Sprint(s.content.Number, s.content.Made.UnixNano(), s.content.Sketches, kind, partDocuments),
				number,
			}
			paths[number], err = of.get(filepath.Join(cache, "runjob"), func(path string) error {
				return s.build(ctx, part, path)
			})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if err := x.openFiles(paths); err != nil {
		return nil, err
	}
	return x, nil
}

const mostBuilders = 4

// partDocuments is about how many documents a file of the index has.
const partDocuments = 100_000

type located struct {
	file int
	state.Stretch
}

// parts divides the stretches of the state, in document order, so that each part has about as much text.
func (s *stateReader) parts() [][]located {
	count := max(s.content.Documents/partDocuments, 1)
	var all, before int64
	for i := range s.content.Files {
		all += s.content.Files[i].TextSize()
	}
	parts := make([][]located, count)
	for i := range s.content.Files {
		of := &s.content.Files[i]
		for _, stretch := range of.Stretches {
			at := min(before*count/max(all, 1), count-1)
			parts[at] = append(parts[at], located{i, stretch})
			before += of.TextSize() / int64(len(of.Stretches))
		}
	}
	return slices.DeleteFunc(parts, func(part []located) bool { return len(part) == 0 })
}

func (s *stateReader) build(ctx context.Context, part []located, path string) error {
	s.telling.Do(func() {
		if s.progress != nil {
			s.progress(fmt.Sprintf("making an index of %d documents, once for generation %d of the state",
				s.content.Documents, s.content.Number))
		}
	})
	pieces, err := s.pieces(part)
	if err != nil {
		return err
	}
	w, err := storage.Create(path)
	if err != nil {
		return err
	}
	defer w.Abort()
	builder, err := index.New(s.headerOf(part), s.seed, func(b []byte) error {
		_, err := w.Write(b)
		return err
	})
	if err != nil {
		return err
	}
	taskContext := work.TaskContext{Memory: new(work.Memory), Pieces: pieces}
	defer taskContext.Reader.Close()
	err = taskContext.EachBlock(ctx, func(block *sketchblock.Block, sets runfile.Piece) error {
		return builder.AddBlock(&taskContext, block, sets)
	})
	if err == nil {
		err = builder.Close()
	}
	if err != nil {
		return err
	}
	return w.Commit()
}

func (s *stateReader) pieces(part []located) (pieces []runfile.Piece, err error) {
	runs := map[string]map[int][]runfile.Piece{}
	for _, stretch := range part {
		if runs[stretch.Run] == nil {
			all, err := runfile.Pieces(storage.Join(s.folder, stretch.Run))
			if err != nil {
				return nil, err
			}
			runs[stretch.Run] = map[int][]runfile.Piece{}
			for _, piece := range all {
				runs[stretch.Run][piece.Shard] = append(runs[stretch.Run][piece.Shard], piece)
			}
		}
		for _, piece := range runs[stretch.Run][stretch.Shard] {
			piece.Mark = uint32(stretch.file)
			switch piece.Kind { // whole: with their common shingles, which the builder takes out
			case records.WholeDocuments:
				piece.Kind = records.Documents
			case records.WholeSets:
				piece.Kind = records.Sets
			}
			pieces = append(pieces, piece)
		}
	}
	return pieces, nil
}

func (s *stateReader) headerOf(part []located) index.Header {
	files, h := s.content.Files, s.header
	h.StopWords, h.Ignored, h.Common = s.content.StopWords, s.content.Ignored, s.content.Common
	h.FirstFile, h.AreIntegers, h.Members = part[0].file, s.content.IntegerNames, map[int][]string{}
	for h.References < len(files) && files[h.References].Reference {
		h.References++
	}
	for i := range files[h.FirstFile : part[len(part)-1].file+1] {
		file := &files[h.FirstFile+i].File
		h.Files = append(h.Files, file.Name)
		for _, member := range file.Members {
			h.Members[i] = append(h.Members[i], member.Name)
		}
	}
	return h
}
