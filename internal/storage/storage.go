// Package storage opens and writes files by name, wherever they are stored.
// Inputs, run files, results and indexes go through it. It has the local disk;
// the packages gcs and s3 add buckets, and the package web adds servers of the web.
//
// # Names
//
// A file has a name, which is a string everywhere: a path on the local disk, or a scheme and what follows it,
// such as gs://bucket/folder/file. [Of] picks the storage by the scheme. [Join] puts a folder and a name
// together. It takes the place of filepath.Join, which would make one slash of two. A folder is a part of
// names and need not exist by itself. Only the local disk has folders. Whoever needs one there makes it.
//
// # How to add a storage
//
// An implementation provides [Storage], and [Register] makes it the storage of its scheme. The comment of
// each operation says what it must promise. Most of all:
//
//   - A file is visible under its name only when it is complete. Until [Writer.Commit] has
//     finished a file, the file is neither listed nor opened, whatever has failed, and even
//     if the process dies.
//   - An open file does not become another one. A storage with generations pins the
//     generation that was opened. A read that meets another generation fails. The local
//     disk cannot pin. There [File.Stat] tells what the file is now.
//   - A read returns the bytes that were written, or an error. A storage behind a network
//     checks sums. If a fault may pass, it also tries again, with growing pauses.
//   - An operation ends. It takes no context: the implementation bounds its time. A caller
//     cuts long work short between operations: it leaves a listing or aborts a file. What
//     ends the whole program ends all operations that wait, see [Waiting].
//   - Errors name the operation and the file. A failure of the storage is a *fs.PathError
//     or an *os.LinkError, or wraps one. errors.Is finds fs.ErrNotExist, fs.ErrExist and
//     fs.ErrPermission in it. If something other than a file has the name of one, the
//     error is a *storage.IrregularError.
//   - Any number of goroutines may use a Storage, and read from one File. A Writer, and
//     a stream of a File, belong to one goroutine.
//
// [Reopener], [GenerationRemover], [ReadOnly], [Waiter] and [Spender] are optional. A storage implements those that it
// is good at. Callers use [Reopen] and [RemoveGeneration], which work with every storage. So do [Release], [Map] and
// [Used], which only the local disk does in a way of its own.
//
// The package storagetest has the test that every implementation has to pass. It also has a storage in memory
// that fails wherever a test wants.
//
// # What stays local
//
// Publishing on the local disk is more than Commit. Package workspace exchanges whole folders and keeps a
// journal, and its folders have marks and owners. All that works only on the local disk. A bucket is
// published by copies, then the manifest, and the mark of success last with IfAbsent, all under a Lease. The
// walk over a tree of folders and links, in package corpus, is for the local disk too.
package storage

import (
	"errors"
	"io"
	"iter"
	"syscall"
)

// Storage keeps whole files under names.
type Storage interface {
	// List yields the files in a folder and below it, in any order. A missing folder holds none. List may yield or omit
	// files that come or go meanwhile. An error comes last, with a zero Info.
	List(folder string) iter.Seq2[Info, error]

	// Stat describes a file.
	Stat(name string) (Info, error)

	// Open opens a file for reading. It does not wait: anything but a file, such as a pipe, is an error.
	Open(name string) (File, error)

	// Create begins a file, which nobody sees before it is committed.
	Create(name string, options Options) (Writer, error)

	// Copy makes a second file of the same content, as by Create and Commit. Both names are of this storage, so a
	// bucket copies without a download. A file with the name to is replaced.
	Copy(from, to string) error

	// Remove removes a file. A missing file is no error.
	Remove(name string) error

	// Lease takes the lease of a name. If somebody else holds it, it fails at once with a *HeldError. The
	// storage makes a file of that name for the lease. Holder is a line of text that tells others who holds
	// the lease. A lease ends by itself when its process dies: at once or, in a bucket, some time later.
	Lease(name, holder string) (Lease, error)
}

// Info describes a file.
type Info struct {
	// Name is the whole name, as Open takes it.
	Name string
	// Size is the length in bytes.
	Size int64
	// Generation changes with the content. Generations can only be compared. It is empty if it is unknown.
	Generation string
	// Identity is the same for all names of a file. It is zero for a file that can have only one name.
	Identity Identity
}

