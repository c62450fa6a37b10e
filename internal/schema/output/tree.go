package output

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Layout says how the outputs with records of the input are laid out: [Unique], [Annotated] and [Trimmed].
type Layout string

// The layouts.
const (
	// Shards numbers the files, one for each input file, as the other outputs have them.
	Shards Layout = "shards"
	// Tree gives each output a folder, in which the folders and files of the input have their names.
	Tree Layout = "tree"
)

// Copies lists the outputs with records of the input.
var Copies = []string{Unique, Annotated, Trimmed}

// TreeName returns the name of the file of an output in the layout [Tree]. The copy is its path in the folder of the
// output.
func TreeName(output, copied string) string { return output + "/" + copied }

// IsTreeName reports whether TreeName may have made a name: it leads nowhere but into the folder of an output.
func IsTreeName(name string) bool {
	output, copied, _ := strings.Cut(name, "/")
	if !slices.Contains(Copies, output) || !utf8.ValidString(name) || strings.ContainsAny(name, "\x00\\") {
		return false
	}
	isNowhere := func(element string) bool { return element == "" || element == "." || element == ".." }
	return !slices.ContainsFunc(strings.Split(copied, "/"), isNowhere) && filepath.IsLocal(name)
}

// IsName reports whether a job may give a file that name.
func IsName(name string) bool { return IsShardName(name) || IsTreeName(name) }
