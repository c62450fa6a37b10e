package transforms

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"sort"
	"sync"
	"weak"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/storage"
)

// Inputs are the files of a job, in document order, and how they are cut into
// splits. Files of a reference corpus come before all others. The driver writes
// them once; workers read them from the job's folder, since data does not belong
// in a pipeline.
type Inputs struct {
	Files  []corpus.File
	Splits []corpus.Split
	// StopWords is the list of stop words as the user wrote it, empty for none.
	StopWords string
}

// WriteInputs writes the inputs to path. Paths are bytes in no particular
// encoding, which they keep.
func WriteInputs(path string, inputs Inputs) error {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(inputs)
	if err == nil {
		err = storage.WriteFile(path, b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("write list of inputs: %w", err)
	}
	return nil
}

// readInputs reads what WriteInputs wrote.
func readInputs(path string) (*Inputs, error) {
	b, err := storage.ReadFile(path)
	inputs := new(Inputs)
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(b)).Decode(inputs)
	}
	if err != nil {
		return nil, fmt.Errorf("read list of inputs: %w", err)
	}
	return inputs, nil
}

// sharedInputs are the inputs of the job at work in this process. A runner sets up
// many DoFns: the list of a hundred thousand files is read once for all of them, and
// goes with the last.
type sharedInputs struct {
	mutex  sync.Mutex
	path   string
	inputs weak.Pointer[Inputs]
}

// open returns the inputs that WriteInputs wrote to path. Nobody may change them.
func (s *sharedInputs) open(path string) (*Inputs, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if inputs := s.inputs.Value(); inputs != nil && s.path == path {
		return inputs, nil
	}
	inputs, err := readInputs(path)
	if err == nil {
		s.path, s.inputs = path, weak.Make(inputs)
	}
	return inputs, err
}

// layout is what DoFns need to know of the inputs, read in their Setup.
type layout struct {
	inputs     *Inputs
	starts     []docref.Ref // of the splits, see splitStarts
	firstInput docref.Ref   // where the reference ends
}

// read reads the inputs that WriteInputs wrote to path.
func (l *layout) read(path string) (err error) {
	if l.inputs, err = tasks.inputs.open(path); err != nil {
		return err
	}
	if l.firstInput, err = l.inputs.firstInput(); err != nil {
		return err
	}
	l.starts, err = l.inputs.splitStarts()
	return err
}

// references returns how many of the files are of the reference corpus.
func (in *Inputs) references() int {
	return sort.Search(len(in.Files), func(i int) bool { return !in.Files[i].Reference })
}

// firstInput returns the ref before which all documents are of the reference
// corpus.
func (in *Inputs) firstInput() (docref.Ref, error) {
	first, err := docref.New(in.references(), 0)
	if err != nil {
		return 0, fmt.Errorf("number of reference files: %w", err)
	}
	return first, nil
}

// splitStarts returns for each split the ref before which all documents belong
// to earlier splits.
func (in *Inputs) splitStarts() ([]docref.Ref, error) {
	starts := make([]docref.Ref, len(in.Splits))
	for i, split := range in.Splits {
		var err error
		if starts[i], err = docref.New(split[0].File, split[0].Start); err != nil {
			return nil, fmt.Errorf("file %s: %w", in.Files[split[0].File].Path, err)
		}
	}
	return starts, nil
}

// splitOf returns the split that holds the document, by its starts.
func splitOf(starts []docref.Ref, ref docref.Ref) int {
	return sort.Search(len(starts), func(i int) bool { return starts[i] > ref }) - 1
}

// filesOf returns the range of the files whose unique records the task of a split
// writes: the split in which a file starts or, for one without a stretch because
// it is empty, the last one before it.
func (in *Inputs) filesOf(split int, starts []docref.Ref) (from, to int) {
	owner := func(file int) int {
		first, _ := docref.New(file, 0) // the splits have checked the number
		return max(splitOf(starts, first), 0)
	}
	from = sort.Search(len(in.Files), func(file int) bool { return owner(file) >= split })
	to = sort.Search(len(in.Files), func(file int) bool { return owner(file) > split })
	return from, to
}

// refText writes the ref as users see it: path:position.
func (in *Inputs) refText(b []byte, ref docref.Ref) []byte {
	return fmt.Appendf(b, "%s:%d", in.Files[ref.File()].Name, ref.Position())
}
