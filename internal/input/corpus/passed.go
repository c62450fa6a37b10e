package corpus

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/storage"
)

// PassedFiles are files of searched folders that are passed over.
type PassedFiles struct {
	// Counts counts them by the reason: one of those in brackets, or the ending of the name, which no format takes.
	Counts map[string]int64
	// Examples has the first file, in the order of paths, of each reason.
	Examples map[string]string
	Matched  map[string]bool
}

// The reasons to pass a file over that do not follow from the ending of its name.
const (
	hidden      = "(hidden)"       // a name with a leading dot, or in such a folder
	marker      = "(marker)"       // see markers
	leftOver    = "(left over)"    // the working folder of a job that was killed
	excluded    = "(excluded)"     // matched by Exclude
	notIncluded = "(not included)" // not matched by Include
	sideFile    = "(side file)"    // describes the data of its folder
	sameFile    = "(same file)"    // listed by another path
	noFile      = "(link)"         // in an archive: a link, or a device
	replaced    = "(replaced)"     // in an archive: a later file has the name
	noEnding    = "(none)"
	otherEnding = "(other)" // no word, or beyond mostEndings
	mostEndings = 100
)

// markers are names of files and folders that engines put next to data. A star stands for any text.
var markers = []string{
	"_SUCCESS", "_metadata", "_common_metadata", "_temporary", "_committed_*", "_started_*", "_spark_metadata",
	"_delta_log", "_delta_index",
	"_change_data", "_symlink_format_manifest", "_impala_insert_staging",
}

// attributes is a hidden file that belongs to the data of its folder.
const attributes = ".gitattributes"

// reasonOf says why a file of a folder is passed over, given the parts of its path there; empty: the parts do not tell.
func reasonOf(parts ...string) string {
	for _, part := range parts {
		switch {
		case isLeftover(part):
			return leftOver
		case isHidden(part) && part != attributes:
			return hidden
		case part != "" && part[0] == '_' && slices.ContainsFunc(markers, func(pattern string) bool {
			is, _ := path.Match(pattern, part)
			return is
		}):
			return marker
		}
	}
	return ""
}

type passed struct{ reason, name string }

func (l *lister) pass(c *candidate, reason string) {
	at := cmp.Or(c.absolute, storage.AbsoluteIn(l.working, c.Path))
	l.passed[at] = passed{reason, cmp.Or(c.relative, c.Path)}
}

// passedFiles sums up the files that are passed over, and that no other input stands for.
func (l *lister) passedFiles() PassedFiles {
	sum := PassedFiles{Matched: l.matched}
	// so that the endings that have a count of their own are always the same
	for _, at := range slices.Sorted(maps.Keys(l.passed)) {
		file := l.passed[at]
		if _, isRead := l.found[at]; isRead && file.reason != sameFile {
			continue
		}
		reason := file.reason
		if reason == "" {
			reason = sum.ending(file.name)
		}
		sum = sum.Add(PassedFiles{Counts: map[string]int64{reason: 1}, Examples: map[string]string{reason: file.name}})
	}
	return sum
}

func (p PassedFiles) ending(name string) string {
	ending := nameEnding(name)
	const longest, letters = 12, "abcdefghijklmnopqrstuvwxyz0123456789_-"
	switch _, known := p.Counts[ending]; {
	case ending == "" || ending == ".":
		return noEnding
	case len(ending) > longest, strings.Trim(ending[1:], letters) != "", !known && len(p.Counts) >= mostEndings:
		return otherEnding
	}
	return ending
}

// Add adds others, and returns the sum. The receiver may be empty.
func (p PassedFiles) Add(other PassedFiles) PassedFiles {
	if p.Counts == nil && len(other.Counts) > 0 {
		p.Counts, p.Examples = map[string]int64{}, map[string]string{}
	}
	if len(other.Matched) > 0 {
		p.Matched = maps.Clone(p.Matched)
		if p.Matched == nil {
			p.Matched = map[string]bool{}
		}
		maps.Copy(p.Matched, other.Matched)
	}
	for reason, files := range other.Counts {
		p.Counts[reason] += files
		if one, is := p.Examples[reason]; !is || other.Examples[reason] < one {
			p.Examples[reason] = other.Examples[reason]
		}
	}
	return p
}

// fileKind is a kind of files that a folder may stand for. The first kind that has a file in it counts.
type fileKind struct {
	takes     func(name string) bool
	isArchive bool
	// guesses reports whether a file of that name is of the kind if its content is; nil: its content is not asked.
	guesses func(name string) bool
}

