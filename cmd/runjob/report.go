package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"mirrorbeam.dev/internal/failure"
	runreport "mirrorbeam.dev/internal/inspect/report"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/job"
)

type reportCommand struct {
	Folder  string `arg:"" name:"dir"`
	Output  string `placeholder:"FILE"`
	HideIDs bool   `name:"hide-ids"`
	Texts   string `enum:"auto,yes,no" default:"auto" placeholder:"WHEN"`
}

func (c *reportCommand) Validate() error {
	err := checkArgument("dir", c.Folder)
	if c.Output != "" {
		err = errors.Join(err, job.CheckPlace("output", c.Output))
	}
	return err
}

func (c *reportCommand) Run(ctx context.Context, out io.Writer) error {
	page, err := c.page(ctx)
	if err != nil {
		return failure.New(failure.Input, err) // only the results can be at fault
	}
	if c.Output == "-" {
		_, err := out.Write(page)
		return err
	}
	path := c.path()
	if err := writePage(path, page); err != nil {
		return failure.New(failure.Storage, err)
	}
	say(os.Stderr, "report in %s\n", shellName(path))
	return nil
}

func (c *reportCommand) path() string {
	return cmp.Or(c.Output, storage.Join(c.Folder, workspace.ReportName))
}

func (c *reportCommand) page(ctx context.Context) ([]byte, error) {
	options := runreport.Options{HideIDs: c.HideIDs, Texts: runreport.TextUse(c.Texts)}
	folder, err := finished.Open(c.Folder)
	if err != nil {
		return nil, err
	}
	figures, err := runreport.Build(ctx, folder, options)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = runreport.Write(&b, figures)
	return b.Bytes(), err
}

func (c *runCommand) checkReport() error {
	switch {
	case !c.Report:
		return nil
	case c.Async || forLauncher():
		return failure.Errorf(failure.Usage,
			"--report needs finished results: run 'runjob finish --report' after the job "+
				"has ended")
	}
	return checkReportIn(c.Output)
}

func checkReportIn(folder string) error {
	if err := mayReplace(storage.Join(folder, workspace.ReportName)); err != nil {
		return failure.Errorf(failure.Storage, "--report: %w", err)
	}
	return nil
}

func (l *logging) report(ctx context.Context, wanted bool, folder string) error {
	if !wanted {
		return nil
	}
	of := reportCommand{Folder: folder, Texts: string(runreport.AutoTexts)}
	page, err := of.page(ctx)
	if err == nil {
		err = writePage(of.path(), page)
	}
	if err != nil {
		return failure.Errorf(failure.Storage, "the results are published, and --report fails: %w", err)
	}
	l.note("report in %s", shellName(of.path()))
	return nil
}

func writePage(path string, page []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the report: %w", err)
		}
	}()
	if err := mayReplace(path); err != nil {
		return err
	}
	return storage.WriteFile(path, page)
}

func mayReplace(path string) error {
	isPage, err := workspace.IsPage(path)
	if err == nil && !isPage {
		err = fmt.Errorf("%s exists and is not a report: move it, or name another file with --output", path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if target, err := os.Readlink(path); err == nil { // no name of a bucket is a link
		return fmt.Errorf("%s is a symbolic link to %s, which does not exist: name another file with --output", path,
			target)
	}
	return nil
}
