package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"mirrorbeam.dev/internal/input/inflate"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/storage"
)

// inspectAll opens the files that are not known and fills in what that shows about them: a Fault of those that cannot
// be read. It opens several side by side, for network file systems. It returns the error of the first file whose
// storage, and not the file itself, is the cause, or of the context.
func inspectAll(ctx context.Context, files []*candidate, options Options) error {
	faults := make([]error, len(files))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(files), sideBySide(files)) {
		options := options
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if files[i].Fault == "" && !files[i].recall(options.Known) &&
					!(options.NamesOnly && i >= mostShown && files[i].takeListed(options.Format)) {
					options.unpacks, options.isGuessed = files[i].unpacks, files[i].isGuessed
					faults[i] = files[i].inspect(options)
				}
			}
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, err := range faults {
		if _, isOther := errors.AsType[unread](err); isOther && files[i].isGuessed {
			files[i].isOther = true
		} else if IsOfFile(err) {
			files[i].Fault = FaultText(files[i].Path, err)
		} else if err != nil {
			return fmt.Errorf("list inputs: %w", err)
		}
	}
	return nil
}

// IsOfFile reports whether a file is the cause of an error, so that others can be read. The cause may also be a storage
// that fails, a file that changes, a limit, or the end of the context.
func IsOfFile(err error) bool {
	var failed *fs.PathError
	var links *os.LinkError
	var limit *limitError
	switch {
	case err == nil, errors.Is(err, storage.ErrChanged), errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded), errors.As(err, &limit):
		return false
	case errors.As(err, &failed):
		// in a bucket, rights are about all files
		return storage.Scheme(failed.Path) == "" && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EISDIR))
	}
	return !errors.As(err, &links)
}

// FaultText returns what an error says of a file, without its path.
func FaultText(path string, err error) string {
	text := err.Error()
	for _, before := range []string{"list inputs: ", "open input ", path + ": ", "open " + path + ": "} {
		text = strings.TrimPrefix(text, before)
	}
	if rest, is := strings.CutPrefix(text, path+" "); is {
		text = "it " + rest
	}
	return text
}

// recall fills in what is known of a file that has not changed, and reports whether it has done so. Whether the file
// can be read is not asked.
func (c *candidate) recall(known map[string]File) bool {
	file, is := known[c.absolute]
	if !is || c.Member != nil {
		return false
	}
	info := c.listed
	if info.Name == "" {
		info, _ = storage.Stat(c.Path) // a fault is found when the file is opened
	}
	if info.Generation == "" || info.Generation != file.Generation || info.Size != file.Size {
		return false
	}
	c.Size, c.Generation, c.Identity = info.Size, info.Generation, info.Identity
	c.Compression, c.Format, c.CR, c.Charset, c.Parts = file.Compression, file.Format, file.CR, file.Charset, file.Parts
	c.Recalled = true
	return true
}

// mostShown is how many objects are opened where names are enough for the others.
const mostShown = 8

// takeListed fills in what the name of an object and the list of its bucket tell of it. It reports whether that is
// enough: the format is chosen, or its name tells it.
func (c *candidate) takeListed(chosen string) bool {
	format, isChosen := ParseFormat(chosen)
	if !isChosen {
		format, isChosen = nameFormat(c.Path)
	}
	if !isChosen || c.isGuessed || c.listed.Name == "" || storage.Scheme(c.Path) == "" {
		return false
	}
	c.Size, c.Generation, c.Identity = c.listed.Size, c.listed.Generation, c.listed.Identity
	c.Format, c.Unopened = format, true
	return true
}

