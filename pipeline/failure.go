package pipeline

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mirrorbeam/internal/output"
	"mirrorbeam/transforms"
)

// explain reduces the error of a runner to what a task said. Runners wrap it in
// the plan of the stage, line by line; all that is left of its type is the text.
func explain(err error) error {
	text := err.Error()
	kind, text, found := transforms.ParseFault(text)
	if !found {
		return err
	}
	err = errors.New(text)
	switch kind {
	case transforms.InputFault:
		return failure{ErrInput, err}
	case transforms.StorageFault:
		return failure{ErrStorage, err}
	}
	return err
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
