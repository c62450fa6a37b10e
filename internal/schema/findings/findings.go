// Package findings holds the statistics of a job: counts and examples, which the tasks add up.
//
// A count is declared once, as a field of [Counts] or of another struct here. The findings of tasks are merged by
// [Merge], which knows no field by its name. [Figures] lists counts for the pages and the metrics.
package findings

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/util/panics"
)

// Findings is what a task, or all tasks of a job together, have found.
type Findings struct {
	Totals
	Extras
	// Sources counts documents by the sources that they come from.
	Sources sources.Counts `json:",omitzero"`
	// Damaged counts the places at which files are cut short or damaged, by the names of the files.
	Damaged map[string]int64 `json:",omitempty"`
	// Panicked is one of the panics over documents.
	Panicked Panic `json:",omitzero"`
	// Cramped counts the parts of files that have records which more memory would have read, by the names of the files.
	Cramped map[string]int64 `json:",omitempty"`
	// Repeated says which ids several documents have.
	Repeated RepeatedIDs `json:",omitzero"`
	// Texts counts texts that are likely to be something else.
	Texts Texts `json:",omitzero"`
	// Templates and Bridges are clusters that may hold documents which are no near-duplicates.
	Templates Worst[Template] `json:",omitzero"`
	Bridges   Worst[Bridge]   `json:",omitzero"`
	// Near counts the removed documents that are not identical to the one that stays for them, and NearShort the short
	// ones among these. They name the least similar ones.
	Near      Worst[NearPair] `json:",omitzero"`
	NearShort Worst[NearPair] `json:",omitzero"`
	// Sample is a sample of the pairs of Near, whose texts the driver reads again.
	Sample Sample `json:",omitempty"`
	// OtherTitle counts the removed web pages whose title differs from the title of the page that stays, in more than
	// numbers.
	OtherTitle Worst[NearPair] `json:",omitzero"`
	// Largest holds the largest cluster of each output shard.
	Largest Worst[LargeCluster] `json:",omitzero"`
	// Sizes counts the clusters by their numbers of documents.
	Sizes Sizes `json:",omitempty"`
	// Sent is the number of documents of the input that a task has sent to output shards.
	Sent int64 `json:",omitempty"`
	// OversizedPairs is the number of pairs of all oversized key groups. NewOversizedPairs leaves out the pairs of
	// those parts that unchanged documents make, where these were oversized without the new ones.
	OversizedPairs, NewOversizedPairs int64 `json:",omitempty"`
	// Alike is the largest number of pairs within the distance that share a SimHash key. In an incremental run each has
	// a new document.
	Alike Most `json:",omitempty"`
	// Unnamed is the number of documents that were read and have no id.
	Unnamed int64 `json:",omitempty"`
	// Undated counts the pages of sites that have no date.
	Undated int64 `json:",omitempty"`
	// Items counts the places where items of benchmarks were found, by benchmark and item.
	Items map[string]map[string]int64 `json:",omitempty"`
	// SharedIDs is the number of ids that several documents have, ids of the reference included.
	SharedIDs int64 `json:",omitempty"`
}

// AddPanic notes a panic over the document of a ref.
func (f *Findings) AddPanic(ref string, fault *panics.Error) {
	f.Counts.Panics++
	f.Panicked.merge(Panic{ref, fault.Error()})
}

// Totals is the part of the findings that the summary of every job has.
type Totals struct {
	// Counts is what was counted of the corpus.
	Counts Counts `json:"counts"`
	// Skipped says what was not compared.
	Skipped Skipped `json:"skipped"`
	// PassedOver counts records of web archives that are no documents, by the reason. They are no rejects.
	PassedOver map[string]int64 `json:"passed_over,omitempty" metric:"records_passed_over" label:"records passed over"`
}

// Extras is the part of the findings that the summary has if the job was asked for it.
type Extras struct {
	// Common says which shingles are common. It is missing if none was looked for.
	Common *Common `json:"common,omitempty"`
	// Mirrors says what was found of sites. It is missing if no output is about sites.
	Mirrors *Mirrors `json:"mirrors,omitempty"`
	// Lost says how much text of the removed documents the kept ones lack. It is missing if nothing is removed, if
	// pairs are not scored by whole sets, and in a recut.
	Lost *Lost `json:"lost,omitempty"`
	// Variants says how many removed documents are about something else than the kept one. It is missing if fewer than
	// 30 were looked at, if an input is in a bucket, and in a recut.
	Variants *Variants `json:"variants,omitempty"`
	// Trimmed says what was cut from texts. It is missing if no passages were looked for, and if there is no document.
	Trimmed *Trimmed `json:"trimmed,omitempty"`
}

// merger is a value that knows how another one of its type, which is not a pointer, is merged into it.
type merger interface{ merge(from any) }

// Most is a number of which the largest counts.
type Most int64

func (m *Most) merge(from any) { *m = max(*m, from.(Most)) }

// Sizes counts clusters by their numbers of documents.
type Sizes map[int64]int64

// Median returns the least size that at least half of the clusters do not exceed, 0 if there are none.
func (s Sizes) Median() int64 {
	all, sum := int64(0), int64(0)
	for _, n := range s {
		all += n
	}
	for _, size := range slices.Sorted(maps.Keys(s)) {
		if sum += s[size]; 2*sum >= all {
			return size
		}
	}
	return 0
}

// Finish completes what all tasks together have found with the counts that no task can tell.
func (f *Findings) Finish() {
	f.Counts.Kept += f.Counts.Documents - f.Sent // documents outside of clusters are kept, too
	f.Counts.MedianCluster = f.Sizes.Median()
	for name, items := range f.Items {
		of := f.Trimmed.Benchmarks[name]
		for _, places := range items {
			of.Found, of.Places = of.Found+1, of.Places+places
		}
		f.Trimmed.Benchmarks[name] = of
	}
}

// Merge merges a value into another one of its type, and leaves it as it was. Numbers add up, and so do numbers of one
// index or key of a slice or a map. What is true of either is true of both. A pointer that is nil has nothing to merge.
// The order does not matter. Merge panics if a type has a field that none of this is said of.
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
	case reflect.Array:
		for i := range into.Len() {
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
