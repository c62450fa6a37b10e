package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go"

	"mirrorbeam.dev/internal/util/goldentest"
)

// faults are the faults that a job may meet, in the order of the documentation.
var faults = []struct {
	name    string
	befalls func(*scene) observed
}{
	{"a record of 100 MB", func(s *scene) observed {
		s.write("in.jsonl", between(document("long", strings.Repeat("long ", 20_000_000))))
		return s.runjob().succeeds(3)
	}},
	{"100 MB without a line feed or JSON", func(s *scene) observed {
		s.write("in.jsonl", append([]byte(document("a", "one")), bytes.Repeat([]byte("x"), 100_000_000)...))
		return s.runjob().succeeds(2)
	}},
	{"a text, and a line, over `--max-document`", func(s *scene) observed {
		s.write("in.jsonl",
			between(document("text", strings.Repeat("x", 1001))+document("line", strings.Repeat("x", 2_000_000))))
		return s.runjob("--max-document", "1000").succeeds(4)
	}},
	{"a document of 2 MB that becomes too large for `--memory`", func(s *scene) observed {
		s.write("in.jsonl", between(document("large", strings.Repeat("(", 2_000_000))))
		return s.runjob("--code", "java,names", "--memory", "100MiB").succeeds(3)
	}},
	{"compressed input beyond `--max-expanded`", func(s *scene) observed {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, err := w.Write(bytes.Repeat([]byte(document("a", "one two")), 100_000))
		if err := errors.Join(err, w.Close()); err != nil {
			s.t.Fatal(err)
		}
		s.write("in.jsonl.gz", packed.Bytes())
		return s.runjob("--input", "in.jsonl.gz", "--max-expanded", "1MB").fails(3)
	}},
	{"JSON nested 100,000 deep, in an ignored field or for a text", func(s *scene) observed {
		deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
		s.write("in.jsonl", between(`{"other":`+deep+`,"text":"one"}`+"\n"+`{"text":`+deep+"}\n"))
		return s.runjob().succeeds(4)
	}},
	{"ids that are numbers of 20 digits", func(s *scene) observed {
		s.write("in.jsonl",
			[]byte(`{"id":12345678901234567890,"text":"one two"}`+"\n"+`{"id":12345678901234567891,"text":"One, two!"}`+
				"\n"))
		return s.named(s.runjob("--emit", "pairs,removed").succeeds(2), "12345678901234567890", "12345678901234567891")
	}},
	{"two documents with one id", func(s *scene) observed {
		s.write("in.jsonl", []byte(document("same", "one two")+document("same", "One, two!")))
		return s.named(s.runjob("--emit", "pairs,removed").succeeds(2), "in.jsonl:0", "in.jsonl:31")
	}},

	{"an input file that may not be read", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		if err := os.Chmod(filepath.Join(s.dir, "in.jsonl"), 0); err != nil {
			s.t.Fatal(err)
		}
		return s.unprivileged().fails(exitInput)
	}},
	{"an input file shortened during the job", func(s *scene) observed {
		return s.changing(func(path string) error { return os.Truncate(path, 10) })
	}},
	{"an input file rewritten during the job", func(s *scene) observed {
		return s.changing(func(path string) error {
			return os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)) // whatever the clock's resolution
		})
	}},
	{"an input file removed during the job", func(s *scene) observed { return s.changing(os.Remove) }},

	{"a disk that is too small for the temporary files", func(s *scene) observed {
		s.write("in.jsonl", randomCorpus(10_000))
		return s.cleared(s.onSmallDisk("size=1m", "--temp", "disk/temp"))
	}},
	{"a full disk under the temporary folder", func(s *scene) observed {
		s.write("in.jsonl", randomCorpus(10_000))
		// So many bands take more than the job is estimated to need.
		return s.cleared(s.onSmallDisk("size=30m", "--temp", "disk/temp", "--threshold", "0.3", "--recall", "0.99"))
	}},
	{"a disk that is full when `write` holds 640,000 pairs of clusters there", func(s *scene) observed {
		s.write("in.jsonl", cliques(80, 127))
		// The earlier stages take 30 MB of it.
		return s.cleared(s.onSmallDisk("size=40m", "--temp", "disk/temp", "--memory", "100MiB"))
	}},
	{"a full disk under the output folder", func(s *scene) observed {
		s.write("in.jsonl", randomCorpus(10_000))
		return s.cleared(s.onSmallDisk("size=1m", "--emit", "unique", "--temp", "temp", "--output", "disk/out"))
	}},
	{"a disk that is full when all but the manifest is written", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		// For the disk itself, two folders, the mark of one, clusters and rejects.
		return s.cleared(s.onSmallDisk("nr_inodes=6", "--temp", "temp", "--output", "disk/out"))
	}},
	{"a limit of the size of files, and earlier results to `--overwrite`", func(s *scene) observed {
		s.write("in.jsonl", randomCorpus(10_000))
		s.runjob().succeeds(10_000)
		s.before = s.outputs()
		return s.limited("-f 64", "--overwrite").fails(exitStorage)
	}},
	{"`--temp` in a folder that may not be written to", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		s.lock("locked")
		return s.unprivileged("--temp", "locked/temp").fails(exitStorage)
	}},
	{"`--temp` is a folder that may not be written to", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		s.lock("locked")
		return s.unprivileged("--temp", "locked").fails(exitStorage)
	}},
	{"`--temp` is a folder that everybody may write to", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		folder := filepath.Join(s.dir, "open")
		if err := errors.Join(os.Mkdir(folder, 0o700), os.Chmod(folder, 0o777)); err != nil {
			s.t.Fatal(err)
		}
		return s.runjob("--temp", "open").fails(exitStorage)
	}},
	{"`--temp` is a file", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		return s.runjob("--temp", "in.jsonl").fails(exitStorage)
	}},
	{"an output folder that may not be written to", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		s.lock("out")
		return s.unprivileged("--temp", "temp").fails(exitStorage)
	}},
	{"`--output` is a file", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		s.write("taken.jsonl", between(""))
		return s.runjob("--output", "taken.jsonl").fails(exitStorage)
	}},
	{"`TMPDIR` names no folder", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		j := s.runjob()
		j.Env = append(j.Env, "TMPDIR=/nonexistent")
		return j.succeeds(2)
	}},
	{"5 open files", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		return s.limited("-n 5").fails(exitStorage)
	}},
	{"16 open files", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		return s.limited("-n 16").fails(exitStorage)
	}},
	{"2 GB of address space (`ulimit -v 2000000`)", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		return s.limited("-v 2000000").fails(exitStorage)
	}},
	{"40 open files", func(s *scene) observed {
		s.write("in.jsonl", randomCorpus(10_000))
		return s.limited("-n 40", "--emit", "clusters,pairs,unique,removed").succeeds(10_000)
	}},

	{"`kill -9`, then the same command again", func(s *scene) observed {
		s.write("in.jsonl", largeCorpus())
		killed := s.runjob().pausedAtWork("run-*")
		killed.signal(syscall.SIGKILL)
		killed.Wait()
		for _, litter := range []string{"out.temp/run-*", "out/.partial-run-*"} {
			if found, _ := filepath.Glob(filepath.Join(s.dir, litter)); len(found) == 0 {
				s.t.Errorf("the killed job has left no %s for the next one to clear away", litter)
			}
		}
		seen := s.runjob().succeeds(lines(largeCorpus()))
		s.asFresh(largeCorpus())
		return seen
	}},
	{"`kill -9` of a job with `--resume`, then the same command again", func(s *scene) observed {
		s.write("in.jsonl", largeCorpus())
		killed := s.runjob("--resume").pausedAtWork("done-*")
		killed.signal(syscall.SIGKILL)
		killed.Wait()
		seen := s.runjob("--resume").succeeds(lines(largeCorpus()))
		if !strings.Contains(seen.message, "continuing from") {
			s.t.Errorf("the second job says %q", seen.message)
		}
		s.asFresh(largeCorpus())
		return seen
	}},
	{"`--output` in a bucket", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		return s.runjob("--output", "hdfs://bucket/out").fails(exitUsage)
	}},
	{"`--output` on the web", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		return s.runjob("--output", "https://host/out").fails(exitUsage)
	}},
	{"`--output` is a link to a folder that is not there", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		if err := os.Symlink("nowhere", filepath.Join(s.dir, "link")); err != nil {
			s.t.Fatal(err)
		}
		seen := s.runjob("--output", "link").fails(exitStorage)
		if _, err := os.Lstat(filepath.Join(s.dir, "link")); err != nil {
			s.t.Errorf("the link is gone: %v", err)
		}
		return seen
	}},
	{"`--overwrite`, and a file that no job has written by the name of a result", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		s.write("out/manifest.json", []byte(`{"token":"ABCDEFGHIJKLMNOPQRSTUVWXYZ","files":[{"name":"thesis.docx"}]}`))
		s.write("out/thesis.docx", []byte("mine"))
		s.before = s.outputs()
		return s.runjob("--overwrite").fails(exitStorage)
	}},
	{"a named pipe by the name of `manifest.json`", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		if err := errors.Join(os.Mkdir(filepath.Join(s.dir, "out.d"), 0o777),
			syscall.Mkfifo(filepath.Join(s.dir, "out.d/manifest.json"), 0o666)); err != nil {
			s.t.Fatal(err)
		}
		return s.runjob("--output", "out.d", "--overwrite").fails(exitStorage)
	}},
	{"a job server that does not answer", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		return s.runjob("--runner", "portable", "--endpoint", "127.0.0.1:1").fails(exitUnavailable)
	}},
	{"another job with the same `--state`", (*scene).besideAnother},
	{"a damaged file of the `--state`", (*scene).withDamagedState},
	{"`--state` in a folder to which everybody may write", (*scene).withOpenState},
	{"another job on the same output folder", func(s *scene) observed {
		s.write("in.jsonl", largeCorpus())
		first := s.runjob().pausedAtWork("run-*")
		code, message := s.runjob().ends()
		if code != exitUnavailable {
			s.t.Errorf("exit code %d, want %d", code, exitUnavailable)
		}
		first.signal(syscall.SIGCONT)
		first.succeeds(lines(largeCorpus()))
		return observed{
			code, "`" + s.unnamed(strings.TrimSuffix(message, "\n")) + "`",
			"the other job continues and succeeds",
		}
	}},
	{"SIGTERM", func(s *scene) observed { return s.interrupted(syscall.SIGTERM) }},
	{"Ctrl-C", func(s *scene) observed { return s.interrupted(syscall.SIGINT) }},
	{"SIGHUP, as when a terminal is closed", func(s *scene) observed {
		// The test may run where SIGHUP is ignored. Catch it, so that the program does not inherit that.
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, syscall.SIGHUP)
		defer signal.Stop(caught)
		return s.interrupted(syscall.SIGHUP)
	}},
	{"SIGHUP to a job under `nohup`", func(s *scene) observed {
		s.write("in.jsonl", largeCorpus())
		j := s.command("nohup", append([]string{"runjob"}, jobArgs(nil)...)...).pausedAtWork("run-*")
		j.signal(syscall.SIGHUP, syscall.SIGCONT)
		return j.succeeds(lines(largeCorpus()))
	}},

	{"a gzip file that is cut short", func(s *scene) observed {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		w.Write(randomCorpus(4000))
		w.Close()
		s.write("in.jsonl.gz", packed.Bytes()[:packed.Len()/2])
		seen := s.runjob("--input", "in.jsonl.gz").succeeds(-1)
		if strings.HasPrefix(seen.documents, "0 ") {
			s.t.Error("nothing was read of the first half")
		}
		return seen
	}},
	{"garbage between the records", func(s *scene) observed {
		s.write("in.jsonl", between("\x00\xff\x1b\x07 garbage\n"))
		return s.runjob().succeeds(3)
	}},
	{"a text that is not valid UTF-8", func(s *scene) observed {
		s.write("in.jsonl", between(`{"id":"latin1","text":"caf`+"\xe9"+`"}`+"\n"))
		return s.runjob().succeeds(3)
	}},
	{"a binary file by the name of `in.jsonl`", func(s *scene) observed {
		s.write("in.jsonl", bytes.Repeat([]byte("\x7fELF\x02\x01\x01\x00\n"), 1000))
		return s.runjob().fails(exitInput)
	}},
	{"a file of UTF-16", func(s *scene) observed {
		wide := []byte("\xff\xfe")
		for _, c := range between("") {
			wide = append(wide, c, 0)
		}
		s.write("in.jsonl", wide)
		return s.runjob().succeeds(2)
	}},
	{"an empty file", func(s *scene) observed {
		s.write("in.jsonl", nil)
		return s.runjob().succeeds(0)
	}},
	{"a named pipe in an input folder", func(s *scene) observed {
		s.write("folder/in.jsonl", between(""))
		if err := syscall.Mkfifo(filepath.Join(s.dir, "folder/pipe.jsonl"), 0o666); err != nil {
			s.t.Fatal(err)
		}
		return s.runjob("--input", "folder").succeeds(3)
	}},
	{"`--output` in an input folder", func(s *scene) observed {
		s.write("folder/in.jsonl", between(""))
		return s.runjob("--input", "folder", "--output", "folder/results").fails(exitUsage)
	}},
	{"a zstd file that needs a window of 2 GiB", func(s *scene) observed {
		// Magic, descriptor, window of 1<<31, one raw block that is the last.
		s.write("folder/large.jsonl.zst", []byte("\x28\xb5\x2f\xfd\x00\xa8\x19\x00\x00{}\n"))
		s.write("folder/in.jsonl", between(""))
		return s.runjob("--input", "folder").succeeds(3)
	}},
	{"a page of Parquet that becomes too large for `--memory`", func(s *scene) observed {
		var file bytes.Buffer
		text := strings.Repeat("many words ", 3<<18)
		rows := []struct {
			Text string `parquet:"text,zstd"`
		}{{text}, {text}}
		if err := parquet.Write(&file, rows, parquet.PageBufferSize(1<<30)); err != nil {
			s.t.Fatal(err)
		}
		s.write("in.parquet", file.Bytes())
		return s.runjob("--input", "in.parquet", "--memory", "100MiB").fails(exitInput)
	}},
	{"a folder without a file to read", func(s *scene) observed {
		s.write("folder/notes.dat", []byte("\x00\x01\x02"))
		return s.runjob("--input", "folder").fails(exitInput)
	}},
}