func (l *lister) kinds() []fileKind {
	var all []fileKind
	if wanted, isFormat := ParseFormat(l.Format); isFormat {
		d := wanted.Definition()
		all = []fileKind{{takes: anything}}
		if !d.AllNames {
			isOwn := func(name string) bool { return slices.Contains(d.Endings, nameEnding(name)) }
			isOther := func(name string) bool { return !isOwn(name) && !isArchiveName(name) && name != readme }
			all = []fileKind{{takes: isOwn, guesses: isOther}, {takes: isOther, guesses: isOther}}
		}
	} else {
		// A folder of data may also hold notes and pages about the data. These are not documents.
		for _, areWhole := range []bool{l.PrefersTexts, !l.PrefersTexts} {
			kind := fileKind{takes: func(name string) bool {
				named, known := nameFormat(name)
				return known && named.IsWhole() == areWhole
			}}
			if areWhole {
				kind.guesses = isUnknown
			}
			all = append(all, kind)
		}
	}
	all = append(all, fileKind{takes: isArchiveName, isArchive: true}, fileKind{takes: isUnknown, guesses: isUnknown})
	if len(l.Include) > 0 {
		all = append(all, fileKind{takes: anything})
	}
	return all
}

const readme = "README.md"

func isUnknown(name string) bool {
	_, known := nameFormat(name)
	return !known && !isArchiveName(name)
}

func isArchiveName(name string) bool {
	return slices.Contains([]string{".tar", ".tgz", ".txz", ".tbz2", ".zip", ".wacz"}, nameEnding(name))
}

// choose notes which of the files of an input are read. It reports whether there is any, or all are left out on
// purpose. Without kinds every file is wanted.
func (l *lister) choose(found []*candidate, kinds []fileKind) (matched bool, err error) {
	chosen, leftOut := l.pick(found, kinds)
	for _, c := range chosen {
		if c.isResult {
			folder, name := cutFolder(filepath.ToSlash("./" + c.Path))
			return false, holdsResults(strings.TrimPrefix(folder, "./"), name)
		}
		l.put(c)
	}
	return len(chosen) > 0 || leftOut && len(kinds) == 0, nil
}

// pick returns the files to read, and notes why others are passed over. LeftOut: Include or Exclude left some out.
func (l *lister) pick(found []*candidate, kinds []fileKind) (chosen []*candidate, leftOut bool) {
	var wanted []*candidate
	for _, c := range found {
		switch {
		case l.matchesAny(l.Exclude, c.relative):
			l.pass(c, excluded)
		case len(l.Include) > 0 && !l.matchesAny(l.Include, c.relative):
			l.pass(c, notIncluded)
		default:
			wanted = append(wanted, c)
		}
	}
	leftOut = len(wanted) < len(found)
	if kinds == nil {
		return wanted, leftOut
	}
	isSide := describing(wanted)
	wanted = slices.DeleteFunc(wanted, func(c *candidate) bool {
		if isSide(c) {
			l.putSide(c)
			return true
		}
		return false
	})
	of := l.kindOf(wanted, kinds)
	for _, c := range wanted {
		switch name := path.Base(c.relative); {
		case of.takes(name) || c.isFolder:
			c.unpacks, c.isGuessed = of.isArchive, of.guesses != nil && of.guesses(name) && !c.isFolder
			chosen = append(chosen, c)
		case of.guesses != nil && of.guesses(name):
			c.unpacks, c.isGuessed = false, true
			chosen = append(chosen, c)
		case name == readme:
			l.putSide(c)
		default:
			l.pass(c, "")
		}
	}
	return chosen, leftOut
}

// ofKnownTypes returns the candidates without those whose content, not their name, shows that they are no documents.
func (l *lister) ofKnownTypes(inspected []*candidate) []*candidate {
	return slices.DeleteFunc(inspected, func(c *candidate) bool {
		if c.isOther {
			delete(l.found, c.absolute)
			l.pass(c, "")
		}
		return c.isOther
	})
}

func (l *lister) putSide(c *candidate) {
	l.pass(c, sideFile)
	if c.Member == nil {
		at := storage.AbsoluteIn(l.working, c.Path)
		l.sides[at] = File{Path: c.Path, Name: c.relative, Input: l.input}
	}
}

// fewData is how many times as many texts as files of data make a folder one of texts, if they are larger, too.
const fewData = 10

func (l *lister) kindOf(found []*candidate, kinds []fileKind) fileKind {
	taken := make([][]*candidate, len(kinds))
	for i, kind := range kinds {
		for _, c := range found {
			if kind.takes(path.Base(c.relative)) {
				taken[i] = append(taken[i], c)
			}
		}
	}
	first := max(slices.IndexFunc(taken, func(files []*candidate) bool { return len(files) > 0 }), 0)
	if _, isFormat := ParseFormat(l.Format); isFormat || first > 0 || len(taken[1]) < fewData*len(taken[0]) ||
		l.PrefersTexts {
		return kinds[first]
	}
	bytes := func(files []*candidate) (sum int64) {
		for _, c := range files {
			sum += c.size()
		}
		return sum
	}
	if bytes(taken[1]) > bytes(taken[0]) {
		return kinds[1]
	}
	return kinds[0]
}

