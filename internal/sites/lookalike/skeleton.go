package lookalike

import (
	"strings"

	"mirrorbeam/internal/read/confusables"
)

// spelled replaces digits and signs that are read as letters, and pairs of letters that look like one. Those of package
// confusables are replaced before.
var spelled = strings.NewReplacer("2", "z", "3", "e", "4", "a", "5", "s", "7", "t", "9", "g", "@", "a", "$", "s", "!", "l", "|", "l", "vv", "w", "cl", "d")

// Skeleton returns what a name looks like: two names with one skeleton look much the same. It is no name itself. The
// letters i and l are one.
func Skeleton(name string) string {
	return spelled.Replace(string(confusables.Append(nil, []byte(name))))
}
