// Package listing finds the files that a configuration names, and cuts them into splits. It
// refuses folders for results that the job would read.
package listing

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

const (
	// leastSplit is how many bytes of text a task reads at least: enough to make the overhead of a task negligible.
	leastSplit = 8 << 20
	// With fewSplits, the last tasks of a large machine end together. Beyond, a task reads largeSplit bytes.
	fewSplits  = 32
	largeSplit = 32 << 20
	// A task that reads mostSplit bytes runs for some 20 seconds. Up to manySplits, more tasks beat fewer pieces.
	mostSplit  = 1 << 30
	manySplits = 1024
)

// SplitBytes returns how many bytes of text a task reads, for a corpus of size bytes. Every shard reads a piece of
// every split. So the number of splits grows slowly: some 32 from 256 MiB to 1 GiB of text, 512 for 16 GiB, 1,024 from
// 64 GiB up to 1 TiB.
func SplitBytes(size int64) int64 {
	byRoot := int64(leastSplit * math.Sqrt(float64(size)/(1<<30)))
	return max(leastSplit, min(size/fewSplits, largeSplit), byRoot, min(size/manySplits, mostSplit))
}

type listed struct {
	input, reference, ignored corpus.Listing
	fields                    []string // settings that were chosen
}

// Earlier is what an earlier job knows of the files of the next one. The zero Earlier knows nothing.
type Earlier struct {
	// Corpus are files of the input, even if the configuration does not name them.
	Corpus []corpus.File
	// Known are files that need not be opened while unchanged, see [corpus.Options]. They have the wanted fields.
	Known map[string]corpus.File
	// Columns are the columns that could be added to the records of the files.
	Columns []string
	// Order names the inputs of the files of Corpus, see [documents.Inputs].
	Order []string
	// HasRun says that there was a run whose settings hold: no fields are chosen any more. Fields are the settings that
	// were chosen then.
	HasRun bool
	Fields []string
}

// listConfig finds the files of a configuration, and may choose its fields. With an error it returns what it has found.
func listConfig(ctx context.Context, c *job.Config, known map[string]corpus.File,
	choosesFields bool,
) (found listed, err error) {
	if found.input, err = Corpus(ctx, c.Input, "input", c, known); err == nil {
		if choosesFields {
			found.fields = ChooseFields(c, found.input.Files)
		}
		err = cut(ctx, c, c.Input, &found.input)
	}
	if err != nil {
		return found, err
	}
	if len(c.Ignore) > 0 {
		if found.ignored, err = listBaseTexts(ctx, c); err != nil {
			return found, err
		}
	}
	if len(c.Reference) == 0 {
		return found, nil
	}
	if found.reference, err = Corpus(ctx, c.Reference, "reference", c, known); err == nil {
		for i := range found.reference.Files {
			found.reference.Files[i].Reference = true
		}
		err = cut(ctx, c, c.Reference, &found.reference)
	}
	if err != nil && ctx.Err() == nil {
		err = setting.Errorf("{reference}: %w", err)
	}
	return found, err
}

// Options returns how the files of a configuration are listed.
func Options(c *job.Config) corpus.Options {
	return corpus.Options{
		Format:       c.Format,
		Charset:      c.Encoding,
		MaxExpanded:  int64(c.MaxExpanded),
		Stdin:        c.Stdin,
		Include:      c.Include,
		Exclude:      c.Exclude,
		PrefersTexts: c.Code != (sketch.Code{}),
		NamesOnly:    c.DryRun,
	}
}

// cut finds out where files can be cut. An input without a readable file is an error, unless it is one of several.
func cut(ctx context.Context, c *job.Config, inputs []string, found *corpus.Listing) error {
	reading := c.Sketching(0).Reading
	if err := formats.Cut(ctx, found.Files, reading.Wanted()); err != nil {
		return fmt.Errorf("list inputs: %w", err)
	}
	var unread []corpus.File
	found.Files, unread = corpus.CutUnread(found.Files)
	found.Unread = append(found.Unread, unread...)
	of := func(files []corpus.File, input int) []corpus.File {
		return slices.DeleteFunc(slices.Clone(files), func(f corpus.File) bool { return f.Input != input })
	}
	for input := range inputs {
		if unread := of(found.Unread, input); len(unread) > 0 && len(of(found.Files, input)) == 0 &&
			(len(found.Files) == 0 || !found.Named[input]) {
			return fmt.Errorf("list inputs: %w", corpus.Unreadable(unread))
		}
	}
	return nil
}

