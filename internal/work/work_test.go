package work

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/findings"
)

// numbered returns a value of a struct type whose fields all differ from zero
// and from each other.
func numbered[T any]() T {
	var value T
	number := 0
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		number++
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem())
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0))
		case reflect.Map:
			key, element := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key)
			fill(element)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(key, element)
		case reflect.Array:
			for i := range v.Len() {
				fill(v.Index(i))
			}
		case reflect.String:
			v.SetString(fmt.Sprint("text ", number))
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Uint16, reflect.Uint32, reflect.Uint64:
			v.SetUint(uint64(number))
		case reflect.Float64:
			v.SetFloat(float64(number) + 0.5)
		default:
			v.SetInt(int64(number))
		}
	}
	fill(reflect.ValueOf(&value).Elem())
	return value
}

// TestElements: elements between workers arrive whole. A field that is lost here is lost on every runner.
func TestElements(t *testing.T) {
	want := numbered[Outcome]()
	element, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeOutcome(element)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("outcome %+v (%v), want\n%+v", got, err, want)
	}
	if _, err := DecodeOutcome([]byte("{")); err == nil {
		t.Error("a broken outcome is taken")
	}

	sent := Task{
		Number:    1<<31 + 7,
		Step:      1,
		Shards:    12,
		Documents: 1 << 40,
		Shingles:  1 << 50,
		Catalog:   "/some where/catalog",
		Also:      []int{1<<31 + 9},
	}
	if got := DecodeTask(sent.Encode()); !reflect.DeepEqual(got, sent) {
		t.Errorf("task %+v, want %+v", got, sent)
	}
}

