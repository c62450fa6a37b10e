package workspace

import (
	"bytes"

	"mirrorbeam/internal/ground/storage"
)

// The names of pages about results, in the folder of these. No manifest lists them, since they are made later. When a job
// replaces the results, it removes the pages about them.
const (
	ReportName     = "report.html"
	ComparisonName = "comparison.html"
)

// PageMark stands at the beginning of every page about results, so that it can be told from a file of somebody else.
const PageMark = `<meta name="generator" content="runjob report">`

// pageBeginning is how many bytes of a file tell whether it is a page.
const pageBeginning = 1 << 10

// IsPage reports whether a file is a page about results. It is an error if the file cannot be read.
func IsPage(name string) (bool, error) {
	begin, err := storage.ReadBeginning(name, pageBeginning)
	return bytes.Contains(begin, []byte(PageMark)), err
}

// pages returns the names of the pages about results in a folder. What cannot be read is none, and stays.
func pages(folder string) (names []string) {
	for _, name := range []string{ReportName, ComparisonName} {
		if is, err := IsPage(storage.Join(folder, name)); err == nil && is {
			names = append(names, name)
		}
	}
	return names
}
