package storage

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Local is the storage of the local disk. Names are paths.
type Local struct{}

// List yields the regular files below a folder. It follows no symbolic links.
func (Local) List(folder string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil // it went away, or never existed
			case err != nil:
				return err
			case !entry.Type().IsRegular() || isUnfinished(path) || path == folder:
				return nil
			}
			info, err := entry.Info()
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case !yield(infoOf(path, info), nil):
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(Info{}, err)
		}
	}
}

// Stat describes the file to which a path leads.
func (Local) Stat(path string) (Info, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = CheckRegular(path, info)
	}
	if err != nil {
		return Info{}, err
	}
	return infoOf(path, info), nil
}

// infoOf returns the system's information about a file. Its time is only as fine as the clock of the file
// system. So a file that is written twice within a few milliseconds may keep its generation.
func infoOf(path string, info fs.FileInfo) Info {
	return Info{
		Name:       path,
		Size:       info.Size(),
		Generation: strconv.FormatInt(info.ModTime().UnixNano(), 10),
		Identity:   IdentityOf(info),
	}
}

// LocalTime returns when a local file was written, given its generation; known is false for other storage.
func LocalTime(generation string) (written time.Time, known bool) {
	nanoseconds, err := strconv.ParseInt(generation, 10, 64)
	return time.Unix(0, nanoseconds), err == nil
}

// IdentityOf returns the identity of a file or folder of the local disk.
func IdentityOf(info fs.FileInfo) Identity {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Ino == 0 {
		return Identity{}
	}
	return Identity{Device: uint64(stat.Dev), Inode: stat.Ino}
}

// Open opens a regular file.
func (Local) Open(path string) (File, error) {
	file, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	return localFile{file}, nil
}

type localFile struct{ *os.File }

// ReadRanges reads one range after the other. So each range is used while the processor's cache still has it.
func (f localFile) ReadRanges(ranges []Range) iter.Seq2[int, error] {
	return EachRange(f, f.Name(), ranges)
}

// EachRange reads ranges of a file of that name one after the other. So each is used while the processor's cache still
// has it.
func EachRange(file io.ReaderAt, name string, ranges []Range) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i, r := range ranges {
			_, err := file.ReadAt(r.Bytes, r.Offset)
			if errors.Is(err, io.EOF) {
				err = &fs.PathError{Op: "read", Path: name, Err: io.ErrUnexpectedEOF}
			}
			if !yield(i, err) || err != nil {
				return
			}
		}
	}
}

func (f localFile) From(offset int64) io.ReadCloser {
	return io.NopCloser(io.NewSectionReader(f.File, offset, math.MaxInt64-offset))
}

// Stat asks the system again: an open file of the local disk may be written to.
func (f localFile) Stat() (Info, error) {
	info, err := f.File.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoOf(f.Name(), info), nil
}

// Copy copies a file by the system's own means, if there are any.
func (s Local) Copy(from, to string) error {
	source, err := OpenRegular(from)
	if err != nil {
		return err
	}
	defer source.Close()
	w, err := s.Create(to, Options{})
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := io.Copy(w, source); err != nil {
		return &fs.PathError{Op: "copy", Path: to, Err: err}
	}
	return w.Commit()
}

// Remove removes a file.
func (Local) Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Release gives back the space of stretches of a file of the local disk, by holes. Afterwards only the length of the
// file matters, which stays the same. Nothing happens elsewhere, or if the disk cannot do it.
func Release(path string, stretches []Stretch) {
	if Scheme(path) != "" {
		return
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer file.Close()
	for _, s := range stretches {
		punchHole(file, s.Offset, s.Length)
	}
}

// Map returns the content of a file as memory, to which nobody may write. It maps a file of the local disk, and reads
// another one. An empty file is an error.
func Map(name string) (Mapping, error) {
	if Scheme(name) != "" {
		content, err := ReadFile(name)
		if err == nil && len(content) == 0 {
			err = errEmpty
		}
		return Mapping{Bytes: content}, err
	}
	file, err := OpenRegular(name)
	if err != nil {
		return Mapping{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Mapping{}, err
	}
	if info.Size() == 0 {
		return Mapping{}, errEmpty
	}
	mapped, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return Mapping{}, &fs.PathError{Op: "map into memory", Path: name, Err: err}
	}
	return Mapping{mapped, true}, nil
}

// usedOnDisk returns the space that the files of a folder take on the disk, those that are being written too. A hole
// takes none. Files in subfolders do not count.
func usedOnDisk(folder string) int64 {
	const blockBytes = 512 // the unit of the system, whatever the block size of the file system
	used := int64(0)
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			used += blockBytes * stat.Blocks
		}
	}
	return used
}

