package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"mirrorbeam/internal/ground/storage"
)

// maxSettingsBytes is the size of the largest file of settings. All settings together take a few thousand bytes.
const maxSettingsBytes = 1 << 20

type settingValue struct {
	// Value is a string, a list of strings, or an object of numbers, as a []any or a map[string]any.
	Value any
	// At is where it stands: the path and the line.
	At string
}

// readSettings reads the settings in the file at a path, as parseSettings says. Only a file can be read, and none of more than maxSettingsBytes:
// a pipe may never end, and a device never does.
func readSettings(path string, check func(name string) error) (map[string]settingValue, error) {
	file, err := storage.OpenRegular(path)
	if _, isOther := errors.AsType[*storage.IrregularError](err); isOther {
		return nil, fmt.Errorf("%w: write the settings to a file, and name that", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: check the path", err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxSettingsBytes+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxSettingsBytes {
		return nil, fmt.Errorf("%s has more than %d bytes, and a setting a line takes far less: name a file of settings", path, maxSettingsBytes)
	}
	return parseSettings(path, content, check)
}

// parseSettings reads the settings in a file of one document. Each of them stands there once, by its name in summary.json. A setting without a value
// is as if it were not there. Check returns an error if there is no setting of a name. The error tells of all faults, with their
// lines.
func parseSettings(path string, content []byte, check func(name string) error) (map[string]settingValue, error) {
	settings := map[string]settingValue{}
	documents := yaml.NewDecoder(bytes.NewReader(content))
	var document, second yaml.Node
	switch err := documents.Decode(&document); {
	case err == io.EOF: // it is empty
		return settings, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	switch err := documents.Decode(&second); {
	case err == nil:
		return nil, fmt.Errorf("%s:%d: a second document begins, and the settings of one job are one: remove the line --- and what is not meant", path, second.Line)
	case err != io.EOF:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	top := document.Content[0]
	if top.Tag == "!!null" {
		return settings, nil
	}
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: must have a setting a line, as in threshold: 0.9", path)
	}
	seen := map[string]bool{}
	var faults []error
	for i := 0; i < len(top.Content); i += 2 {
		name, node := top.Content[i].Value, top.Content[i+1]
		at := fmt.Sprintf("%s:%d", path, top.Content[i].Line)
		if err := check(name); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", at, err))
			continue
		}
		if seen[name] {
			faults = append(faults, fmt.Errorf("%s: %s is given twice", at, name))
			continue
		}
		seen[name] = true
		value, err := valueOf(node)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %s %w", at, name, err))
		} else if value != nil {
			settings[name] = settingValue{value, at}
		}
	}
	return settings, errors.Join(faults...)
}

// valueOf returns the value of a node as flags take it: numbers in the words of the file, since they need not fit into a
// float. It is nil for no value.
func valueOf(node *yaml.Node) (any, error) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.ScalarNode:
		if node.Tag == "!!null" {
			return nil, nil
		}
		return node.Value, nil
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range node.Content {
			if item.Kind != yaml.ScalarNode {
				return nil, errors.New("must be a list of plain values")
			}
			list = append(list, item.Value)
		}
		return list, nil
	}
	weights := map[string]any{}
	for i := 0; i < len(node.Content); i += 2 {
		var number float64
		if err := node.Content[i+1].Decode(&number); err != nil {
			return nil, errors.New("must have a number for each name")
		}
		weights[node.Content[i].Value] = number
	}
	return weights, nil
}
