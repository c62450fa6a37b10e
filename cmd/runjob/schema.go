package main

import (
	"context"
	"io"

	"mirrorbeam/internal/look/schemas"
)

// schemaCommand prints what the files of results look like.
type schemaCommand struct {
	Of string `arg:"" optional:"" name:"output" help:"An output such as clusters, or summary, manifest, plan or query. Without it, all schemas, by their names."`
}

// Run prints a schema.
func (c *schemaCommand) Run(_ context.Context, out io.Writer) error {
	content, err := schemas.Of(c.Of)
	if err != nil {
		return usageError{err}
	}
	return printJSON(out, content)
}
