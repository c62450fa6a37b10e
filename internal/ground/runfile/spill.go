package runfile

import (
	"fmt"
	"os"

	"mirrorbeam/internal/ground/storage"
)

// spill holds records on the local disk until their run file is closed. Its file has no name. So the disk
// gets the room back however the process ends. The zero spill has no file yet.
type spill struct {
	file   *os.File
	size   int64
	buffer []byte
}

// copyBuffer is how much of a spill is read at a time.
const copyBuffer = 256 << 10

// put appends parts and returns where they are.
func (s *spill) put(parts [][]byte) (storage.Stretch, error) {
	if s.file == nil {
		file, err := os.CreateTemp("", "run-")
		if err != nil {
			return storage.Stretch{}, fmt.Errorf("hold a run on the local disk: %w", err)
		}
		if err := os.Remove(file.Name()); err != nil {
			file.Close()
			return storage.Stretch{}, fmt.Errorf("hold a run on the local disk: %w", err)
		}
		s.file = file
	}
	stretch := storage.Stretch{Offset: s.size}
	for _, part := range parts {
		n, err := s.file.Write(part)
		s.size += int64(n)
		if err != nil {
			return storage.Stretch{}, fmt.Errorf("hold a run on the local disk: %w", err)
		}
	}
	stretch.Length = s.size - stretch.Offset
	return stretch, nil
}

// copy reads a stretch and passes it to add.
func (s *spill) copy(stretch storage.Stretch, add func([]byte) error) error {
	if s.buffer == nil {
		s.buffer = make([]byte, copyBuffer)
	}
	for stretch.Length > 0 {
		part := s.buffer[:min(int64(len(s.buffer)), stretch.Length)]
		if _, err := s.file.ReadAt(part, stretch.Offset); err != nil {
			return fmt.Errorf("read a run back from the local disk: %w", err)
		}
		if err := add(part); err != nil {
			return err
		}
		stretch.Offset += int64(len(part))
		stretch.Length -= int64(len(part))
	}
	return nil
}

// close gives the room back.
func (s *spill) close() {
	if s.file != nil {
		s.file.Close() // nobody reads it any more
		s.file = nil
	}
}