// Corpus lists the files of one corpus, which have the format of the configuration; known are as in [corpus.Options].
// It reports its progress now and then, under the name of the corpus, if the configuration wants to know.
func Corpus(ctx context.Context, inputs []string, name string, c *job.Config,
	known map[string]corpus.File,
) (corpus.Listing, error) {
	options := Options(c)
	options.Known = known
	if c.Progress != nil {
		options.Progress = func(files int64) {
			c.Progress(fmt.Sprintf("listing the %s: %d files so far", name, files))
		}
	}
	return corpus.List(ctx, inputs, options)
}

// inputs returns the files, cut into splits, and about how many bytes of text
// they hold. It is an error if they do not have the fields of the configuration.
func (l listed) inputs(ctx context.Context, c *job.Config, earlier Earlier) (documents.Inputs, int64, error) {
	order, err := l.number(c, earlier.Order)
	if err != nil {
		return documents.Inputs{}, 0, err
	}
	files, err := l.files(earlier.Corpus)
	if err != nil {
		return documents.Inputs{}, 0, err
	}
	if c.State != "" {
		files = corpus.Alone(files)
	}
	files = corpus.Group(files)
	if err := l.checkFields(ctx, c, files, earlier); err != nil {
		return documents.Inputs{}, 0, err
	}
	size := int64(0)
	for i := range files {
		size += files[i].TextSize()
	}
	var ignored []byte
	if len(c.Ignore) > 0 {
		if ignored, err = readBaseTexts(ctx, c, l.ignored.Files); err != nil {
			return documents.Inputs{}, 0, setting.Errorf("{ignore}: %w", err)
		}
	}
	inputs := documents.Inputs{
		Ignored: ignored,
		Order:   order,
		Fields:  append(l.fields, earlier.Fields...),
		Unread:  slices.Concat(l.reference.Unread, l.input.Unread),
		Passed:  corpus.PassedFiles{}.Add(l.input.Passed).Add(l.reference.Passed),
		Sides:   l.input.Sides,
		Files:   files,
		Splits:  corpus.Splits(files, SplitBytes(size)),
		Sources: corpus.AssignSources(files),
	}
	if len(inputs.Splits) == 0 && len(inputs.Unread) > 0 {
		return documents.Inputs{}, 0, fmt.Errorf("list inputs: %w", corpus.Unreadable(inputs.Unread))
	}
	return inputs, size, nil
}

// number gives the files the numbers of their inputs among all inputs, those that earlier jobs have named first. It
// returns the names of all inputs.
func (l listed) number(c *job.Config, earlier []string) (order []string, err error) {
	order = slices.Clone(earlier)
	working, err := storage.Absolute(".")
	if err != nil {
		return nil, fmt.Errorf("list inputs: %w", err)
	}
	for _, of := range []struct {
		names   []string
		listing corpus.Listing
	}{{c.Reference, l.reference}, {c.Input, l.input}} {
		numbers := make([]int, len(of.names))
		for i, name := range of.names {
			name = storage.AbsoluteIn(working, name)
			if numbers[i] = slices.Index(order, name); numbers[i] < 0 {
				numbers[i] = len(order)
				order = append(order, name)
			}
		}
		for _, files := range [][]corpus.File{of.listing.Files, of.listing.Unread} {
			for i := range files {
				files[i].Input = numbers[files[i].Input]
				if len(earlier) > 0 { // an earlier input may have reached the file, too
					path := storage.AbsoluteIn(working, files[i].Path)
					if first := slices.IndexFunc(order, func(input string) bool {
						return corpus.Reaches(input, path)
					}); first >= 0 {
						files[i].Input = min(files[i].Input, first)
					}
				}
			}
		}
	}
	return order, nil
}

