package corpus

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
)

// Cut is a stretch of a text that is cut out: from the byte Begin up to End. Spaced says that a space takes its place,
// as the words on both sides would be one without it.
type Cut struct {
	Begin, End int64
	Spaced     bool
}

// AppendCut appends a text without some stretches, which are in its order and apart from each other.
func AppendCut(b, text []byte, cuts []Cut) []byte {
	done := int64(0)
	for _, cut := range cuts {
		b = append(b, text[done:cut.Begin]...)
		if cut.Spaced {
			b = append(b, ' ')
		}
		done = cut.End
	}
	return append(b, text[done:]...)
}

// Cutter cuts stretches out of the texts of records. All else stays as it is. It is not for concurrent use.
type Cutter interface {
	// Cut appends a record to b, with the cuts made in its text. The header is the header of its batch. The [Decoder]
	// of the format has found a text in the record, and all cuts are within it; else that is an error.
	Cut(b, header, record []byte, cuts []Cut) ([]byte, error)
}

// longestElement is how many bytes a file system allows the name of a file or folder.
const longestElement = 255

// CopyName returns the name of a copy of the file in a tree of folders that is as the input's: the Name, with the
// ending of its compression or, if copies have another one, with [File.CopySuffix]. It is a path with slashes that
// leads nowhere else. The files of an archive are in a folder with the Name of the archive.
func (f *File) CopyName() string {
	if f.Name == Stdin {
		return Stdin + "." + f.Ending()
	}
	name, original := storage.WithoutQuery(f.Name), filepath.ToSlash(storage.WithoutQuery(f.Path))
	suffix := original[len(dropCompressionSuffix(original)):]
	switch {
	case f.CopySuffix() != compressions[f.Compression].suffix:
		suffix = f.CopySuffix()
	case path.Base(name) == path.Base(original): // the name is the whole path
		suffix = ""
	}
	var elements []string
	for element := range strings.SplitSeq(name+suffix, "/") {
		if element != "" && element != "." {
			elements = append(elements, plainElement(element))
		}
	}
	return strings.Join(elements, "/")
}

// plainElement returns an element of a path, with a percent sign and two digits for each byte that is no part of a text
// or no visible character, and for the points of "..".
func plainElement(element string) string {
	if element == ".." {
		return "%2E%2E"
	}
	var b strings.Builder
	for at, r := range element {
		_, size := utf8.DecodeRuneInString(element[at:])
		if r < ' ' || r == 0x7f || r == '\\' || r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "%%%02X", element[at])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// CheckCopyNames returns an error if copies of files cannot lie in one tree of folders: two of them would have one
// name, or one would have the name of a folder.
func CheckCopyNames(files []File) error {
	names, folders := map[string]string{}, map[string]string{} // the paths of files
	for file := range single(files) {
		if file.Reference {
			continue
		}
		name := file.CopyName()
		if other, isTaken := names[name]; isTaken {
			return setting.Errorf("the copies of %s and %s would both be called %s", other, file.Path, name)
		}
		names[name] = file.Path
		for folder := name; folder != "."; folder = path.Dir(folder) {
			if element := path.Base(folder); len(element) > longestElement {
				return setting.Errorf("the copy of %s would have a name of %d bytes: %s", file.Path, len(element),
					element)
			}
			if folder != name {
				folders[folder] = file.Path
			}
		}
	}
	for folder, path := range folders {
		if other, isTaken := names[folder]; isTaken {
			return setting.Errorf("the copy of %s would have the name of the folder of %s: %s", other, path, folder)
		}
	}
	return nil
}
