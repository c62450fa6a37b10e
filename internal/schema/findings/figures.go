package findings

import (
	"cmp"
	"reflect"
	"strings"
)

// Figure is a count with what its field says of it.
type Figure struct {
	// Path is its place in JSON: the names of the structs that it is in, and its own.
	Path []string
	// Metric is its name among the metrics: the tag metric, or its name in JSON.
	Metric string
	// Label is its name on a page: the tag label, or its name in JSON.
	Label string
	// IsBytes says that the tag unit is bytes.
	IsBytes bool
	// IsRare says that JSON leaves a zero out.
	IsRare bool
	Value  int64
}

// Figures lists the counts of a struct and of the structs in it, in the order of their declarations. A field is a count
// if its type is int64 or a map of that, whose value is the sum. It is none, and nothing in it is, if the tag metric is
// a dash.
func Figures(of any) []Figure {
	return appendFigures(nil, nil, reflect.Indirect(reflect.ValueOf(of)))
}

func appendFigures(all []Figure, path []string, of reflect.Value) []Figure {
	for field, value := range of.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if value = reflect.Indirect(value); field.Tag.Get("metric") == "-" {
			continue
		}
		at := path
		if !field.Anonymous {
			at = append(path[:len(path):len(path)], name)
		}
		figure := Figure{
			Path:    at,
			Metric:  cmp.Or(field.Tag.Get("metric"), name),
			Label:   cmp.Or(field.Tag.Get("label"), name),
			IsBytes: field.Tag.Get("unit") == "bytes",
			IsRare:  options == "omitempty",
		}
		switch value.Kind() {
		case reflect.Struct:
			all = appendFigures(all, at, value)
			continue
		case reflect.Map:
			for _, n := range value.Seq2() {
				figure.Value += n.Int()
			}
		case reflect.Int64:
			figure.Value = value.Int()
		default:
			continue
		}
		all = append(all, figure)
	}
	return all
}
