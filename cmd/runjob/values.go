package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/input/listing"
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
	values := job.Values(settingName(name))
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