// TestReadOutcomes: the order in which a runner brings outcomes does not matter.
func TestReadOutcomes(t *testing.T) {
	var want []Outcome
	for _, stage := range Stages {
		for number := range 4 {
			want = append(want, Outcome{Stage: stage, Number: number, Run: fmt.Sprintf("%s-%d", stage, number)})
			want[len(want)-1].Counts.Documents = 1
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		var elements [][]byte
		for _, i := range random.Perm(len(want)) {
			element, err := want[i].Encode()
			if err != nil {
				t.Fatal(err)
			}
			elements = append(elements, element)
		}
		elements = slices.Insert(elements, random.IntN(len(elements)), []byte{}) // the element of the impulse
		next := func(element *[]byte) bool {
			if len(elements) == 0 {
				return false
			}
			*element, elements = elements[0], elements[1:]
			return true
		}
		got, counts, err := ReadOutcomes(next)
		if err != nil || !reflect.DeepEqual(got, want) || counts.Documents != int64(len(want)) {
			t.Fatalf("outcomes %+v, counts %+v (%v)", got, counts, err)
		}
	}
}

// writeRun writes one record of two bytes for each shard and kind.
func writeRun(t *testing.T, dir string, number byte, kind runfile.Kind, shards ...int) string {
	t.Helper()
	w := runfile.NewWriter(dir, 1<<20)
	defer w.Abort()
	for _, shard := range shards {
		b, err := w.Record(kind, shard, 2)
		if err != nil {
			t.Fatal(err)
		}
		b[0], b[1] = number, byte(shard)
	}
	path, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDeliver makes a task for each shard that has records of a needed kind, or for all shards if the delivery says so.
// The task gets the pieces of all runs.
func TestDeliver(t *testing.T) {
	dir := t.TempDir()
	runs := []string{
		writeRun(t, dir, 1, records.Keys, 5, 0, 2),
		writeRun(t, dir, 2, records.Keys, 2, 9),
		writeRun(t, dir, 3, records.IDs, 2, 7),
	}
	for _, c := range []struct {
		name   string
		d      Delivery
		counts findings.Counts
		runs   []string
		want   []int
		shards int
	}{
		{
			"needed",
			Delivery{Needed: []runfile.Kind{records.Keys}, Extra: []runfile.Kind{records.IDs}},
			findings.Counts{},
			runs,
			[]int{0, 2, 5, 9},
			0,
		},
		{
			"two needed",
			Delivery{Needed: []runfile.Kind{records.Keys, records.IDs}},
			findings.Counts{},
			runs,
			[]int{0, 2, 5, 7, 9},
			0,
		},
		{
			"all below a number",
			Delivery{Shards: 4, Needed: []runfile.Kind{records.Keys}},
			findings.Counts{},
			runs,
			[]int{0, 1, 2, 3, 5, 9},
			4,
		},
		{
			"output",
			Delivery{Output: true},
			findings.Counts{Documents: 2*documentsPerShard + 1},
			runs,
			[]int{0, 1, 2},
			3,
		},
		{"output of nothing", Delivery{Output: true}, findings.Counts{}, nil, []int{0}, 1},
		{"nothing", Delivery{Needed: []runfile.Kind{records.Keys}}, findings.Counts{}, nil, nil, 0},
		{"none needed", Delivery{Needed: []runfile.Kind{records.NodePairs}}, findings.Counts{}, runs, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var numbers []int
			err := c.d.Deliver(dir, c.runs, c.counts, func(made Task) {
				got := DecodeTask(made.Encode())
				if got.Step != c.d.Step || got.Shards != c.shards {
					t.Errorf("task %+v", got)
				}
				numbers = append(numbers, got.Number)
				if c.name != "needed" || got.Number != 2 {
					return
				}
				pieces, err := runfile.ReadCatalog(got.Catalog, got.Number)
				if err != nil {
					t.Fatal(err)
				}
				var reader runfile.Reader
				defer reader.Close()
				keys, err := reader.ReadKind(nil, pieces, records.Keys)
				ids, err2 := reader.ReadKind(nil, pieces, records.IDs)
				if err != nil || err2 != nil || string(keys) != "\x01\x02\x02\x02" || string(ids) != "\x03\x02" {
					t.Errorf("keys %q, ids %q (%v, %v)", keys, ids, err, err2)
				}
			})
			if err != nil || !slices.Equal(numbers, c.want) {
				t.Errorf("tasks %v (%v), want %v", numbers, err, c.want)
			}
		})
	}
}

func TestOutputShards(t *testing.T) {
	for documents, want := range map[int64]int{
		0:                      1,
		1:                      1,
		documentsPerShard:      1,
		documentsPerShard + 1:  2,
		10 * documentsPerShard: 10,
		1e8:                    1000,
		1e9:                    3163,
		1e10:                   10_000,
	} {
		if got := OutputShards(findings.Counts{Documents: documents}); got != want {
			t.Errorf("%d documents in %d shards, want %d", documents, got, want)
		}
	}
}

// TestTogether: where tasks would write very many pieces, each does neighbouring shards, every shard is done once, and
// what a task writes for all of them is in one run file.
func TestTogether(t *testing.T) {
	for _, c := range [][5]int{
		{1, 1 << 30, FewTasks, 1, 1},
		{512, 512, FewTasks, 1, 1},
		{513, 512, FewTasks, 1, 8},
		{100, 1 << 20, FewTasks, 1, 1},
		{1 << 20, 1 << 20, FewTasks, 1, mostTogether},
		{4000, 4000, ManyTasks, 1, 1},
		{3 * ManyTasks, 4000, ManyTasks, 1, 3},
		{1 << 20, 1 << 20, ManyTasks, togetherBytes / 5, 5},
		{1 << 20, 1 << 20, FewTasks, 2 * togetherBytes, 1},
	} {
		if got := Together(c[0], c[1], c[2], float64(c[0])*float64(c[3])); got != c[4] {
			t.Errorf("%d shards of %d bytes, %d pieces each, %d tasks enough: %d together, want %d", c[0], c[3], c[1],
				c[2], got, c[4])
		}
	}
	outcomes := []Outcome{{Number: 0}, {Number: 16}, {Places: 5}}
	for _, c := range []struct{ d, want Delivery }{
		{Delivery{Into: 2}, Delivery{Into: 2}},
		{Delivery{Back: true}, Delivery{Back: true, Into: 17}},
		{Delivery{IntoPlaces: true}, Delivery{
			IntoPlaces: true,
			Into:       5,
		}},
	} {
		if got := c.d.After(outcomes); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v becomes %+v", c.d, got)
		}
	}
	dir := t.TempDir()
	var all []int
	for shard := range 200 {
		all = append(all, shard)
	}
	d := Delivery{Needed: []runfile.Kind{records.Keys}, Into: manyPieces, Enough: 50}
	var done []int
	var tasks int
	err := d.Deliver(dir, []string{writeRun(t, dir, 1, records.Keys, all...)}, findings.Counts{}, func(task Task) {
		tasks++
		var outcome Outcome
		taskContext := TaskContext{
			Memory:  &Memory{},
			Runs:    Runs{Folder: Path(dir), Held: 1 << 20},
			Outcome: &outcome,
			Hold:    func(any) {},
		}
		var own []int
		err := taskContext.Do(t.Context(), task, func(_ context.Context, one Task, w *TaskContext) error {
			packed, err := w.Read(0, records.Keys)
			if len(packed) != 2 || packed[1] != byte(one.Number) || len(one.Also) > 0 {
				t.Errorf("shard %d has %v, and %v", one.Number, packed, one.Also)
			}
			own = append(own, one.Number)
			_, errWrite := w.Run.Record(records.Keys, 3, 5)
			return errors.Join(err, errWrite)
		})
		pieces, errRead := runfile.Pieces(outcome.Run)
		if err := errors.Join(err, errRead); err != nil || len(pieces) != 1 || pieces[0].Length != int64(5*len(own)) {
			t.Errorf("shards %v wrote %+v (%v)", own, pieces, err)
		}
		done = append(done, own...)
	})
	if err != nil || tasks != 50 || !slices.Equal(done, all) {
		t.Errorf("%d tasks did %v (%v)", tasks, done, err)
	}
}