// inspect opens the file, and fills in what that shows. It is the file that its storage has listed: a service that
// breaks its word about the size would lose documents.
func (c *candidate) inspect(options Options) error {
	if c.listed.Size == 0 { // of an empty file nothing is read that would show its size
		if err := inspect(&c.File, options); err != nil || c.listed.Name == "" || c.Size == 0 {
			return err
		}
		return fmt.Errorf("%s: it was listed as empty, and it has %d bytes: %w: %s", c.Path, c.Size,
			storage.ErrChanged, runAgain)
	}
	handle, err := storage.Reopen(c.listed)
	if err == nil {
		defer handle.Close() // a file that was only read
		err = look(&c.File, handle, c.listed, options)
	}
	if errors.Is(err, storage.ErrChanged) {
		return fmt.Errorf("%s: it is not the file of %d bytes that was listed: %w: %s", c.Path, c.listed.Size, err,
			runAgain)
	}
	return advise(err, "file")
}

func advise(err error, what string) error {
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("%w: make the %s readable, or leave it out", err, what)
	}
	return err
}

func inspect(file *File, options Options) error {
	if file.Member != nil {
		return inspectMember(file, options)
	}
	handle, info, err := open(file.Path)
	if err != nil {
		return advise(err, "file")
	}
	defer handle.Close() // a file that was only read
	return look(file, handle, info, options)
}

func look(file *File, handle storage.File, info storage.Info, options Options) error {
	stream := io.NewSectionReader(handle, 0, math.MaxInt64) // by ranges: in a bucket no more is sent than is read
	file.Size, file.Generation, file.Identity = info.Size, info.Generation, info.Identity
	if file.Size == 0 {
		if _, err := io.ReadFull(stream, make([]byte, 1)); err == nil {
			return fmt.Errorf(
				"%s has content but the size 0, as the files of /proc have: copy it to a file on disk, or leave it out", file.Path)
		}
	}
	head, err := readHead(stream)
	if err != nil {
		return err
	}
	return file.describe(head, stream, options)
}

func inspectMember(file *File, options Options) error {
	if file.IsSequential() {
		return file.describe(file.Member.head, bytes.NewReader(nil), options)
	}
	handle, err := OpenUnchanged(file)
	if err != nil {
		return err
	}
	defer handle.Close()
	stream := handle.From(0)
	defer stream.Close()
	head, err := readHead(stream)
	if _, isFault := errors.AsType[*Fault](err); isFault {
		err = nil // it is found again when the file is read
	}
	if err != nil {
		return err
	}
	if err = file.describe(head, stream, options); err == nil && file.Format == JSONLines && IsGuessed(file.Path) &&
		!bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) {
		file.Format = Text // in an archive, a file whose name and content tell nothing is mostly a text
	}
	return err
}

// describe fills in Compression, Format and Charset of a file from its head, and CR, which may need the rest.
func (file *File) describe(head []byte, rest io.Reader, options Options) (err error) {
	var isChosen bool
	if file.Format, isChosen = ParseFormat(options.Format); !isChosen {
		file.Format = formatOf(file.Path, nil, JSONLines)
	}
	if file.IsArchive = options.unpacks && isArchive(head); file.IsArchive {
		return nil
	}
	file.Compression, err = sniff(head)
	if err != nil && file.Format.IsWhole() && !options.isGuessed {
		return nil // its text is decoded, or it is a reject
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file.Path, err)
	}
	if file.Compression == None {
		file.Compression = cutCompression(file.Path, head)
	}
	start := head
	if file.Compression != None {
		if start, err = file.decodedStart(head, options); err != nil {
			return err
		}
		if file.IsArchive = options.unpacks && isTar(start); file.IsArchive {
			return nil
		}
		if err := checkDecoded(file.Compression, start); err != nil && !file.Format.IsWhole() {
			return fmt.Errorf("%s: %w", file.Path, err)
		}
	}
	if name := unmarkedUTF16(start); name != "" && options.Charset == "" {
		return fmt.Errorf("%s: %w", file.Path,
			unread("the file is in UTF-16 without a byte order mark: give --encoding "+name))
	}
	if file.Compression == None && isForeignCompression(filepath.Base(file.Path)) && !isText(start) {
		return fmt.Errorf("%s: %w", file.Path,
			unread("the file is compressed as its name says, which is not read: "+recompress))
	}
	if isChosen && options.isGuessed && !file.Format.mayBegin(start) {
		return fmt.Errorf("%s: %w", file.Path, unread("neither its name nor its content matches the format"))
	}
	if !isChosen {
		if err = file.recognize(start, options); err != nil {
			return err
		}
	}
	if file.Charset, err = file.findCharset(start, options); err != nil {
		return err
	}
	if file.isPlain() && file.Format.IsLines() {
		file.CR, err = readLineEnd(head, rest)
	}
	if err == nil && file.Format.Definition().Parts != nil && !file.isSeekable() {
		err = fmt.Errorf("%s: %w", file.Path, errOutOfOrder)
	}
	if err == nil && file.Format == Arrow && file.Compression != None {
		err = fmt.Errorf("%s: a file of Arrow that is compressed as a whole is not read: decompress it", file.Path)
	}
	return err
}

