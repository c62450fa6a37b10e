package storage

// DamagedError says that a file is not what this program has written.
type DamagedError struct {
	// Op is what failed, such as "read groups of".
	Op string
	// Path is the file, and Err what is wrong with it.
	Path string
	Err  error
}

// Error says what is wrong with the file.
func (e *DamagedError) Error() string { return e.Op + " " + e.Path + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *DamagedError) Unwrap() error { return e.Err }