func (c *candidate) size() int64 {
	if c.listed.Name != "" || c.Member != nil {
		return max(c.listed.Size, c.Size)
	}
	info, err := os.Stat(c.Path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// matchesAny reports whether one of the patterns matches a path, or a folder on it, and notes the first that does.
func (l *lister) matchesAny(patterns []string, relative string) bool {
	if len(patterns) == 0 {
		return false
	}
	parts := strings.Split(relative, "/")
	for _, pattern := range patterns {
		fixed, elements, _ := parsePattern(pattern) // the settings were checked
		elements = append(fixed, elements...)
		if len(elements) == 1 && !strings.Contains(strings.TrimRight(pattern, "/"), "/") {
			elements = append([]string{"**"}, elements...)
		}
		for n := range parts {
			if matchParts(elements, parts[:n+1], func(string) bool { return false }) {
				if l.matched == nil {
					l.matched = map[string]bool{}
				}
				l.matched[pattern] = true
				return true
			}
		}
	}
	return false
}

// CheckPattern returns an error if a pattern of Include or Exclude can match nothing.
func CheckPattern(pattern string) error {
	fixed, elements, err := parsePattern(pattern)
	if err == nil && len(fixed)+len(elements) == 0 {
		err = fmt.Errorf("the pattern is empty")
	}
	return err
}

// descriptions are what Hugging Face's library and hub have next to the files of a data set.
var descriptions = []string{"dataset_dict.json", "dataset_info.json", "dataset_infos.json", attributes}

// describing returns what tells the files that describe others: of data sets of Hugging Face, the lists of pages and
// the index of a crawl that is saved as WACZ, and the log and the cache of HTTrack.
func describing(found []*candidate) func(*candidate) bool {
	// folders, and names of files that tell what a folder is
	arrows, archives, tells := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range found {
		folder, name := path.Split(c.relative)
		named, known := nameFormat(name)
		arrows[folder] = arrows[folder] || nameEnding(name) == ".arrow"
		archives[folder] = archives[folder] || known && named == WARC
		if name == "datapackage.json" || name == "hts-log.txt" {
			tells[c.relative] = true
		}
	}
	return func(c *candidate) bool {
		folder, name := path.Split(c.relative)
		above, last := path.Split(strings.TrimSuffix(folder, "/"))
		isPackage := func(root string) bool { return tells[root+"datapackage.json"] && archives[root+"archive/"] }
		project, _, isCache := strings.Cut(folder, "hts-cache/")
		switch {
		case slices.Contains(descriptions, name), name == "state.json" && arrows[folder]:
			return true
		case tells[folder+"hts-log.txt"] && (strings.HasPrefix(name, "hts-") || name == "index.html"),
			isCache && tells[project+"hts-log.txt"]:
			return true
		}
		return isPackage(folder) && strings.HasPrefix(name, "datapackage") ||
			isPackage(above) && slices.Contains([]string{"pages", "indexes", "logs"}, last)
	}
}

// tableLog is a log that says which files of a folder are still part of a table.
type tableLog struct{ name, folder, suffix, export string }

var tableLogs = []tableLog{
	{
		"Delta Lake", "_delta_log", "",
		`duckdb -c "INSTALL delta; LOAD delta; COPY (FROM delta_scan('%s')) TO 'snapshot.parquet'"`,
	},
	{
		"Iceberg", "metadata", ".metadata.json",
		`duckdb -c "INSTALL iceberg; LOAD iceberg; SET unsafe_enable_version_guessing=true; COPY (FROM iceberg_scan('%s')) TO 'snapshot.parquet'"`,
	},
	{
		"Hudi", ".hoodie", "",
		`spark-sql --packages org.apache.hudi:hudi-spark3.5-bundle_2.12:1.0.2 -e "CREATE TABLE t USING hudi LOCATION '%[1]s'; INSERT OVERWRITE DIRECTORY '%[1]s.snapshot' USING parquet SELECT * FROM t"`,
	},
}

// logOf returns the log that a file belongs to, given its path from the folder of the log on; nil: none.
func logOf(parts []string) *tableLog {
	for i := range tableLogs {
		if log := &tableLogs[i]; len(parts) > 1 && parts[0] == log.folder &&
			strings.HasSuffix(parts[len(parts)-1], log.suffix) {
			return log
		}
	}
	return nil
}

func (t *tableLog) refusal(table string) error {
	return fmt.Errorf(
		"%s is a table of %s, which also has files that are no longer part of it: export the current snapshot with "+
			t.export+", and name that",
		table, t.name, table)
}

// checkAbove refuses a folder that is a table or a part of one. Has reports whether a folder has a file with an ending.
// In a bucket, where each look is a request, only partitions and folders called data are taken for parts.
func checkAbove(folder string, isStored bool, has func(folder, suffix string) bool) error {
	for isFirst := true; ; isFirst = false {
		for i := range tableLogs {
			if log := &tableLogs[i]; !(isStored && isFirst) &&
				has(strings.TrimSuffix(folder, "/")+"/"+log.folder, log.suffix) {
				return log.refusal(folder)
			}
		}
		above, name := path.Split(strings.TrimRight(folder, "/"))
		if above == "" || name == "" || isStored && !strings.Contains(name, "=") && name != "data" ||
			strings.HasSuffix(above, "://") {
			return nil
		}
		folder = strings.TrimRight(above, "/")
	}
}
