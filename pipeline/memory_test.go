package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/ground/storage/storagetest"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/settle/write"
	"mirrorbeam/internal/start/failure"
	"mirrorbeam/internal/start/listing"
	"mirrorbeam/job"
	"mirrorbeam/transforms"
)

// runIn runs the graph of a configuration, and returns its outputs. Everything is written to a folder of any storage.
func runIn(t *testing.T, config job.Config, folder string) (string, error) {
	t.Helper()
	scheme, err := config.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	inputs, size, err := listing.Inputs(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	inputs.Splits = corpus.Splits(inputs.Files, 1<<13)
	list := storage.Join(folder, "inputs.gob")
	if err := documents.WriteInputs(list, inputs); err != nil {
		return "", err
	}
	j := transforms.NewJob(&config, transforms.Extent{Scheme: scheme, Bytes: size, Splits: len(inputs.Splits)}).In(folder, folder)
	if _, err := execute(context.Background(), j, &config); err != nil {
		return "", err
	}
	result, err := write.ReadResult(folder)
	if err != nil {
		return "", err
	}
	if work.TempBytes(folder) == 0 {
		t.Errorf("the files in %s take no room", folder)
	}
	var all strings.Builder
	for _, file := range result.Files {
		b, err := storage.ReadFile(storage.Join(folder, file.Temporary))
		if err != nil {
			return "", err
		}
		if int64(len(b)) != file.Bytes {
			t.Errorf("%s has %d bytes, and %d were written", file.Name, len(b), file.Bytes)
		}
		fmt.Fprintf(&all, "%s\n%s", file.Name, b)
	}
	return all.String(), nil
}

// TestJobWithoutRoom: when its storage is full, a job fails for that reason, at any point of its work.
func TestJobWithoutRoom(t *testing.T) {
	failing(t)
	config := lawConfig(t, putCorpus(t, plain, cut(oddities(lawSeed), 3)...))
	m, folder := storagetest.NewMemory(t)
	var writes atomic.Int64
	m.Ask = func(operation, _ string) error {
		if operation == "commit" {
			writes.Add(1)
		}
		return nil
	}
	if _, err := runIn(t, config, folder); err != nil {
		t.Fatal(err)
	}
	all := writes.Load()
	for _, room := range []int64{1, all / 4, all / 2, all - 2} {
		m, folder := storagetest.NewMemory(t)
		var writes atomic.Int64
		m.Ask = func(operation, _ string) error {
			if operation == "commit" && writes.Add(1) > room {
				return syscall.ENOSPC
			}
			return nil
		}
		_, err := runIn(t, config, folder)
		if err != nil {
			err = failure.OfTask(&config, err)
		}
		if !errors.Is(err, ErrStorage) || !strings.Contains(fmt.Sprint(err), "memory") {
			t.Errorf("room for %d of %d files: %v", room, all, err)
		}
	}
}

// TestBucketToBucket: a job whose input, temporary files and output are all in another storage than the local disk
// publishes the same files. So does one whose results replace earlier ones.
func TestBucketToBucket(t *testing.T) {
	config := lawConfig(t, putCorpus(t, plain, cut(oddities(lawSeed), 3)...))
	runJob(t, config)
	want := allFiles(t, config.Output)
	_, folder := storagetest.NewMemory(t)
	config.Input = []string{copyFiles(t, config.Input[0], storage.Join(folder, "input"))}
	config.Output, config.Temp = storage.Join(folder, "output"), storage.Join(folder, "temp")
	for range 2 {
		summary, err := Run(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		got := allFiles(t, config.Output)
		if len(got) != len(want) || len(got) < 5 {
			t.Errorf("%d files, want %d", len(got), len(want))
		}
		for name, content := range want {
			sameText(t, name, got[name], content)
		}
		if summary.TempBytes == 0 {
			t.Error("the temporary files took no room")
		}
		config.Overwrite = true
	}
	if left := allFiles(t, config.Temp); len(left) > 0 {
		t.Errorf("temporary files are left: %d", len(left))
	}
}

// allFiles returns the results in a folder of any storage, by name. What tells of the run itself is left out.
func allFiles(t *testing.T, folder string) map[string]string {
	t.Helper()
	s, err := storage.Of(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for info, err := range s.List(folder) {
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(info.Name, folder+"/")
		if name == "summary.json" || name == "manifest.json" {
			continue
		}
		content, err := storage.ReadFile(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(content)
	}
	return files
}

// copyFiles copies the files in a folder of the local disk to a folder of any storage, which it returns.
func copyFiles(t *testing.T, from, to string) string {
	t.Helper()
	for info, err := range (storage.Local{}).List(from) {
		if err != nil {
			t.Fatal(err)
		}
		content, err := storage.ReadFile(info.Name)
		if err == nil {
			err = storage.WriteFile(to+strings.TrimPrefix(info.Name, from), content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}
