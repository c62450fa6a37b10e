package workspace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
)

// The files of the output folder, apart from the shards.
const (
	ManifestName = "manifest.json"
	SummaryName  = "summary.json"
	SuccessName  = "_SUCCESS"
)

// Manifest lists what a job has published.
type Manifest struct {
	// Token is the random name of the run.
	Token string `json:"token"`
	// Files are the files of the results.
	Files []output.File `json:"files"`
}

func parseManifest(content []byte) (m Manifest, err error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&m); err != nil {
		return m, err
	}
	if len(m.Files) == 0 {
		return m, errors.New("it lists no file")
	}
	if !isToken(m.Token) {
		return m, fmt.Errorf("%q is no token", m.Token)
	}
	for _, file := range m.Files {
		if !output.IsName(file.Name) ||
			!strings.HasPrefix(file.Name, file.Output+"-") && !strings.HasPrefix(file.Name, file.Output+"/") {
			return m, fmt.Errorf("it lists %q, a name that no job gives", file.Name)
		}
	}
	return m, nil
}

// names returns all files of the results, the manifest last. So the manifest still identifies results that
// are only half removed.
func (m Manifest) names() []string {
	var names []string
	for _, file := range m.Files {
		names = append(names, file.Name)
	}
	return append(names, SummaryName, SuccessName, ManifestName)
}

// readManifest returns the manifest in a folder. It is empty if there is none.
func (d disk) readManifest(folder string) (Manifest, error) {
	content, err := d.readFile(filepath.Join(folder, ManifestName))
	return readManifest(content, err)
}

// readManifest returns the manifest that was read, with the error of reading it. It is empty if there is none.
func readManifest(content []byte, err error) (Manifest, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, nil
	}
	if err != nil {
		return Manifest{}, err
	}
	m, err := parseManifest(content)
	if _, isSyntax := errors.AsType[*json.SyntaxError](err); isSyntax || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) {
		return m, damagedError{err}
	}
	if err != nil {
		return m, foreign("%s does not come from a job: %w", ManifestName, err)
	}
	return m, nil
}

// damagedError says that the manifest is no JSON, so that nothing tells which files a job has written.
type damagedError struct{ error }

type foreignError struct{ error }

func (e foreignError) Unwrap() error { return e.error }

func foreign(format string, arguments ...any) error {
	return foreignError{fmt.Errorf(format, arguments...)}
}

// earlier is what earlier jobs have left in an output folder.
type earlier struct {
	// token is the token in the manifest, empty if there is none.
	token string
	// names are the names of the results and of pages about them, the manifest last. Some files may be missing.
	names []string
	// whole says that the job succeeded.
	whole bool
	// known are the names, and the folders of trees, each with a slash behind it.
	known map[string]bool
}

func newEarlier(names []string, whole bool) earlier {
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for _, tree := range trees(names) {
		known[tree+"/"] = true
	}
	return earlier{names: names, whole: whole, known: known}
}

func (e earlier) has(name string, isFolder bool) bool {
	if isFolder {
		name += "/"
	}
	return e.known[name]
}

// earlier looks for the results of an earlier job. It returns an error if a file has the name of a result and
// nothing proves that a job has written it.
func (t target) earlier() (earlier, error) {
	m, err := t.disk.readManifest(t.path)
	if err != nil {
		return earlier{}, err
	}
	done, err := t.disk.lstat(t.at(SuccessName))
	if err != nil {
		return earlier{}, err
	}
	e := earlier{whole: done != nil}
	if m.Files == nil {
		return e, t.checkNothing(SuccessName, SummaryName)
	}
	e = newEarlier(t.results(m), e.whole)
	e.token = m.Token
	return e, t.checkTrees(e.names)
}

// results returns the names of the results in a folder and of the pages about them, the manifest last.
func (t target) results(m Manifest) []string { return append(pages(t.path), m.names()...) }

// checkNothing refuses files that have names of results although there is no manifest.
func (t target) checkNothing(names ...string) error {
	for _, name := range names {
		if t.disk.exists(t.at(name)) {
			return foreign("there is a file %s and no %s", name, ManifestName)
		}
	}
	return nil
}

// ReportName is the name of the page about results, in the folder of these. No manifest lists it, since it is made
// later. When a job replaces the results, it removes the page about them.
const ReportName = "report.html"

// PageMark comes at the beginning of every page about results, so that it can be told from a file of somebody else.
const PageMark = `<meta name="generator" content="runjob report">`

// pageBeginning is how many bytes of a file tell whether it is a page.
const pageBeginning = 1 << 10

// IsPage reports whether a file is a page about results. It is an error if the file cannot be read.
func IsPage(name string) (bool, error) {
	begin, err := storage.ReadBeginning(name, pageBeginning)
	return bytes.Contains(begin, []byte(PageMark)), err
}

// pages returns the name of the page about results in a folder, if there is a readable one.
func pages(folder string) (names []string) {
	if is, err := IsPage(storage.Join(folder, ReportName)); err == nil && is {
		names = append(names, ReportName)
	}
	return names
}