// recognize fills in the format of a file of that beginning. Where its name and its content tell none, it is a text if
// its folder is searched, and lines of JSON if it is named: who names a table without an ending learns from its rejects
// what is missing.
func (f *File) recognize(start []byte, options Options) error {
	guess := Text
	if options.unpacks {
		guess = JSONLines
	}
	f.Format = formatOf(f.Path, start, guess)
	if !options.unpacks && f.Format == Text && isUnknown(filepath.Base(f.Path)) && !isText(start) {
		return fmt.Errorf("%s: %w", f.Path,
			unread(
				"neither the name of the file nor its content tells what it is: "+
					"name it with --format if it is a document"))
	}
	if !options.unpacks || f.Format == HTML || f.Format.HasFields() && BeginsObject(start) {
		return nil
	}
	text, err := f.beginning(charsetBytes, options)
	if err == nil {
		err = checkDump(text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	return nil
}

const charsetBytes = 64 << 10

func (f *File) findCharset(start []byte, options Options) (string, error) {
	name := webtext.Marked(start)
	switch rule := f.Format.Definition().Charset; {
	case rule == OwnCharset:
		return "", nil
	case name != "":
	case options.Charset != "":
		_, name, _ = webtext.Charset(options.Charset)
	case rule == AnyCharset && f.IsSequential():
		name = webtext.Guess(start)
	case rule == AnyCharset:
		text, err := f.beginning(charsetBytes, options)
		if err != nil {
			return "", err
		}
		name = webtext.Guess(text)
	}
	if encoding, _, _ := webtext.Charset(name); encoding == nil {
		name = ""
	}
	return name, nil
}

// readLineEnd reports whether lines of a plain file end with a carriage return alone. It may read beyond the head.
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

func readHead(stream io.Reader) ([]byte, error) {
	head := make([]byte, storedHeadBytes)
	n, err := io.ReadFull(stream, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	return head[:n], nil
}

const storedHeadBytes = 4 << 10

// decodedStart returns the first decoded bytes of a compressed file with that head. It ignores damage, which is found
// again when the file is read.
func (f *File) decodedStart(head []byte, options Options) ([]byte, error) {
	if f.Compression != Gzip && !f.IsSequential() {
		return f.beginning(headBytes, options) // the head may have a part of a block only, which gives nothing
	}
	content := compressions[f.Compression].open()
	defer content.Close()
	if err := content.Reset(bytes.NewReader(head),
		inflate.Options{Size: int64(len(head)), Window: inflate.SmallWindow}); err != nil {
		return nil, err
	}
	start := make([]byte, headBytes)
	n, _ := io.ReadFull(content, start) // of a head that is cut
	return start[:n], nil
}

// beginning returns the first decoded bytes of a file, whatever they are. It ignores damage, too.
func (f *File) beginning(size int, options Options) ([]byte, error) {
	file := *f
	file.IsArchive = true // so that nobody judges the content
	stream := &Stream{holdWindow: options.holdWindow}
	defer stream.Close()
	if err := stream.Reset(file, 0, 0); err != nil {
		return nil, err
	}
	return stream.Fill(nil, size)
}

// Identity is what all paths to one file or folder have in common.
type Identity = storage.Identity

// open opens a regular file for reading. It does not wait for a writer of a named pipe, which is an error.
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
