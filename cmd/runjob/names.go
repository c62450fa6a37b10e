package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/inflate"
	"mirrorbeam.dev/internal/mirrors"
	"mirrorbeam.dev/internal/mirrors/names"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/job"
)

type namesCommand struct {
	Protected string   `required:"" placeholder:"FILE"`
	Input     []string `required:"" sep:"none" placeholder:"PATH"`
	Allow     string   `placeholder:"FILE"`
	State     string   `placeholder:"DIR"`
	Output    string   `placeholder:"FILE"`
	Rejects   string   `placeholder:"FILE"`
}

func (c *namesCommand) Validate() error {
	err := errors.Join(job.CheckLocal("output", c.Output), job.CheckLocal("rejects", c.Rejects))
	if c.State != "" {
		err = errors.Join(err, job.CheckPlace("state", c.State))
	}
	if err == nil && c.Output != "" && c.Output == c.Rejects {
		err = fmt.Errorf("--rejects %s: is the file of --output: name another one", c.Rejects)
	}
	return err
}

func (c *namesCommand) Run(ctx context.Context, stdout io.Writer) (err error) {
	start := time.Now()
	out, finish, err := openOutput(c.Output, stdout)
	if err != nil {
		return failure.Errorf(failure.Storage, "--output: %w", err)
	}
	rows := bufio.NewWriter(out)
	finder, err := c.finder(json.NewEncoder(rows))
	if err == nil {
		err = c.find(ctx, finder)
	}
	if err == nil {
		err = rows.Flush()
	}
	// The state remembers what has been written.
	if err = finish(err); err == nil && c.State != "" {
		err = c.writeState(finder.State())
	}
	if err != nil {
		return err
	}
	say(os.Stderr, "%s, %s rejected", counted(finder.Names, "name"), count(finder.Rejected))
	if r := finder.FirstReject; finder.Rejected > 0 {
		say(os.Stderr, ", such as line %d %s: %s", r.Line, quoting.Text(r.Text), r.Reason)
	}
	say(os.Stderr, "\n%s like protected ones, %s in known campaigns; %s new\n%.1f s\n", counted(finder.Alike, "name"),
		count(finder.Known), counted(finder.New, "campaign"), time.Since(start).Seconds())
	return nil
}

func (c *namesCommand) writeState(state []byte) (err error) {
	if storage.Scheme(c.State) == "" {
		err = os.MkdirAll(c.State, 0o777)
	}
	if err == nil {
		err = storage.WriteFile(c.statePath(), state)
	}
	if err != nil {
		return failure.Errorf(failure.Storage, "--state: %w", err)
	}
	return nil
}

func (c *namesCommand) find(ctx context.Context, finder *names.Finder) (err error) {
	if c.Rejects != "" {
		rejects, finish, err := openOutput(c.Rejects, nil)
		if err != nil {
			return failure.Errorf(failure.Storage, "--rejects: %w", err)
		}
		defer func() { err = finish(err) }()
		lines := json.NewEncoder(rejects)
		finder.Rejects = func(r names.Reject) error { return lines.Encode(r) }
	}
	for _, path := range c.Input {
		if err := readNames(ctx, path, finder); err != nil {
			return err
		}
	}
	return finder.Finish()
}

func (c *namesCommand) finder(rows *json.Encoder) (finder *names.Finder, err error) {
	read := func(setting, path string) string {
		list, fault := storage.ReadFile(path)
		if fault != nil && err == nil {
			err = failure.Errorf(failure.Input, "read --%s: %w", setting, fault)
		}
		return string(list)
	}
	list, allowed := read("protected", c.Protected), ""
	if c.Allow != "" {
		allowed = read("allow", c.Allow)
	}
	if err != nil {
		return nil, err
	}
	protected, err := mirrors.Protected(list)
	if err != nil {
		return nil, failure.Errorf(failure.Usage, "--protected %s: %w", c.Protected, err)
	}
	var state []byte
	if c.State != "" {
		if state, err = storage.ReadFile(c.statePath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, failure.Errorf(failure.Storage, "read --state: %w", err)
		}
	}
	write := func(c *names.Campaign) error { return rows.Encode(c) }
	if finder, err = names.NewFinder(protected, state, write); err != nil {
		return nil, failure.Errorf(failure.Storage, "--state %s: %w", c.State, err)
	}
	if finder.Allows, err = mirrors.Allowed(allowed); err != nil {
		return nil, failure.Errorf(failure.Usage, "--allow %s: %w", c.Allow, err)
	}
	return finder, nil
}

func (c *namesCommand) statePath() string { return strings.TrimSuffix(c.State, "/") + "/names.tsv" }

func readNames(ctx context.Context, path string, finder *names.Finder) error {
	var list io.Reader = interruptible{ctx, os.Stdin}
	if path != corpus.Stdin {
		file, err := storage.Open(path)
		if err != nil {
			return failure.Errorf(failure.Input, "read names: %w", err)
		}
		defer file.Close()
		stream := file.From(0)
		defer stream.Close()
		list = stream
	}
	list, end, err := decoding(path, list)
	if err == nil {
		defer end()
		err = finder.Read(list)
	}
	if err != nil {
		return failure.Errorf(failure.Input, "read names in %s: %w", path, err)
	}
	return ctx.Err()
}

func decoding(path string, file io.Reader) (content io.Reader, end func(), err error) {
	decoders := map[string]func() *inflate.Reader{".gz": inflate.NewGzip, ".zst": inflate.NewZstd}
	for ending, decoder := range decoders {
		if strings.HasSuffix(path, ending) {
			decoded := decoder()
			return decoded, func() { decoded.Close() }, decoded.Reset(file, inflate.Options{})
		}
	}
	return file, func() {}, nil
}