// Free returns how many bytes may still be written to the disk of a folder. Known is false if nobody knows: the folder
// is not on a disk, is not there, or its file system does not tell.
func Free(folder string) (bytes int64, known bool) {
	var found unix.Statfs_t
	if Scheme(folder) != "" || unix.Statfs(folder, &found) != nil || found.Blocks == 0 {
		return 0, false
	}
	return int64(found.Bavail) * int64(found.Bsize), true
}

// mostLockings bounds the tries to lock a path that keeps becoming another file.
const mostLockings = 10

// Lock opens a file or folder of the local disk and takes its lock, or fails at once with syscall.EWOULDBLOCK. The
// locked file is the one that has that path when Lock returns. The lock ends when the file is closed. Flags are those
// of os.OpenFile. A Lease of the local disk rests on Lock.
func Lock(path string, flags int) (*os.File, error) {
	for range mostLockings {
		// Follow no links and wait for nothing: a path may be somebody else's pipe.
		file, err := os.OpenFile(path, flags|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			file.Close()
			return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
		}
		if hasName(file) {
			return file, nil
		}
		file.Close()
	}
	return nil, &fs.PathError{Op: "lock", Path: path, Err: syscall.EWOULDBLOCK}
}

// hasName reports whether an open file still has the path by which it was opened.
func hasName(file *os.File) bool {
	held, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(file.Name())
	return err == nil && os.SameFile(held, named)
}

type localLease struct{ *os.File }

// Lease locks a file, and makes it first if there is none.
func (Local) Lease(path, holder string) (Lease, error) {
	file, err := Lock(path, os.O_RDWR|os.O_CREATE)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		content, _ := os.ReadFile(path) // the file may be gone by now
		return nil, &HeldError{Name: path, Holder: strings.TrimSpace(string(content))}
	}
	if err != nil {
		return nil, err
	}
	if err = file.Truncate(0); err == nil {
		_, err = fmt.Fprintln(file, holder)
	}
	if err != nil {
		return nil, errors.Join(err, localLease{file}.Release())
	}
	return localLease{file}, nil
}

// Check returns an error if somebody has removed or replaced the file.
func (l localLease) Check() error {
	if !hasName(l.File) {
		return &fs.PathError{Op: "lease", Path: l.Name(), Err: fs.ErrNotExist}
	}
	return nil
}

// Release removes the file while it is locked. Whoever waits for the lock sees that, and makes another one.
func (l localLease) Release() error {
	var err error
	if hasName(l.File) {
		err = os.Remove(l.Name())
	}
	return errors.Join(err, l.Close())
}

// OpenRegular opens a file for reading. It is an error at once if anything but a file has its
// name: to open a pipe would be to wait for somebody who writes to it.
func OpenRegular(path string) (*os.File, error) { return openRegular(path, 0) }

// OpenUnlinked opens a file as Open does, but follows no symbolic link by that name.
func OpenUnlinked(path string) (*os.File, error) { return openRegular(path, syscall.O_NOFOLLOW) }

