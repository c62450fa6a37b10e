package corpus

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"mirrorbeam/internal/ground/storage"
)

// inspectAll opens the files and fills in what that shows about them. It opens several side by side, for
// network file systems. It returns the error of the first faulty file, or of the context.
func inspectAll(ctx context.Context, files []candidate, format string) error {
	faults := make([]error, len(files))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(files), 4*runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if faults[i] = inspect(&files[i].File, format); faults[i] == nil {
					faults[i] = files[i].checkListed()
				}
			}
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	var first error
	more := -1
	for _, err := range faults {
		if err != nil {
			first = cmp.Or(first, err)
			more++
		}
	}
	if more > 0 {
		return fmt.Errorf("list inputs: %w (and %d more files with faults)", first, more)
	}
	if first != nil {
		return fmt.Errorf("list inputs: %w", first)
	}
	return nil
}

// inspect fills in Size, Generation, Identity, Compression and Format of one file. The argument format is the
// format of all files, or [AutoFormat].
func inspect(file *File, format string) error {
	handle, info, err := open(file.Path)
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("%w: make the file readable, or leave it out", err)
	}
	if err != nil {
		return err
	}
	defer handle.Close()
	stream := handle.From(0)
	defer stream.Close()
	file.Size, file.Generation, file.Identity = info.Size, info.Generation, info.Identity
	if file.Size == 0 {
		if _, err := io.ReadFull(stream, make([]byte, 1)); err == nil {
			return fmt.Errorf("%s has content but the size 0, as the files of /proc have: copy it to a file on disk, or leave it out", file.Path)
		}
	}
	head, err := readHead(stream)
	if err != nil {
		return err
	}
	var isChosen bool
	if file.Format, isChosen = ParseFormat(format); !isChosen {
		file.Format = formatOf(file.Path, nil)
	}
	file.Compression, err = sniff(head)
	if err != nil && file.Format.IsWhole() {
		return nil // its text is decoded, or it is a reject
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file.Path, err)
	}
	if file.Compression == None {
		file.Compression = cutCompression(file.Path, head)
	}
	switch _, isKnown := nameFormat(file.Path); {
	case isChosen:
	case file.Compression == None:
		file.Format = formatOf(file.Path, head)
	case !isKnown || isProse(file.Path):
		decoded, err := decodedHead(head)
		if err != nil && !file.Format.IsWhole() {
			return fmt.Errorf("%s: %w", file.Path, err)
		}
		file.Format = formatOf(file.Path, decoded)
	}
	if file.Compression == None && file.Format.IsLines() {
		file.CR, err = readLineEnd(head, stream)
	}
	return err
}

// readLineEnd reports whether the lines of a plain file end with a carriage return alone. If its head does not tell, it reads on
// for a while.
func readLineEnd(head []byte, rest io.Reader) (cr bool, err error) {
	for {
		cr, known := endsWithCR(head, len(head) < storedHeadBytes)
		if known || len(head) >= mostLineEndBytes {
			return cr, nil
		}
		more := make([]byte, 15*len(head)) // few reads, for network file systems
		n, err := io.ReadFull(rest, more)
		head = append(head[:len(head):len(head)], more[:n]...)
		switch {
		case err == io.EOF, err == io.ErrUnexpectedEOF:
			cr, _ := endsWithCR(head, true)
			return cr, nil
		case err != nil:
			return false, err
		}
	}
}

// readHead reads enough of the first bytes of a file to tell its compression and format.
func readHead(stream io.Reader) ([]byte, error) {
	head := make([]byte, storedHeadBytes)
	n, err := io.ReadFull(stream, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	return head[:n], nil
}

// storedHeadBytes is how many bytes of a compressed file are decoded to tell its format.
const storedHeadBytes = 4 << 10

// decodedHead returns the decoded form of the first bytes of a compressed file. It fails if the format is not read.
// It ignores damage: reading the file will report it.
func decodedHead(stored []byte) ([]byte, error) {
	decoded, err := Decoded(bytes.NewReader(stored))
	if _, isUnread := errors.AsType[unread](err); isUnread {
		return nil, err
	}
	if err != nil {
		return nil, nil
	}
	defer decoded.Close()
	head := make([]byte, headBytes)
	n, _ := io.ReadFull(decoded, head)
	return head[:n], nil
}

// Identity is what all paths to one file or folder have in common.
type Identity = storage.Identity

// Identify returns the identity of the file or folder to which a path leads.
func Identify(path string) (Identity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Identity{}, err
	}
	return storage.IdentityOf(info), nil
}

// open opens a file for reading. It does not wait for a writer of a named pipe: anything but a regular file
// is an error.
func open(name string) (storage.File, storage.Info, error) {
	handle, err := storage.Open(name)
	if special, isSpecial := errors.AsType[*storage.IrregularError](err); isSpecial {
		err = irregular(name, special.Mode)
	}
	if err != nil {
		return nil, storage.Info{}, err
	}
	info, err := handle.Stat()
	if err != nil {
		handle.Close() // a file that was only opened
		return nil, storage.Info{}, err
	}
	return handle, info, nil
}

// irregular returns the error for a path that leads to something other than a regular file.
func irregular(path string, mode fs.FileMode) error {
	kind := "a device"
	switch {
	case mode.IsDir():
		return &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return fmt.Errorf("%s is not a regular file but %s: write its content to a file, or leave it out", path, kind)
}

// existing returns the longest part of a path that exists, with symbolic links resolved.
func existing(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for {
		real, err := filepath.EvalSymlinks(path)
		if !isAbsent(err) || path == filepath.Dir(path) {
			return real, err
		}
		path = filepath.Dir(path)
	}
}

// isAbsent reports whether an error says that a path does not exist, or leads through a file.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