// document writes a record.
func document(id, text string) string { return fmt.Sprintf(`{"id":%q,"text":%q}`+"\n", id, text) }

// between puts lines between two good documents.
func between(lines string) []byte {
	return []byte(document("first", "one of two good documents") + lines + document("last", "the other is unlike it"))
}

func lines(corpus []byte) int64 { return int64(bytes.Count(corpus, []byte("\n"))) }

// changing runs a job of two files and changes the last one before it is read.
func (s *scene) changing(change func(path string) error) observed {
	s.t.Helper()
	s.write("in/a.jsonl", largeCorpus())
	s.write("in/z.jsonl", between(""))
	j := s.runjob("--input", "in").pausedAtWork("inputs.gob")
	if err := change(filepath.Join(s.dir, "in/z.jsonl")); err != nil {
		s.t.Fatal(err)
	}
	j.signal(syscall.SIGCONT)
	return j.fails(exitInput)
}

// cleared runs a job that must find its disk full and leave no files on it.
func (s *scene) cleared(j *started) observed {
	s.t.Helper()
	seen := j.fails(exitStorage)
	if left, err := os.ReadFile(filepath.Join(s.dir, "left")); err != nil || len(left) > 0 {
		s.t.Errorf("on the disk are left: %q (%v)", left, err)
	}
	return seen
}

