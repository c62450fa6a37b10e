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
	"mirrorbeam/internal/outputs"
	"mirrorbeam/internal/storage"
	"mirrorbeam/internal/work"
)

const (
	// filesOfProcess is the number of other files that the process opens, and some to spare.
	filesOfProcess = 8
	// filesOfTask is the number of files that a task has open at a time.
	filesOfTask = 4
)

// checkOpenFiles refuses to start if the job would run out of files in the middle of its work.
func checkOpenFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("ask for the limit of open files: %w", err)
	}
	opened, err := os.ReadDir("/dev/fd")
	needed := uint64(len(opened) + filesOfProcess + filesOfTask*work.Cores())
	if errors.Is(err, syscall.EMFILE) || limit.Cur < needed {
		return fmt.Errorf("only %d files may be open at a time, and the job needs %d: raise the limit with 'ulimit -n 1024' and run the job again", limit.Cur, needed)
	}
	return nil
}

// firstReject describes the first reject. The folder holds the files of the result.
func firstReject(folder string, result outputs.Result) string {
	for _, file := range result.Files {
		if file.Output != output.Rejects {
			continue
		}
		row, err := firstRow(folder, file)
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

func firstRow(folder string, file output.File) (row rejectRow, err error) {
	f, err := storage.Open(storage.Join(folder, file.Temporary))
	if err != nil {
		return row, err
	}
	defer f.Close()
	stream := f.From(0)
	defer stream.Close()
	reader := bufio.NewReader(stream)
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
