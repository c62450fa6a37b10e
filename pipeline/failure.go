package pipeline

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mirrorbeam/internal/output"
	"mirrorbeam/transforms"
)

// explain reduces the error of a runner to what a task said. Runners wrap it in
// the plan of the stage, line by line; all that is left of its type is the text.
func (c *Config) explain(err error) error {
	kind, text, found := transforms.ParseFault(err.Error())
	if !found {
		return c.fault(nil, err)
	}
	err = errors.New(text)
	switch kind {
	case transforms.InputFault:
		return c.fault(ErrInput, err)
	case transforms.StorageFault:
		return c.fault(ErrStorage, err)
	}
	return err
}

// fault is an error of a kind, or of none. Where a limit of the machine is
// behind it, it says so first, and what to do.
func (c *Config) fault(kind, err error) error {
	text := err.Error()
	says := func(errno syscall.Errno) bool { return strings.Contains(text, errno.Error()) }
	where, flag := "the temporary folder "+c.tempFolder(), "--temp"
	if strings.Contains(text, partialPrefix) {
		where, flag = "the output folder "+c.Output, "--output"
	}
	remedy := ""
	switch {
	case says(syscall.EMFILE), says(syscall.ENFILE):
		remedy = "no more files can be opened: raise the limit with 'ulimit -n 1024' and run the job again"
	case says(syscall.ENOSPC):
		remedy = fmt.Sprintf("the disk of %s is full: make room on it, or name a folder on another disk with %s", where, flag)
	case says(syscall.EDQUOT):
		remedy = fmt.Sprintf("your quota on the disk of %s is used up: make room on it, or name a folder on another disk with %s", where, flag)
	case says(syscall.EFBIG):
		remedy = fmt.Sprintf("a file in %s may not grow so large: raise the limit with 'ulimit -f unlimited' and run the job again", where)
	}
	switch {
	case remedy != "":
		// Of what a runner wraps around it the last line is the cause.
		return failure{ErrStorage, fmt.Errorf("%s (%s)", remedy, text[strings.LastIndexByte(text, '\n')+1:])}
	case kind != nil:
		return failure{kind, err}
	}
	return err
}

const (
	// filesOfProcess are those that the process opens besides, and some to spare.
	filesOfProcess = 8
	// filesOfTask are those that a task has open at a time.
	filesOfTask = 4
)

// checkOpenFiles refuses to start where the job would run out of files in the middle
// of its work.
func checkOpenFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("ask for the limit of open files: %w", err)
	}
	opened, err := os.ReadDir("/dev/fd")
	needed := uint64(len(opened) + filesOfProcess + filesOfTask*transforms.Cores())
	if errors.Is(err, syscall.EMFILE) || limit.Cur < needed {
		return fmt.Errorf("only %d files may be open at a time, and the job needs %d: raise the limit with 'ulimit -n 1024' and run the job again", limit.Cur, needed)
	}
	return nil
}

// firstReject returns the first reject in words.
func firstReject(result transforms.Result) string {
	for _, file := range result.Files {
		if file.Output != transforms.Rejects {
			continue
		}
		row, err := firstRow(file)
		if err != nil {
			break
		}
		return fmt.Sprintf("the first is at %s:%d: %s", row.File, row.Position, row.Error)
	}
	return "their list cannot be read back"
}

type rejectRow struct {
	File     string
	Position int64
	Error    string
}

func firstRow(file output.File) (row rejectRow, err error) {
	f, err := os.Open(file.Temporary)
	if err != nil {
		return row, err
	}
	defer f.Close()
	reader := bufio.NewReader(f)
	switch {
	case strings.HasSuffix(file.Name, ".zst"):
		decoder, err := zstd.NewReader(reader)
		if err != nil {
			return row, err
		}
		defer decoder.Close()
		reader = bufio.NewReader(decoder)
	case strings.HasSuffix(file.Name, ".gz"):
		decoder, err := gzip.NewReader(reader)
		if err != nil {
			return row, err
		}
		reader = bufio.NewReader(decoder)
	}
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return row, err
	}
	return row, json.Unmarshal(line, &row)
}
