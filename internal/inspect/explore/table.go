package explore

import (
	"context"
	"encoding/csv"
	"fmt"
	"iter"
	"net/http"
	"reflect"
	"strings"

	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
)

// table writes all rows of an output as CSV.
func (s *Server) table(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("of")
	write, is := map[string]func(context.Context, *csv.Writer) error{
		"clusters": writer(func(ctx context.Context) iter.Seq2[finished.Cluster, error] {
			return s.folder.Clusters(ctx, func(*output.Member) {})
		}),
		"documents": writer(rowsOf[output.Member](s.folder, output.Clusters)),
		"pairs":     writer(rowsOf[output.Pair](s.folder, output.Pairs)),
		"removed":   writer(rowsOf[output.Removal](s.folder, output.Removed)),
	}[name]
	if !is {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%s.csv", name))
	rows := csv.NewWriter(w)
	if err := write(r.Context(), rows); err != nil {
		// The table has begun, so only a cut connection shows that it is not whole.
		panic(http.ErrAbortHandler)
	}
	rows.Flush()
}

func rowsOf[T any](f *finished.Folder, name string) func(context.Context) iter.Seq2[T, error] {
	return func(ctx context.Context) iter.Seq2[T, error] { return finished.Rows[T](ctx, f, name) }
}

// writer returns what writes rows, with the names of their fields in JSON as the head. Lists are left out.
func writer[T any](rows func(context.Context) iter.Seq2[T, error]) func(context.Context, *csv.Writer) error {
	return func(ctx context.Context, w *csv.Writer) error {
		var head []string
		var fields []int
		of := reflect.TypeFor[T]()
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if name != "" && name != "-" && of.Field(i).Type.Kind() != reflect.Slice {
				head, fields = append(head, name), append(fields, i)
			}
		}
		if err := w.Write(head); err != nil {
			return err
		}
		cells := make([]string, len(fields))
		for row, err := range rows(ctx) {
			if err != nil {
				return fmt.Errorf("read rows: %w", err)
			}
			for i, field := range fields {
				cells[i] = fmt.Sprint(reflect.ValueOf(row).Field(field))
			}
			if err := w.Write(cells); err != nil {
				return err
			}
		}
		return w.Error()
	}
}
