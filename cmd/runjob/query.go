package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/inspect/query"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/job"
)

type queryCommand struct {
	State        string   `required:"" placeholder:"DIR"`
	Input        []string `required:"" sep:"none" placeholder:"PATH"`
	Format       string   `default:"auto" placeholder:"FORMAT"`
	IDField      string   `placeholder:"FIELD"`
	TextField    string   `placeholder:"FIELD"`
	Fingerprints string   `placeholder:"FIELD"`
	Output       string   `placeholder:"FILE"`
	Threshold    *float64 `placeholder:"J"`
	Add          bool
	Window       int `default:"0" placeholder:"N"`
	Top          int `default:"0" placeholder:"N"`
}

func (c *queryCommand) Validate() error {
	if err := errors.Join(job.CheckPlace("state", c.State), job.CheckLocal("output", c.Output),
		job.CheckValue("format", c.Format)); err != nil {
		return err
	}
	if c.Top < 0 {
		return fmt.Errorf("--top %d: must be 0 or more", c.Top)
	}
	if c.Window < 0 {
		return fmt.Errorf("--window %d: must be 0 or more", c.Window)
	}
	if c.Window > 0 && !c.Add {
		return fmt.Errorf("--window %d: limits the documents that --add holds: give --add, or leave --window out",
			c.Window)
	}
	if c.Threshold != nil && !(*c.Threshold > 0 && *c.Threshold <= 1) {
		return fmt.Errorf("--threshold %g: must be above 0 and at most 1", *c.Threshold)
	}
	return nil
}

func (c *queryCommand) Run(ctx context.Context, stdout io.Writer) (err error) {
	start := time.Now()
	index, err := query.OpenState(ctx, c.State, showProgress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, index.Close()) }()
	opened := time.Since(start)
	out, finish, err := openOutput(c.Output, stdout)
	if err != nil {
		return failure.Errorf(failure.Storage, "--output: %w", err)
	}
	defer func() { err = finish(err) }()
	q := query.Request{
		Input:        c.Input,
		Stdin:        interruptible{ctx, os.Stdin},
		Format:       c.Format,
		IDField:      c.IDField,
		TextField:    c.TextField,
		Fingerprints: c.Fingerprints,
		Top:          c.Top,
		Add:          c.Add,
		Window:       c.Window,
		Progress:     showProgress,
	}
	if c.Threshold != nil {
		q.Threshold = *c.Threshold
	}
	counts, err := index.Answer(ctx, q, out)
	if err != nil {
		return err
	}
	where := "in the state"
	if c.Add {
		where += " or before"
	}
	say(os.Stderr, "%s, %s of them with near-duplicates %s, %s in all; %s rejected",
		counted(counts.Documents, "document"), count(counts.Matched), where, counted(counts.Matches, "pair"),
		count(counts.Rejected))
	sayIf(os.Stderr, counts.Rejected > 0, ", such as %s", counts.FirstReject)
	took := time.Since(start) - opened
	say(os.Stderr, "\n%.1f s, of which %.1f s to open the index", time.Since(start).Seconds(), opened.Seconds())
	sayIf(os.Stderr, counts.Documents > 0, "; %.3f ms a document", 1e3*took.Seconds()/float64(counts.Documents))
	say(os.Stderr, "\n")
	return nil
}

// openOutput opens a file for rows, the standard output if its name is empty. It returns a function that finishes it: a
// file gets its name only if there was no error.
func openOutput(path string, stdout io.Writer) (out io.Writer, finish func(error) error, err error) {
	if path == "" {
		return stdout, func(err error) error { return err }, nil
	}
	w, err := createOutput(path)
	if err != nil {
		return nil, nil, err
	}
	buffered := bufio.NewWriterSize(w, 1<<20)
	return buffered, func(fault error) error {
		defer w.Abort()
		if err := buffered.Flush(); err != nil && fault == nil {
			fault = failure.Errorf(failure.Storage, "write rows: %w", err)
		}
		if fault != nil {
			return fault
		}
		if err := w.Commit(); err != nil {
			return failure.Errorf(failure.Storage, "--output: %w", err)
		}
		return nil
	}, nil
}

// createOutput begins a file of rows. If something else has its name, such as a pipe, it opens that.
func createOutput(path string) (storage.Writer, error) {
	if err := checkOthers(path); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("%w: name a file", err)
		}
		return special{file}, nil
	}
	final, err := followed(path)
	if err != nil {
		return nil, err
	}
	w, err := storage.Create(final)
	if err != nil {
		return nil, fmt.Errorf("%w: make the folder, or name another file", err)
	}
	return w, nil
}

// checkOthers refuses a path for a file that another user has made, or may exchange. In a folder such as /tmp, another
// user may leave a link by the name of the file, which leads to a file of this user.
func checkOthers(path string) error {
	if storage.Scheme(path) != "" {
		return nil
	}
	err := storage.CheckOwner(path)
	if err == nil {
		err = storage.CheckFolder(filepath.Dir(path))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w: make the folder, or name another file", path, err)
	case err != nil:
		return fmt.Errorf("%s: %w: name a file in a folder of your own", path, err)
	}
	return nil
}

// special is a pipe or a device. Everything written to it is visible at once.
type special struct{ *os.File }

func (s special) Commit() error { return s.Close() }

func (s special) Abort() { _ = s.Close() }

// followed returns the path to which symbolic links lead. So the links stay links. A link to nothing is an error.
func followed(path string) (string, error) {
	final, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return final, err
	}
	if target, err := os.Readlink(path); err == nil {
		return "", fmt.Errorf("%s is a symbolic link to %s, which does not exist: make the file, or name another one",
			path, target)
	}
	return path, nil
}
