package formats

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/util/quoting"
)

func TestAnnotationOfObjects(t *testing.T) {
	alone := corpus.Annotation{Size: 1, Kept: true}
	removed := corpus.Annotation{Cluster: `a"`, Size: 3, KeptID: "b"}
	for _, c := range []struct {
		of         corpus.Annotation
		line, want string
	}{
		{alone, `{"text":"x"}`, `{"text":"x","cluster":null,"cluster_size":1,"kept":true,"kept_id":null}`},
		{
			removed, " { \"text\" : \"}\" } \r\n",
			" { \"text\" : \"}\" ,\"cluster\":\"a\\\"\",\"cluster_size\":3,\"kept\":false,\"kept_id\":\"b\"} \r\n",
		},
	} {
		if got := string(corpus.JSONLines.Definition().Annotator(corpus.Wanted{}).Record([]byte("-"), []byte(c.line),
			c.of)); got != "-"+c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestAnnotationOfCells(t *testing.T) {
	if got := string(
		corpus.CSV.Definition().Annotator(corpus.Wanted{}).Header(nil, []byte("id,text\r\n")),
	); got != "id,text,cluster,cluster_size,kept,kept_id\r\n" {
		t.Errorf("header %q", got)
	}
	if got := string(corpus.TSV.Definition().Annotator(corpus.Wanted{}).Record(nil, []byte("1\tx"), corpus.Annotation{
		Size: 1,
		Kept: true,
	})); got != "1\tx\t\t1\ttrue\t" {
		t.Errorf("cells %q", got)
	}
}

// TestColumns: records get the columns that were asked for, in that order, and a field of such a name is found.
func TestColumns(t *testing.T) {
	wanted := corpus.Wanted{Columns: []string{"n_files", "cluster", "n_sources"}}
	a := corpus.Annotation{Cluster: "c", Size: 5, Sources: 2, Files: 3}
	lines, cells := corpus.JSONLines.Definition().Annotator(wanted), corpus.CSV.Definition().Annotator(wanted)
	if got := string(lines.Record(nil, []byte(`{"a":1}`), a)); got !=
		`{"a":1,"n_files":3,"cluster":"c","n_sources":2}` {
		t.Errorf("the record is %s", got)
	}
	if got := string(cells.Header(nil, []byte("a,b\n"))) + string(cells.Record(nil, []byte("1,2\n"), a)); got !=
		"a,b,n_files,cluster,n_sources\n1,2,3,c,2\n" {
		t.Errorf("the table is %s", got)
	}
	if got := lines.Clash(nil, []byte(`{"n_sources":1}`)); got != "n_sources" {
		t.Errorf("the field %q clashes, want n_sources", got)
	}
	if got := lines.Clash(nil, []byte(`{"kept":1}`)); got != "" {
		t.Errorf("the field %q clashes, want none", got)
	}
}

// FuzzAnnotation: encoding/json and encoding/csv read back what was added, and what was there before.
func FuzzAnnotation(f *testing.F) {
	f.Add("x", "y\"z", "a,b", int64(3), true)
	f.Add("line\r\nfeed", "", "\ttab", int64(1), false)
	f.Fuzz(func(t *testing.T, text, cluster, kept string, size int64, isKept bool) {
		a := corpus.Annotation{Cluster: quoting.Text(cluster), Size: size, Kept: isKept, KeptID: quoting.Text(kept)}
		record := append(quoting.AppendString([]byte(`{"text":`), text), "}\n"...)
		var got struct {
			Text        string
			Cluster     *string
			ClusterSize int64 `json:"cluster_size"`
			Kept        bool
			KeptID      *string `json:"kept_id"`
		}
		if err := json.Unmarshal(corpus.JSONLines.Definition().Annotator(corpus.Wanted{}).Record(nil, record, a),
			&got); err != nil {
			t.Fatal(err)
		}
		is := func(got *string, want string) bool { return got == nil && want == "" || got != nil && *got == want }
		if got.Text != quoting.Text(text) || !is(got.Cluster, a.Cluster) || got.ClusterSize != size ||
			got.Kept != isKept || !is(got.KeptID, a.KeptID) {
			t.Errorf("%+v of %+v and %q", got, a, text)
		}
		var cells bytes.Buffer
		w := csv.NewWriter(&cells)
		w.Comma = '\t'
		if err := w.Write([]string{"id", quoting.Text(text)}); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		r := csv.NewReader(
			bytes.NewReader(
				corpus.TSV.Definition().Annotator(corpus.Wanted{Dialect: corpus.Dialect{Quote: '"'}}).Record(nil,
					cells.Bytes(), a)))
		r.Comma = '\t'
		row, err := r.Read()
		if err != nil || len(row) != 6 {
			t.Fatal(row, err)
		}
		// The library reads \r\n in quotes as \n.
		plain := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
		if plain(row[2]) != plain(a.Cluster) || plain(row[5]) != plain(a.KeptID) ||
			!slices.Contains([]string{"true", "false"}, row[4]) {
			t.Errorf("%q of %+v", row, a)
		}
	})
}