// Identity is common to all names of one file or folder. The zero Identity is unknown: it equals no other.
type Identity struct {
	// Device is the number of the file system, Inode the number of the file on it.
	Device, Inode uint64
}

// Options are the choices of Create. The zero Options serve most files.
type Options struct {
	// IfAbsent makes Commit fail with fs.ErrExist if a file has the name by then. Of several writers at most
	// one succeeds. Without IfAbsent, Commit replaces the file in one step.
	IfAbsent bool
	// Durable makes Commit wait until the content survives a loss of power. Storage behind a network does so anyway.
	Durable bool
}

// File is a file that is open for reading.
type File interface {
	// ReadAt reads a range, as io.ReaderAt says. If all bytes are there, it returns no io.EOF.
	io.ReaderAt

	// ReadRanges reads several ranges. It yields the number of each range when it is read, in any order. A
	// storage behind a network combines ranges that lie close together into one request, and makes several
	// requests side by side. A range that reaches beyond the end of the file is io.ErrUnexpectedEOF. An error
	// comes last. A caller that leaves early must use only ranges that were yielded.
	ReadRanges(ranges []Range) iter.Seq2[int, error]

	// From returns the bytes from an offset to the end. Each stream has its own offset, and is closed before the file.
	From(offset int64) io.ReadCloser

	// Stat describes the file as it is now. A storage that has pinned a generation describes that generation.
	Stat() (Info, error)

	Close() error
}

// Range is a stretch of a file that is to be read.
type Range struct {
	// Offset is where it begins in the file.
	Offset int64
	// Bytes is filled from the file.
	Bytes []byte
}

// Writer writes one file.
type Writer interface {
	// Write appends to the file. After an error the file can only be aborted.
	io.Writer

	// Commit gives the file its name. After an error, no partial file has the name. But the complete file may
	// have it, if a storage behind a network has only lost the answer. Either way the Writer is done.
	Commit() error

	// Abort drops the file. After Commit it does nothing, so it can be deferred.
	Abort()
}

// Stretch is a part of a file.
type Stretch struct{ Offset, Length int64 }

// Mapping is the content of a file in memory.
type Mapping struct {
	// Bytes are valid until Close.
	Bytes []byte

	isMapped bool
}

func (m Mapping) Close() error {
	if !m.isMapped {
		return nil
	}
	return syscall.Munmap(m.Bytes)
}

// Reopener is a Storage that can open a file which is already described without asking for it. In a bucket that saves a
// request for each file.
type Reopener interface {
	// Reopen opens the file that info describes. Reads fail with ErrChanged if it has another generation by now. If the
	// generation of info is empty, the first read finds it. A missing file is found by the first read.
	Reopen(info Info) (File, error)
}

// GenerationRemover is a Storage that can remove a file only if it is the one that was seen.
type GenerationRemover interface {
	// RemoveGeneration removes a file of this generation. It fails with ErrChanged if the file has another one by now.
	// A missing file is no error.
	RemoveGeneration(name, generation string) error
}

// RemoveGeneration removes a file. A storage that knows generations removes only this one.
func RemoveGeneration(s Storage, name, generation string) error {
	if conditional, is := s.(GenerationRemover); is && generation != "" {
		return conditional.RemoveGeneration(name, generation)
	}
	return s.Remove(name)
}

// ReadOnly is a Storage to which nothing may be writable.
type ReadOnly interface {
	// IsReadOnly reports whether nothing can be written.
	IsReadOnly() bool
}

// ErrChanged is the cause of a read that fails because the file is another one than when it was opened or described.
var ErrChanged = errors.New("the file was replaced or removed after it was opened")

// ErrDamaged is the cause of a read that fails because of a check sum.
var ErrDamaged = errors.New("the bytes that arrived differ from the bytes that were written")

var errEmpty = errors.New("the file is empty")

// DamagedError says that a file is not what this program has written.
type DamagedError struct {
	// Op is what failed, such as "read clusters of".
	Op string
	// Path is the file, and Err what is wrong with it.
	Path string
	Err  error
}

func (e *DamagedError) Error() string { return e.Op + " " + e.Path + ": " + e.Err.Error() }

func (e *DamagedError) Unwrap() error { return e.Err }