// cliques returns a corpus of clusters of one size. All documents of a cluster are alike, and none of two clusters are.
func cliques(clusters, size int) []byte {
	random := rand.New(rand.NewPCG(3, 4))
	var corpus bytes.Buffer
	for range clusters {
		var text strings.Builder
		for range 20 {
			fmt.Fprintf(&text, "%x ", random.Uint32())
		}
		for last := range size {
			fmt.Fprintf(&corpus, "{\"text\":\"%s%d\"}\n", text.String(), last)
		}
	}
	return corpus.Bytes()
}

// lock makes a folder that nobody may write to.
func (s *scene) lock(folder string) {
	s.t.Helper()
	if err := os.Mkdir(filepath.Join(s.dir, folder), 0o555); err != nil {
		s.t.Fatal(err)
	}
}

// interrupted sends a signal to a job at work.
func (s *scene) interrupted(signal syscall.Signal) observed {
	s.t.Helper()
	s.write("in.jsonl", largeCorpus())
	j := s.runjob().pausedAtWork("run-*")
	j.signal(signal, syscall.SIGCONT)
	return j.fails(128 + int(signal))
}

// documentation is where faults are described for users. The rows that few would read are in another file.
const (
	documentation = "../../docs/reference/errors.md"
	fewRead       = "testdata/faults.md"
)

