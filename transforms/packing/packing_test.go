package packing

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// packed packs documents in bundles and returns the outcomes.
func packed(t *testing.T, runs work.Runs, bundles ...[][2]string) (outcomes []work.Outcome) {
	t.Helper()
	p := Packer{Runs: runs, MaxDocument: 1000}
	for _, bundle := range bundles {
		for _, d := range bundle {
			if reason := p.Refuse(d[0], d[1]); reason != "" {
				t.Fatal(reason)
			}
			if err := p.Add(d[0], d[1]); err != nil {
				t.Fatal(err)
			}
		}
		o, figures, err := p.Close()
		if err != nil || figures.Records != int64(len(bundle)) {
			t.Fatalf("%+v, %v", figures, err)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// arrange does all steps behind the packers, with a range that begins at each of some ids. It returns the lines of the
// files in document order, and the rejected ids.
func arrange(t *testing.T, runs work.Runs, outcomes []work.Outcome,
	firsts ...string,
) (lines string, rejected []string) {
	t.Helper()
	_, tasks := worktest.Plan(t, runs, outcomes, Ranging{}.Plan)
	if len(firsts) > 0 { // as if there were many documents
		for i := range tasks {
			path := worktest.Write(t, runs, func(run *runfile.Writer) error {
				_, err := linkTexts(run, work.RunsOf(outcomes))
				for _, first := range firsts {
					if err == nil {
						err = records.Write(run, records.TextRange, 0, &records.Text{ID: first})
					}
				}
				return err
			})
			tasks[i].Catalog = worktest.Catalog(t, path)
		}
	}
	divided := worktest.Do(t, runs, tasks, Dividing{}.Task)
	arranging := Arranging{Folder: runs.Folder}
	written := worktest.Do(t, runs, worktest.Tasks(t, runs, arranging.Delivery(), work.RunsOf(divided)...),
		arranging.Task)
	for _, o := range written {
		err := EachRow(t.Context(), runs.Folder, o, Repeated, func(r Rejected) {
			rejected = append(rejected, quoting.Original(r.ID))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	listing := Listing{Inputs: work.Path(storage.Join(string(runs.Folder), "inputs.gob")), MaxDocument: 1000}
	for range 2 { // a second attempt finds the same
		_, splits := worktest.Plan(t, runs, written, listing.Plan)
		inputs, err := documents.OpenInputs(string(listing.Inputs))
		if err != nil || len(splits) != len(inputs.Splits) {
			t.Fatalf("%d tasks: %v", len(splits), err)
		}
		lines = ""
		for _, file := range inputs.Files {
			content, err := storage.ReadFile(file.Path)
			if err != nil {
				t.Fatal(err)
			}
			lines += string(content)
		}
	}
	return lines, rejected
}

// TestArranged: the files are the same for all bundles and ranges.
func TestArranged(t *testing.T) {
	var all [][2]string
	for i := range 500 {
		all = append(all, [2]string{fmt.Sprintf("id %d \xff\"", i), strings.Repeat(fmt.Sprint("text\n", i), i%7)})
	}
	all = append(all, [2]string{"id 7 \xff\"", "another text"}, [2]string{"id 7 \xff\"", "another text"})
	runs := worktest.Runs(t)
	want, rejected := arrange(t, runs, packed(t, runs, all))
	if n := strings.Count(want, "}\n"); n != 500 {
		t.Errorf("%d lines", n)
	}
	if !slices.Equal(rejected, []string{"id 7 \xff\"", "id 7 \xff\""}) {
		t.Errorf("rejected: %q", rejected)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	runs = worktest.Runs(t)
	got, rejected := arrange(t, runs, packed(t, runs, all[:10], all[10:11], all[11:]), "id 2", "id 3", "id 44 ")
	if got != want || len(rejected) != 2 {
		t.Errorf("in ranges:\n%.300s\nand at once:\n%.300s", got, want)
	}
}

// TestNothingArranged: without documents there is one empty file, since a job has at least one.
func TestNothingArranged(t *testing.T) {
	if lines, rejected := arrange(t, worktest.Runs(t), nil); lines != "" || rejected != nil {
		t.Errorf("%q, %q", lines, rejected)
	}
}

// TestFirstIDs: ranges have about as many bytes, and are in order.
func TestFirstIDs(t *testing.T) {
	var marks []string
	for i := range 10 * rangeBytes / markBytes {
		marks = append(marks, fmt.Sprintf("%08d", i*7919%100_000))
	}
	firsts := firstIDs(marks)
	if len(firsts) != 9 || !slices.IsSorted(firsts) {
		t.Errorf("%q", firsts)
	}
	for i, first := range firsts {
		if at := slices.Index(marks, first); at != (i+1)*len(marks)/10 {
			t.Errorf("range %d begins at mark %d", i+1, at)
		}
	}
	if firsts := firstIDs([]string{"b", "a"}); firsts != nil {
		t.Errorf("few documents: %q", firsts)
	}
}

// TestRefused says why documents cannot be compared.
func TestRefused(t *testing.T) {
	p := Packer{MaxDocument: 3}
	for _, d := range [][2]string{{"", "x"}, {strings.Repeat("x", mostID+1), ""}, {"x", "long"}} {
		if p.Refuse(d[0], d[1]) == "" {
			t.Errorf("%.10q with %q is not refused", d[0], d[1])
		}
	}
	if reason := p.Refuse("\xff", ""); reason != "" {
		t.Error(reason)
	}
}

// TestRowsThatAreCut: a file with fewer rows than were written is a failure, and so is a half row.
func TestRowsThatAreCut(t *testing.T) {
	runs := worktest.Runs(t)
	outcomes := packed(t, runs, [][2]string{{"a", "x"}, {"a", "y"}, {"a", "z"}})
	_, tasks := worktest.Plan(t, runs, outcomes, Ranging{}.Plan)
	divided := worktest.Do(t, runs, tasks, Dividing{}.Task)
	arranging := Arranging{Folder: runs.Folder}
	o := worktest.Do(t, runs, worktest.Tasks(t, runs, arranging.Delivery(), work.RunsOf(divided)...), arranging.Task)[0]
	path := storage.Join(string(runs.Folder), o.Files[1].Temporary)
	whole, err := storage.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{len(whole) - 3, strings.Index(string(whole), "\n") + 1, 0} {
		if err := storage.WriteFile(path, whole[:cut]); err != nil {
			t.Fatal(err)
		}
		if err := EachRow(t.Context(), runs.Folder, o, Repeated, func(Rejected) {}); err == nil {
			t.Errorf("%d of %d bytes are not missed", cut, len(whole))
		}
	}
}
