package standing

import (
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/settle/state"
)

// Write writes a list to a file that survives a loss of power.
func (l *List) Write(path string) error { return state.WriteComponents(path, l.Append) }

// lists are the lists of the jobs at work in this process.
var lists work.Shared[List]

// Read returns the list in a file. Tasks of this process share it while one of them holds it, and nobody may change it.
func Read(path string) (*List, error) { return lists.Get(path, Load) }

// Give has [Read] return a list for a path, while somebody holds the list. The tasks of this process then need no file.
func (l *List) Give(path string) { lists.Put(path, l) }

// Load reads the list in a file, for the caller alone.
func Load(path string) (*List, error) {
	packed, err := state.ReadComponents(path)
	if err != nil {
		return nil, err
	}
	l, err := Unpack(packed)
	if err != nil {
		return nil, &storage.DamagedError{Op: "read the components of", Path: path, Err: err}
	}
	return l, nil
}
