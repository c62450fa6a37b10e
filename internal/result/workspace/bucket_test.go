package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// contents returns the files in a folder, keyed by their names in it.
func contents(t *testing.T, s storage.Storage, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for info, err := range s.List(folder) {
		if err != nil {
			t.Fatal(err)
		}
		content, err := storage.ReadFile(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(info.Name, folder+"/")] = string(content)
	}
	return files
}

// runInBucket writes clusters with the given content and publishes them.
func runInBucket(folder, content string, shards int) error {
	w, err := Open(Options{Output: folder + "/out/", Temp: folder + "/temp", Overwrite: true})
	if err != nil {
		return err
	}
	defer w.Close()
	if err := storage.WriteFile(storage.Join(w.Temp, "run-file"), []byte("x")); err != nil {
		return err
	}
	var files []output.File
	for shard := range shards {
		name := output.ShardName(output.Clusters, shard, shards, output.JSONL)
		if err := storage.WriteFile(storage.Join(w.Partial, "temporary"+name), []byte(content)); err != nil {
			return err
		}
		files = append(files, output.File{
			Name:      name,
			Output:    output.Clusters,
			Temporary: "temporary" + name,
			Bytes:     int64(len(content)),
		})
	}
	return w.Publish(files, map[string]string{"summary": content})
}

// holdsResults returns an error unless a folder holds the results of a run that wrote this content, and
// nothing else.
func holdsResults(files map[string]string, content string, shards int) error {
	left := maps.Clone(files)
	for shard := range shards {
		name := output.ShardName(output.Clusters, shard, shards, output.JSONL)
		if left[name] != content {
			return fmt.Errorf("%s holds %q, want %q", name, left[name], content)
		}
		delete(left, name)
	}
	if !strings.Contains(left[SummaryName], content) {
		return fmt.Errorf("the summary is %q", left[SummaryName])
	}
	for _, name := range []string{ManifestName, SummaryName, SuccessName} {
		if _, is := left[name]; !is {
			return fmt.Errorf("there is no %s", name)
		}
		delete(left, name)
	}
	delete(left, "notes")
	if len(left) > 0 {
		return fmt.Errorf("there are also %v", slices.Sorted(maps.Keys(left)))
	}
	return nil
}

func TestBucket(t *testing.T) {
	m, folder := storagetest.NewMemory(t)
	for _, run := range []struct {
		content string
		shards  int
	}{{"old", 3}, {"new", 2}, {"newest", 5}} {
		if err := runInBucket(folder, run.content, run.shards); err != nil {
			t.Fatal(err)
		}
		if err := holdsResults(contents(t, m, folder+"/out"), run.content, run.shards); err != nil {
			t.Error(err)
		}
		if left := contents(t, m, folder+"/temp"); len(left) > 0 {
			t.Errorf("temporary files are left: %v", left)
		}
	}
	if _, err := Open(Options{Output: folder + "/out", Temp: folder + "/temp"}); err == nil ||
		!strings.Contains(err.Error(), "is not empty") {
		t.Errorf("results would be replaced: %v", err)
	}
	if err := Check(folder+"/out", false); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a check: %v", err)
	}
	if err := errors.Join(Check(folder+"/out", true), Check(folder+"/another", false)); err != nil {
		t.Errorf("a check: %v", err)
	}
}

// TestBucketHeld: two runs cannot work on one output folder.
func TestBucketHeld(t *testing.T) {
	_, folder := storagetest.NewMemory(t)
	w, err := Open(Options{Output: folder + "/out", Temp: folder + "/temp"})
	if err != nil {
		t.Fatal(err)
	}
	if err := runInBucket(folder, "other", 1); err == nil || !strings.Contains(err.Error(), "another job is writing") {
		t.Errorf("a second run: %v", err)
	}
	w.Close()
	if err := runInBucket(folder, "other", 1); err != nil {
		t.Error(err)
	}
}

// TestBucketForeign: what no job has written stays.
func TestBucketForeign(t *testing.T) {
	m, folder := storagetest.NewMemory(t)
	put := func(name string) {
		if err := storage.WriteFile(storage.Join(folder, name), []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	put("out/notes")
	put("out/clusters-00000-of-00001.jsonl")
	if err := runInBucket(folder, "x", 1); err == nil || !strings.Contains(err.Error(), "no job has written") {
		t.Errorf("somebody's file would be replaced: %v", err)
	}
	if err := runInBucket(folder, "x", 2); err != nil {
		t.Fatal(err)
	}
	if files := contents(t, m, folder+"/out"); files["notes"] != "{}" ||
		files["clusters-00000-of-00001.jsonl"] != "{}" {
		t.Errorf("somebody's files are gone: %v", files)
	}
	put("out/manifest.json")
	if err := runInBucket(folder, "x", 2); err == nil || !strings.Contains(err.Error(), "does not come from a job") {
		t.Errorf("somebody's manifest: %v", err)
	}
}

// TestBucketKilled lets the storage fail from any operation on, as if the process had died there. The next
// run finds the old results or the new ones, or finishes the new ones.
func TestBucketKilled(t *testing.T) {
	errDied := errors.New("died")
	for at := int64(1); ; at++ {
		m, folder := storagetest.NewMemory(t)
		var operations atomic.Int64
		var dies atomic.Bool
		m.Ask = func(string, string) error {
			if dies.Load() && operations.Add(1) >= at {
				return errDied
			}
			return nil
		}
		if err := runInBucket(folder, "old", 3); err != nil {
			t.Fatal(err)
		}
		dies.Store(true)
		err := runInBucket(folder, "new", 2)
		dies.Store(false)
		if err == nil && operations.Load() < at {
			break
		}
		m.Expire(folder + "/out/" + leaseName) // a dead process renews no lease
		for name := range contents(t, m, folder+"/temp") {
			run, _, _ := strings.Cut(name, "/")
			m.Expire(folder + "/temp/" + run + lockSuffix)
		}
		w, openErr := Open(Options{Output: folder + "/out", Temp: folder + "/temp", Overwrite: true})
		if openErr != nil {
			t.Fatalf("after %d operations: %v", at, openErr)
		}
		w.Close()
		files := contents(t, m, folder+"/out")
		if asOld, asNew := holdsResults(files, "old", 3), holdsResults(files, "new", 2); asOld != nil && asNew != nil {
			t.Errorf("after %d operations (%v): neither the old results (%v) nor the new ones (%v)", at, err, asOld,
				asNew)
		} else if err == nil && asNew != nil {
			t.Errorf("after %d operations: a run without an error has not published: %v", at, asNew)
		}
		if left := contents(t, m, folder+"/temp"); len(left) > 0 {
			t.Errorf("after %d operations: temporary files are left: %v", at, left)
		}
		if at > 1000 {
			t.Fatal("the run never ends")
		}
	}
}

// TestBucketJournal: a journal cannot lead out of the folder.
func TestBucketJournal(t *testing.T) {
	for _, content := range []string{
		"", "{}", `{"moves":[{"from":"a","to":"../b"},{"from":"_SUCCESS","to":"_SUCCESS"}]}`,
		`{"moves":[{"from":"a","to":"b"}]}`,
		`{"moves":[{"from":"_SUCCESS","to":"_SUCCESS"}],"remove":["x/y"]}`,
		`{"moves":[{"from":"_SUCCESS","to":"_SUCCESS"}],"more":1}`,
	} {
		if j, err := parseJournal([]byte(content)); err == nil {
			t.Errorf("%s is taken for %+v", content, j)
		}
	}
	_, folder := storagetest.NewMemory(t)
	if _, err := storage.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