// checkFields returns an error if the files do not have the fields of the configuration, or cannot be annotated.
func (l listed) checkFields(ctx context.Context, c *job.Config, files []corpus.File, earlier Earlier) error {
	reading := c.Sketching(0).Reading
	if err := c.CheckEffects(files); err != nil {
		return err
	}
	limits, isRecalled := reading.LineLimits(), func(f corpus.File) bool { return f.Recalled }
	if !slices.ContainsFunc(l.input.Files, isRecalled) && !slices.ContainsFunc(l.reference.Files, isRecalled) {
		// the others have been read
		named := slices.DeleteFunc(slices.Clone(files), func(f corpus.File) bool {
			return f.At(0).Unlisted || f.At(0).Unopened
		})
		if err := checkItems(named, reading.Wanted(), limits); err != nil {
			return setting.Errorf("{item_fields}: %w", err)
		}
		if len(c.ItemFields) > 0 {
			named = slices.DeleteFunc(named, func(f corpus.File) bool { return f.Reference })
		}
		if err := formats.Probe(named, reading.Wanted(), limits); err != nil {
			switch {
			case len(c.Weight) > 0:
				return setting.Errorf("{weight}: %w", err)
			case c.Fingerprints != "":
				return setting.Errorf("{fingerprints}: %w", err)
			}
			return formats.WithAdvice(err, LikelyText(named, reading.Wanted(), limits))
		}
	}
	if err := checkCopies(c, files); err != nil {
		return err
	}
	if c.Layout == output.Tree {
		if err := corpus.CheckCopyNames(files); err != nil {
			return setting.Errorf("{layout} tree: %w: leave {layout} out", err)
		}
	}
	files = slices.DeleteFunc(slices.Clone(files), func(f corpus.File) bool { return f.At(0).Unopened })
	if slices.Contains(c.Outputs(), output.Trimmed) && !c.RemovesOnly() {
		if err := formats.Cuttable(ctx, files, reading.Wanted()); err != nil {
			return setting.Errorf("{emit} trimmed: %w", err)
		}
	}
	isOpened := func(f corpus.File) bool { return !f.Recalled }
	name, columns := c.AddsColumns()
	if name == "" || slices.Equal(earlier.Columns, columns) && !slices.ContainsFunc(files, isOpened) {
		return nil
	}
	wanted := reading.Wanted()
	wanted.Columns = columns
	if err := formats.Annotatable(ctx, files, wanted, limits); err != nil {
		return setting.Errorf("{emit} "+name+": %w", err)
	}
	return nil
}

// checkItems returns an error if no file of the reference has one of the fields of items.
func checkItems(files []corpus.File, wanted corpus.Wanted, limits corpus.Limits) error {
	for _, field := range wanted.Fields.Items {
		var missing error
		for _, file := range files {
			if !file.Reference {
				continue
			}
			err := formats.ProbeText([]corpus.File{file}, field, wanted, limits)
			if missing = cmp.Or(missing, err); err == nil {
				missing = nil
				break
			}
		}
		if missing != nil {
			return missing
		}
	}
	return nil
}

// checkCopies returns an error if only copies of records are wanted, and in another format than their files have:
// nothing would be of the format that was asked for.
func checkCopies(c *job.Config, files []corpus.File) error {
	isOther := func(name string) bool { return !slices.Contains(output.Copies, name) }
	if c.OutputFormat == output.JSONL || slices.ContainsFunc(c.Outputs(), isOther) {
		return nil
	}
	for i := range files {
		if ending := files[i].Ending(); !files[i].Reference && ending != string(c.OutputFormat) {
			return setting.Errorf(
				"{output_format} %s: %s has the records of the input as they are, so those of %s stay %s: "+
					"leave {output_format} out, "+
					"or convert the input first", c.OutputFormat, c.Outputs()[0], files[i].Path, ending)
		}
	}
	return nil
}

