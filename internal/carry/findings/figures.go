package findings

import (
	"cmp"
	"reflect"
	"strings"
)

// Figure is a count with what its field says of it.
type Figure struct {
	// Name is its name in JSON.
	Name string
	// Metric is its name among the metrics: the tag metric, or Name.
	Metric string
	// Label is its name on a page: the tag label, or Name.
	Label string
	// Doc is the tag doc: what is counted, in plain English. Words that begin with -- are flags.
	Doc string
	// IsBytes says that the tag unit is bytes.
	IsBytes bool
	// IsRare says that JSON leaves a zero out.
	IsRare bool
	Value  int64
}

// Figures lists the counts of a struct and of the structs in it, in the order of their declarations. A field with a tag doc is a
// count, or a map of counts, whose value is their sum.
func Figures(of any) []Figure {
	return appendFigures(nil, reflect.Indirect(reflect.ValueOf(of)))
}

func appendFigures(all []Figure, of reflect.Value) []Figure {
	for field, value := range of.Fields() {
		doc, isCount := field.Tag.Lookup("doc")
		if value = reflect.Indirect(value); !isCount {
			if value.Kind() == reflect.Struct {
				all = appendFigures(all, value)
			}
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		figure := Figure{
			Name: name, Metric: cmp.Or(field.Tag.Get("metric"), name), Label: cmp.Or(field.Tag.Get("label"), name),
			Doc: doc, IsBytes: field.Tag.Get("unit") == "bytes", IsRare: options == "omitempty",
		}
		if value.CanInt() {
			figure.Value = value.Int()
		} else {
			for _, n := range value.Seq2() {
				figure.Value += n.Int()
			}
		}
		all = append(all, figure)
	}
	return all
}