func openRegular(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = CheckRegular(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// ReadRegular returns the content of a file that Open opens.
func ReadRegular(path string) ([]byte, error) {
	file, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// IrregularError says that something has the name of a file and is none.
type IrregularError struct {
	// Path is the name.
	Path string
	// Mode says what it is.
	Mode fs.FileMode
}

func (e *IrregularError) Error() string {
	kind := "a device"
	switch {
	case e.Mode.IsDir():
		kind = "a folder"
	case e.Mode&fs.ModeSymlink != 0:
		kind = "a link"
	case e.Mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case e.Mode&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return fmt.Sprintf("%s is %s and no file", e.Path, kind)
}

// CheckRegular returns an *Error unless a file is regular.
func CheckRegular(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &IrregularError{path, info.Mode()}
}

// CheckFolder refuses a folder of the local disk in which another user could put other files instead of the files of
// this user. In a sticky folder, such as /tmp, nobody can.
func CheckFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return checkInfo(info, info.Mode()&fs.ModeSticky != 0)
}

// CheckOwner refuses a file, a folder or a link of the local disk that another user has made, and a folder that
// everybody may write to. It also checks where a link leads to. Another user may leave such a thing in a sticky folder,
// under the name that this user is about to use. A path that is missing is no error.
func CheckOwner(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if err = checkUser(info); err == nil {
			info, err = os.Stat(path)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return checkInfo(info, !info.IsDir())
}

// checkInfo checks who may exchange what is at a path. IsShielded says that the mode does not matter.
func checkInfo(info fs.FileInfo, isShielded bool) error {
	const writableByAll = 0o002
	if err := checkUser(info); err != nil {
		return err
	}
	if info.Mode()&writableByAll != 0 && !isShielded {
		return fmt.Errorf(
			"all users may write to it and could replace the job's files (mode %o; 'chmod o-w' fixes that)",
			info.Mode().Perm())
	}
	return nil
}

// checkUser refuses what belongs to others. The administrator can change everything anyway.
func checkUser(info fs.FileInfo) error {
	stat, known := info.Sys().(*syscall.Stat_t)
	if known && int(stat.Uid) != os.Geteuid() && stat.Uid != 0 {
		return fmt.Errorf("it belongs to another user (number %d), who could exchange the files of the job", stat.Uid)
	}
	return nil
}

// On the local disk, the name of an unfinished file ends with a random part and a suffix. So two writers of
// one name never use the same file.
const (
	unfinished     = ".partial"
	randomLength   = 8
	randomAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" // alphabet of rand.Text
)

func unfinishedName(path string) string {
	return path + "-" + rand.Text()[:randomLength] + unfinished
}

// isUnfinished reports whether a path has the form that unfinishedName makes.
func isUnfinished(path string) bool {
	stem, found := strings.CutSuffix(path, unfinished)
	dash := len(stem) - randomLength - 1
	return found && dash > 0 && stem[dash] == '-' && strings.Trim(stem[dash+1:], randomAlphabet) == ""
}

// RemoveUnfinished removes the unfinished files of a folder of the local disk, which processes that were killed have
// left. Nobody else may be writing to the folder. A missing folder has none.
func RemoveUnfinished(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if entry.Type().IsRegular() && isUnfinished(entry.Name()) {
			err = errors.Join(err, os.Remove(filepath.Join(folder, entry.Name())))
		}
	}
	return err
}

type localWriter struct {
	path    string
	options Options
	file    *os.File // nil when it is done
}

// Create makes an unfinished file next to the final one.
func (Local) Create(path string, options Options) (Writer, error) {
	file, err := os.OpenFile(unfinishedName(path), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, naming(path, err)
	}
	return &localWriter{path, options, file}, nil
}

// naming makes an error name the final file, since nobody knows the unfinished name.
func naming(path string, err error) error {
	if failed, is := errors.AsType[*fs.PathError](err); is {
		failed.Path = path
	}
	return err
}

func (w *localWriter) Write(b []byte) (int, error) {
	n, err := w.file.Write(b)
	return n, naming(w.path, err)
}

// ReadFrom copies by the system's own means, if there are any.
func (w *localWriter) ReadFrom(r io.Reader) (int64, error) {
	n, err := w.file.ReadFrom(r)
	return n, naming(w.path, err)
}

// Commit renames the file. Its name appears with the whole content or not at all.
func (w *localWriter) Commit() error {
	file := w.file
	w.file = nil
	var err error
	if w.options.Durable {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = w.rename(file.Name())
	}
	if err == nil && w.options.Durable {
		err = syncFolder(w.path)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return naming(w.path, err)
}

// rename gives the file its name. A hard link, unlike a rename, replaces no other file.
func (w *localWriter) rename(from string) error {
	if !w.options.IfAbsent {
		return os.Rename(from, w.path)
	}
	err := os.Link(from, w.path)
	if err == nil {
		os.Remove(from)
	}
	return err
}

func (w *localWriter) Abort() {
	if w.file != nil {
		w.file.Close()
		os.Remove(w.file.Name())
		w.file = nil
	}
}

// syncFolder waits until the names in the folder of a path are on the device. It is no error if the file
// system cannot do that.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, folder.Close())
}