// TestFaults causes each fault and compares what the program does with its row in the documentation or in the other
// file. If UPDATE is set, it rewrites them; a new fault is for the documentation.
func TestFaults(t *testing.T) {
	lead, table, found := strings.Cut(read(t, documentation), tableHead)
	if !found {
		t.Fatalf("%s has no table under %q", documentation, tableHead)
	}
	rows, files := map[string]string{}, map[string]string{}
	for file, text := range map[string]string{documentation: table, fewRead: read(t, fewRead)} {
		for row := range strings.Lines(text) {
			name, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
			rows[name], files[name] = row, file
		}
	}
	now := map[string]*strings.Builder{documentation: {}, fewRead: {}}
	for _, fault := range append(slices.Clip(faults), inputFaults...) {
		want, file := rows[fault.name], cmp.Or(files[fault.name], documentation)
		row := want
		t.Run(fault.name, func(t *testing.T) {
			seen := fault.befalls(newScene(t))
			cells := fmt.Sprintf("| %s | %d | %s | %s |\n", fault.name, seen.exit,
				strings.ReplaceAll(seen.message, "|", `\|`), seen.documents)
			row = strings.ReplaceAll(cells, "|  |", "| |")
			if row != want && !goldentest.Updates() {
				t.Errorf("%s differs (UPDATE=1 rewrites it):\n got %swant %s", file, row, want)
			}
		})
		now[file].WriteString(row)
		delete(rows, fault.name)
	}
	if goldentest.Updates() {
		err := os.WriteFile(documentation, []byte(lead+tableHead+now[documentation].String()), 0o666)
		if err := errors.Join(err, os.WriteFile(fewRead, []byte(now[fewRead].String()), 0o666)); err != nil {
			t.Fatal(err)
		}
	} else if len(rows) > 0 {
		t.Errorf("nothing tests the rows %v", rows)
	}
}

const tableHead = "| what happens | exit | message or reject | documents |\n|---|---|---|---|\n"