// files returns the files of the reference and the input, and the known files of the input that it does not list.
func (l listed) files(known []corpus.File) (files []corpus.File, err error) {
	// Workers may run in processes with another working folder.
	working, err := storage.Absolute(".")
	if err != nil {
		return nil, fmt.Errorf("list inputs: %w", err)
	}
	files = l.input.Files
	if len(known) > 0 {
		if known, err = l.staying(known, working); err == nil {
			files, err = corpus.Joined(files, known)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(l.reference.Files) > 0 {
		if files, err = corpus.WithReference(l.reference.Files, files); err != nil {
			return nil, err
		}
	}
	for i := range files {
		files[i].Path = storage.AbsoluteIn(working, files[i].Path)
		if member := files[i].Member; member != nil {
			member.Archive = storage.AbsoluteIn(working, member.Archive)
		}
	}
	return files, nil
}

// staying returns the known files that are not listed as unreadable. A file that is in the reference now is an error.
func (l listed) staying(known []corpus.File, working string) (staying []corpus.File, err error) {
	unread, references := map[string]bool{}, map[string]bool{}
	for _, file := range slices.Concat(l.input.Unread, l.reference.Unread) {
		unread[storage.AbsoluteIn(working, file.Path)] = true
	}
	for _, file := range l.reference.Files {
		references[storage.AbsoluteIn(working, file.Path)] = true
	}
	for _, file := range known {
		if references[file.Path] {
			return nil, setting.Errorf(
				"list inputs: %s of {reference} is in the corpus of the {state}, where {add} keeps it: "+
					"every document would be a copy of itself", file.Path)
		}
		if !unread[file.Path] {
			staying = append(staying, file)
		}
	}
	return staying, nil
}

// Inputs returns the files of a configuration, cut into splits, and about how many bytes of
// text they hold. It chooses fields that the configuration does not name. The error is of no kind yet.
func Inputs(ctx context.Context, config *job.Config) (documents.Inputs, int64, error) {
	found, err := listConfig(ctx, config, nil, true)
	if err != nil {
		return documents.Inputs{}, 0, err
	}
	return found.inputs(ctx, config, Earlier{})
}

// Apart does what [Inputs] does, for a job that writes: its folders must be apart from
// what it reads. The error is of a kind of package failure.
func Apart(ctx context.Context, config *job.Config, earlier Earlier) (documents.Inputs, int64, error) {
	found, err := listConfig(ctx, config, earlier.Known, !earlier.HasRun)
	// If the output is part of the input, the listing finds results of an earlier run. These are not the cause.
	if fault := checkApart(config, found); fault != nil {
		return documents.Inputs{}, 0, fault
	}
	var inputs documents.Inputs
	var size int64
	if err == nil {
		inputs, size, err = found.inputs(ctx, config, earlier)
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = failure.Explain(config, failure.Input, err)
	}
	return inputs, size, err
}

// checkApart refuses an output, temporary or state folder that this job, or the next one, would read, and input that
// the job would delete. The error is of a kind.
func checkApart(c *job.Config, found listed) error {
	for _, read := range []struct {
		setting string
		listing corpus.Listing
	}{{"input", found.input}, {"reference", found.reference}, {"ignore", found.ignored}} {
		for _, written := range []struct{ setting, folder string }{
			{"output", c.Output},
			{"temp", c.TempFolder()},
			{"state", c.State},
		} {
			if written.folder == "" {
				continue
			}
			folder, lies, err := read.listing.Searched(written.folder)
			if err != nil {
				return failure.New(failure.Storage, err)
			}
			if lies {
				return failure.New(failure.Usage,
					setting.Errorf("{"+written.setting+"} %s: is in the folder %s, which {"+read.setting+
						"} searches: another run would read results as documents: name a folder outside of it, "+
						"or the files to read, as in {"+read.setting+"} '%s'",
						written.folder, folder, storage.Join(folder, "*.jsonl")))
			}
		}
		if err := checkKept(c, read.setting, read.listing.Files); err != nil {
			return err
		}
	}
	return nil
}

// checkKept refuses input files that are results in the output folder, which the job would replace.
func checkKept(c *job.Config, name string, files []corpus.File) error {
	if storage.Scheme(c.Output) != "" {
		return checkKeptStored(c, name, files)
	}
	results := resultsIn(c.Output)
	if len(results) == 0 {
		return nil
	}
	read := make(map[corpus.Identity]bool, len(files))
	for _, file := range files {
		read[file.Identity] = file.Identity != corpus.Identity{}
	}
	for _, result := range results {
		path := filepath.Join(c.Output, result)
		if info, err := os.Stat(path); err == nil && read[storage.IdentityOf(info)] {
			return replaced(name, path)
		}
	}
	return nil
}

// resultsIn returns the names of files in a folder on the disk that may be results. What cannot be read has none: a
// fault of the folder is found when it is opened.
func resultsIn(folder string) (names []string) {
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(folder, path) // which is below it
		switch {
		case err != nil:
			return fs.SkipDir
		case !entry.IsDir() && isResult(name):
			names = append(names, name)
		case entry.IsDir() && name != "." && !output.IsTreeName(filepath.Join(name, "file")):
			return fs.SkipDir
		}
		return nil
	})
	return names
}

func replaced(name, path string) error {
	return failure.New(failure.Usage,
		setting.Errorf("{"+name+
			"}: %s is input, and as a result in the output folder it would be replaced: "+
			"name another folder with {output}", path))
}

// checkKeptStored does what checkKept does where files have one name each.
func checkKeptStored(c *job.Config, name string, files []corpus.File) error {
	folder := strings.TrimRight(c.Output, "/") + "/"
	for _, file := range files {
		if result, isThere := strings.CutPrefix(file.Path, folder); isThere && isResult(result) {
			return replaced(name, file.Path)
		}
	}
	return nil
}

func isResult(name string) bool {
	if slices.Contains([]string{workspace.ManifestName, workspace.SummaryName, workspace.SuccessName}, name) {
		return true
	}
	return output.IsTreeName(name) || slices.ContainsFunc(output.All(), func(output string) bool {
		return strings.HasPrefix(name, output+"-")
	})
}
