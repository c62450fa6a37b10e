// Package schemas publishes the JSON Schema of what a job writes. The tests of this package make the schemas, and the
// tables of fields in docs, from the declarations of the rows: from their tags and from the comments of their fields.
package schemas

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mirrorbeam.dev/internal/util/setting"
)

//go:embed schema.json
var content []byte

// Documents are the names of what has a schema: outputs, the two other files of results, and what commands print.
var Documents = []string{
	"clusters", "pairs", "removed", "sketches", "passages", "changes", "mirrors", "sites", "suspects", "rejects",
	"summary", "manifest", "plan", "query",
}

// Of returns the JSON Schema of one of [Documents], or an object that has all of them if the name is empty.
func Of(name string) (json.RawMessage, error) {
	if name == "" {
		return content, nil
	}
	if !slices.Contains(Documents, name) {
		return nil, setting.Errorf("there is no schema of %q: name one of %s", name, strings.Join(Documents, ", "))
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(content, &all); err != nil {
		return nil, fmt.Errorf("read the schemas: %w", err)
	}
	return all[name], nil
}

// described is what a schema says of a value and of the fields in it.
type described struct {
	Description string
	Properties  map[string]described
}

var descriptions = sync.OnceValue(func() (all map[string]described) {
	if err := json.Unmarshal(content, &all); err != nil {
		panic(err) // it is part of the program
	}
	return all
})

// Description returns what the schema of a document says of a field, given the names that lead to it. It is empty if
// there is no such field.
func Description(document string, path ...string) string {
	at := descriptions()[document]
	for _, name := range path {
		at = at.Properties[name]
	}
	return at.Description
}
