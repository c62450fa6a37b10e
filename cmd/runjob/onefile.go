package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline"
)

// fileEnding matches the ending of a name of --output that is a file, not a folder.
var fileEnding = regexp.MustCompile(
	`(?i)\.((?:jsonl|ndjson|json|csv|tsv|txt|warc|tar)(?:\.gz|\.zst)?|parquet|arrow|zip)$`)

// isOneFile reports whether a value of --output means one file, or the standard output, and not an existing folder.
func isOneFile(name string) bool {
	info, err := os.Stat(name)
	return name == corpus.Stdin || fileEnding.MatchString(name) && (err != nil || !info.IsDir())
}

// oneFile turns the one output of a job into one file. The job writes into a folder of its own, so that the file
// appears only when it is whole.
type oneFile struct {
	name, folder, output string
	out                  io.Writer // the standard output
	isKept               bool      // the folder stays
}

// toOneFile makes a job write into a folder of its own if its output is to be one file; else it returns nil.
func toOneFile(c *job.Config, isLocal bool, out io.Writer) (*oneFile, error) {
	if !isOneFile(c.Output) {
		return nil, nil
	}
	o := &oneFile{name: c.Output, out: out}
	refuse := func(format string, args ...any) (*oneFile, error) {
		return nil, failure.Errorf(failure.Usage, "--output %s: is one file, not a folder: "+format,
			append([]any{shellName(o.name)}, args...)...)
	}
	outputs := c.Outputs()
	switch {
	case len(outputs) != 1:
		return refuse("choose one of the outputs %s with --emit", strings.Join(outputs, ", "))
	case c.State != "" || c.Resume || c.Layout == output.Tree || !isLocal:
		return refuse("leave out --state, --resume, --layout tree, --async, --report and other runners, " +
			"or name a folder")
	case slices.ContainsFunc(slices.Concat(c.Input, c.Reference), func(input string) bool {
		return o.name != corpus.Stdin && storage.Contains(input, o.name)
	}):
		return refuse("it is part of what is read: name another file")
	}
	o.output = outputs[0]
	if ending := output.Format(o.wanted()); ending != "" && !slices.Contains(output.Copies, o.output) {
		if !slices.Contains(output.Formats, ending) {
			return refuse("rows of %s are written as %s", o.output, strings.Join(job.Values("output_format"), ", "))
		}
		if slices.Contains(c.Given, "output_format") && c.OutputFormat != ending {
			return refuse("--output-format %s says otherwise: leave one of them out", c.OutputFormat)
		}
		c.OutputFormat = ending
	}
	if _, err := storage.Stat(o.name); o.name != corpus.Stdin && !c.Overwrite && !errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Stat(o.name); err != nil || info.Mode().IsRegular() { // a pipe or a device has no content
			return nil, failure.Errorf(failure.Storage, "--output %s: exists: --overwrite replaces it",
				shellName(o.name))
		}
	}
	o.folder = o.name + ".partial" // a name that tells what it is, also in a message about its place
	if o.name == corpus.Stdin || storage.Scheme(o.name) != "" {
		var err error
		if o.folder, err = os.MkdirTemp("", "runjob-output-"); err != nil {
			return nil, failure.Errorf(failure.Storage, "hold the output: %w", err)
		}
	}
	c.Output = o.folder
	return o, nil
}

// end removes the folder, unless its results could not become one file.
func (o *oneFile) end() {
	if o != nil && !o.isKept {
		os.RemoveAll(o.folder) // what is left has a name that tells what it is
	}
}

func (o *oneFile) publish(summary *finished.Summary) error {
	if o == nil {
		return nil
	}
	summary.Config.Output = o.name
	folder, err := finished.Open(o.folder)
	if err != nil {
		return failure.New(failure.Storage, err)
	}
	path := o.name
	if path == corpus.Stdin {
		path = "" // as other commands have it
	}
	out, finish, err := openOutput(path, o.out)
	if err != nil {
		return failure.Errorf(failure.Storage, "--output: %w", err)
	}
	err = o.write(out, folder.Paths(o.output))
	if o.isKept = errors.Is(err, failure.Usage); o.isKept {
		err = fmt.Errorf("%w; the results are in %s", err, shellName(o.folder))
	}
	return finish(err)
}

// checkCopies refuses, before the job, a file that cannot have the copies of records as they are in the input.
func (o *oneFile) checkCopies(ctx context.Context, c job.Config) error {
	if o == nil || !slices.Contains(output.Copies, o.output) {
		return nil
	}
	found, err := pipeline.Check(ctx, c)
	if err == nil {
		err = o.check(found.Endings)
	}
	return err
}

// wanted returns the ending of the file, empty if its name has none.
func (o *oneFile) wanted() string {
	if parts := fileEnding.FindStringSubmatch(strings.ToLower(o.name)); parts != nil {
		return parts[1]
	}
	return ""
}

// check returns an error if files with these endings cannot become the file.
func (o *oneFile) check(endings []string) error {
	wanted := o.wanted()
	for _, ending := range endings {
		switch {
		case wanted != "" && wanted != ending && !(isLines(wanted) && isLines(ending)):
			return failure.Errorf(failure.Usage,
				"--output %s: %s has the records as they are in the input: name a file that ends with .%s",
				shellName(o.name), o.output, ending)
		case len(endings) > 1 && !isLines(ending):
			return failure.Errorf(failure.Usage,
				"--output %s: %s has %d files of %s, which are not joined: name a folder",
				shellName(o.name), o.output, len(endings), ending)
		}
	}
	return nil
}

// write writes files of an output as one file: files of lines one after the other, in the compression of its name.
func (o *oneFile) write(out io.Writer, paths []string) (err error) {
	wanted, endings := o.wanted(), []string{}
	for _, path := range paths {
		_, ending, _ := strings.Cut(filepath.Base(path), ".")
		endings = append(endings, ending)
	}
	if err := o.check(endings); err != nil {
		return err
	}
	endings = slices.Compact(endings)
	if len(endings) == 1 && (wanted == "" || path.Ext(wanted) == path.Ext(endings[0])) {
		for _, path := range paths {
			if err := copyFile(out, path, false); err != nil {
				return err
			}
		}
		return nil
	}
	packed := io.WriteCloser(unpacked{out})
	switch path.Ext(wanted) {
	case ".gz":
		packed = gzip.NewWriter(out)
	case ".zst":
		if packed, err = zstd.NewWriter(out, zstd.WithEncoderConcurrency(1)); err != nil {
			return fmt.Errorf("compress the output: %w", err)
		}
	}
	for _, path := range paths {
		if err := copyFile(packed, path, true); err != nil {
			return err
		}
	}
	return packed.Close()
}

// isLines reports whether files with that ending can follow each other in one file.
func isLines(ending string) bool {
	format, _, _ := strings.Cut(ending, ".")
	return slices.Contains([]string{"jsonl", "ndjson", "lines", "txt"}, format)
}

type unpacked struct{ io.Writer }

func (unpacked) Close() error { return nil }

func copyFile(out io.Writer, path string, decodes bool) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	defer file.Close()
	content := io.Reader(file)
	if decodes {
		decoded, end, err := decoding(path, file)
		if err != nil {
			return fmt.Errorf("read results: %w", err)
		}
		defer end()
		content = decoded
	}
	_, err = io.Copy(out, content)
	return err
}
