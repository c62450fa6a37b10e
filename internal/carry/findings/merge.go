package findings

import (
	"fmt"
	"reflect"
)

// merger is a value that knows how another one of its type, which is not a pointer, is merged into it.
type merger interface{ merge(from any) }

// Merge merges a value into another one of its type, and leaves it as it was. Numbers add up, and so do numbers of one index or key
// of a slice or a map. What is true of either is true of both. A pointer that is nil has nothing to merge. The order in which values
// are merged does not matter. Merge panics if a type has a field that none of this is said of.
func Merge[T any](into *T, from T) {
	mergeValue(reflect.ValueOf(into).Elem(), reflect.ValueOf(&from).Elem())
}

func mergeValue(into, from reflect.Value) {
	if own, is := into.Addr().Interface().(merger); is {
		own.merge(from.Interface())
		return
	}
	switch into.Kind() {
	case reflect.Int64:
		into.SetInt(into.Int() + from.Int())
	case reflect.Bool:
		into.SetBool(into.Bool() || from.Bool())
	case reflect.Struct:
		for i := range into.NumField() {
			mergeValue(into.Field(i), from.Field(i))
		}
	case reflect.Pointer:
		if from.IsNil() {
			return
		}
		if into.IsNil() {
			into.Set(reflect.New(into.Type().Elem()))
		}
		mergeValue(into.Elem(), from.Elem())
	case reflect.Slice:
		for into.Len() < from.Len() {
			into.Set(reflect.Append(into, reflect.Zero(into.Type().Elem())))
		}
		for i := range from.Len() {
			mergeValue(into.Index(i), from.Index(i))
		}
	case reflect.Map:
		if into.IsNil() && from.Len() > 0 {
			into.Set(reflect.MakeMap(into.Type()))
		}
		for each := from.MapRange(); each.Next(); {
			sum := reflect.New(into.Type().Elem()).Elem()
			if old := into.MapIndex(each.Key()); old.IsValid() {
				sum.Set(old)
			}
			mergeValue(sum, each.Value())
			into.SetMapIndex(each.Key(), sum)
		}
	default:
		panic(fmt.Sprintf("findings: no rule merges a %s", into.Type()))
	}
}
