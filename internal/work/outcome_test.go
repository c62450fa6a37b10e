package work

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// FuzzElements: whatever a task is, and whatever bytes are in its paths, it arrives as it was sent.
func FuzzElements(f *testing.F) {
	f.Add(0, 0, 0, int64(0), int64(0), "")
	f.Add(1<<32-1, 1, 1<<31, int64(1)<<62, int64(-1), "/some where/\xff\xfe\n")
	f.Fuzz(func(t *testing.T, number, step, shards int, documents, shingles int64, path string) {
		task := Task{
			Number:    int(uint32(number)),
			Step:      int(uint32(step)),
			Shards:    int(uint32(shards)), // numbers have 32 bits
			Documents: documents,
			Shingles:  shingles,
			Catalog:   path,
		}
		if number%3 > 0 {
			task.Also = []int{int(uint32(shards)), 7}
		}
		if got := DecodeTask(task.Encode()); !reflect.DeepEqual(got, task) {
			t.Errorf("task %+v, want %+v", got, task)
		}
		sent := Outcome{Stage: Key, Number: number, Run: path, Shingles: shingles}
		sent.Counts.Documents = documents
		element, err := sent.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeOutcome(element); err != nil || !reflect.DeepEqual(got, sent) {
			t.Errorf("outcome %+v (%v), want %+v", got, err, sent)
		}
		packed, err := json.Marshal(Path(path))
		if err != nil {
			t.Fatal(err)
		}
		var got Path
		if err := json.Unmarshal(packed, &got); err != nil || got != Path(path) {
			t.Errorf("path %q (%v), want %q", got, err, path)
		}
	})
}

// TestBrokenElements: elements that are no outcome or path are refused.
func TestBrokenElements(t *testing.T) {
	for _, element := range []string{"", "[]", `{"Run":"no base64!"}`, `{"Number":"one"}`} {
		if o, err := DecodeOutcome([]byte(element)); err == nil || !strings.Contains(err.Error(), "decode outcome") {
			t.Errorf("%q is the outcome %+v (%v)", element, o, err)
		}
	}
	path := Path("as it was")
	if err := json.Unmarshal([]byte(`"!"`), &path); err == nil || path != "as it was" {
		t.Errorf("path %q (%v)", path, err)
	}
}

// TestRunsOf: tasks that have written nothing have no run. Leaving stages out changes no outcome.
func TestRunsOf(t *testing.T) {
	outcomes := []Outcome{
		{Stage: Fingerprint, Run: "a"},
		{Stage: Key},
		{Stage: Key, Run: "b"},
		{Stage: Group, Run: "c"},
		{
			Stage: Key,
			Run:   "d",
		},
	}
	before := slices.Clone(outcomes)
	for _, c := range []struct {
		but  []Stage
		want string
	}{
		{nil, "abcd"}, {[]Stage{Key}, "ac"}, {[]Stage{Key, Group}, "a"}, {[]Stage{Score}, "abcd"}, {Stages, ""},
	} {
		if got := strings.Join(RunsBut(outcomes, c.but...), ""); got != c.want {
			t.Errorf("but %v: %q, want %q", c.but, got, c.want)
		}
	}
	if got := strings.Join(RunsOf(outcomes), ""); got != "abcd" || !reflect.DeepEqual(outcomes, before) {
		t.Errorf("runs %q of %+v", got, outcomes)
	}
}

// TestReadBrokenOutcome: one broken element is an error, however many are whole.
func TestReadBrokenOutcome(t *testing.T) {
	elements := [][]byte{[]byte("{}"), []byte("{"), []byte("{}")}
	_, _, err := ReadOutcomes(func(element *[]byte) bool {
		if len(elements) == 0 {
			return false
		}
		*element, elements = elements[0], elements[1:]
		return true
	})
	if err == nil {
		t.Error("a broken outcome is taken")
	}
}

// FuzzFault: a fault survives the way through a runner, whatever text is in it and around it. Text that is no fault
// is not taken for one.
func FuzzFault(f *testing.F) {
	f.Add("input", "ENOENT", "/a b/\xff", "open \"x\": no\nsuch file", "worker 7: ", "\n\tcaused by: y")
	f.Add("", "", faultMark, faultMark+` "input" "" "" "x"`, "", faultMark)
	f.Fuzz(func(t *testing.T, kind, errno, path, text, before, after string) {
		want := Fault{FaultKind(kind), errno, path, text}
		if got, found := FaultOf(want); !found || got != want {
			t.Errorf("itself: %+v, found %v, want %+v", got, found, want)
		}
		if strings.Contains(before, faultMark) {
			return // the first fault counts
		}
		if got, found := FaultOf(errors.New(before + text[:len(text)/2])); found &&
			!strings.Contains(before+text, faultMark) {
			t.Errorf("%q has the fault %+v", before, got)
		}
		if got, found := FaultOf(errors.New(before + want.Error() + after)); !found || got != want {
			t.Errorf("as text: %+v, found %v, want %+v", got, found, want)
		}
	})
}
