package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/input/listing"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// valuesCommand lists what may come next on a command line that ends with a flag: its values, or the fields of the
// input. Completion scripts call it.
type valuesCommand struct {
	Words []string `arg:"" optional:"" passthrough:""`

	model *kong.Node
}

func (c *valuesCommand) BeforeApply(app *kong.Kong) error {
	c.model = app.Model.Node
	return nil
}

func (c *valuesCommand) Run(ctx context.Context, out io.Writer) error {
	if len(c.Words) < 2 {
		return nil
	}
	name := strings.TrimPrefix(c.Words[len(c.Words)-1], "--")
	values := valuesOf(name)
	for _, node := range c.model.Children {
		for _, flag := range node.Flags {
			if node.Name == c.Words[0] && flag.Name == name && flag.Enum != "" {
				values = flag.EnumSlice()
			}
		}
	}
	if isFieldFlag(name) {
		before := slices.Clone(c.Words[1 : len(c.Words)-1])
		if name == "item-fields" {
			before = before[slices.Index(before, "--reference")+1:]
		}
		values = fieldsOf(ctx, slices.DeleteFunc(before, func(word string) bool { return !exists(word) }))
	}
	_, err := io.WriteString(out, strings.Join(append(values, ""), "\n"))
	return err
}

// valuesOf returns the values of a flag that sets a setting; nil if these cannot be listed.
func valuesOf(flag string) (values []string) {
	switch flag {
	case "preset":
		for _, preset := range job.Presets() {
			values = append(values, preset.Name)
		}
		return values
	case "emit":
		return job.OutputNames()
	case "columns":
		return corpus.ColumnNames()
	case "format":
		return corpus.FormatNames()
	case "output-format":
		return texts(output.Formats)
	case "layout":
		return texts([]output.Layout{output.Shards, output.Tree})
	case "keys":
		return append([]string{string(methods.Auto)}, texts(methods.Resembling())...)
	case "similarity":
		return texts(methods.Similarities)
	case "verify":
		return texts(methods.Verifications)
	case "split":
		return texts([]keep.Split{keep.Component, keep.Star})
	case "drop":
		return texts(keep.Drops)
	}
	return nil
}

func isFieldFlag(name string) bool {
	return strings.HasSuffix(name, "-field") ||
		slices.Contains([]string{"weight", "item-fields", "features", "fingerprints", "within", "across"}, name)
}

// fieldsOf returns the fields of the first records of the first file with fields; nil if there is none.
func fieldsOf(ctx context.Context, inputs []string) []string {
	config := job.Default()
	found, err := listing.Corpus(ctx, inputs, "input", &config, nil)
	if err != nil || len(inputs) == 0 {
		return nil
	}
	reading := config.Sketching(0).Reading
	for _, file := range found.Files {
		if names := formats.NewSample(file, reading.Wanted(), reading.LineLimits()).FieldNames(); len(names) > 0 {
			return names
		}
	}
	return nil
}

func texts[T ~string](all []T) []string {
	list := make([]string, len(all))
	for i, one := range all {
		list[i] = string(one)
	}
	return list
}
