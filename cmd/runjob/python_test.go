package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/goldentest"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

const pythonPackage = "../../python/mirrorbeam/"

// TestGeneratedPython: the function of the package for Python has every setting, with the help of the flag.
func TestGeneratedPython(t *testing.T) { goldentest.File(t, pythonPackage+"_run.py", pythonRun()) }

// TestGeneratedPythonFormats: the package for Python knows the formats of copied records by the endings of their names.
func TestGeneratedPythonFormats(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Made from the formats of runjob by go generate ./cmd/runjob: change internal/input/formats.\n" +
		"# Files of other endings are a text each.\nFORMATS = {\n")
	known := map[string]bool{}
	for _, name := range corpus.FormatNames() {
		format, _ := corpus.ParseFormat(name)
		d := format.Definition()
		if name == corpus.AutoFormat || d.IsWhole {
			continue
		}
		for _, ending := range append([]string{d.Name}, d.Endings...) {
			if ending = strings.TrimPrefix(ending, "."); !known[ending] {
				known[ending] = true
				fmt.Fprintf(&b, "    %q: %q,\n", ending, name)
			}
		}
	}
	goldentest.File(t, pythonPackage+"_formats.py", b.String()+"}\n")
}

const pythonHead = `# Made from the settings of runjob by go generate ./cmd/runjob: change cmd/runjob/settings.txt.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Callable, Literal, TypedDict, Union

from ._job import run_job
from ._results import Results

Text = Union[str, "PathLike[str]"]  # a path for names of files


`

// pythonChoices are the values of settings that have few.
func pythonChoices() map[string][]string {
	all := map[string][]string{
		"drop":                 asTexts(keep.Drops...),
		"fingerprint_encoding": asTexts(corpus.FingerprintEncodings...),
		"format":               corpus.FormatNames(),
		"html_text":            asTexts(webtext.All, webtext.Main),
		"keys":                 asTexts(append([]methods.Name{methods.Auto}, methods.Resembling()...)...),
		"layout":               asTexts(output.Shards, output.Tree),
		"output_format":        asTexts(output.Formats...),
		"score":                asTexts(methods.Scorings...),
		"similarity":           asTexts(methods.Similarities...),
		"split":                asTexts(keep.Component, keep.Star),
		"stopwords_use":        asTexts(sketch.RemoveStopWords, sketch.RequireStopWords),
		"text_format":          asTexts(webtext.Plain, webtext.HTML),
		"tokens": asTexts(sketch.ScriptTokens, sketch.SingleTokens, sketch.WordTokens,
			sketch.CharacterTokens),
		"verify": asTexts(methods.Verifications...),
	}
	for _, preset := range job.Presets() {
		all["preset"] = append(all["preset"], preset.Name)
	}
	return all
}

func asTexts[T ~string](names ...T) (all []string) {
	for _, name := range names {
		all = append(all, string(name))
	}
	return all
}

// pythonRun is the module with the function.
func pythonRun() string {
	config := job.Default()
	choices := pythonChoices()
	var aliases, fields, arguments, texts, given strings.Builder
	for _, f := range jobFlags(&config) {
		name := settingName(f.name)
		fmt.Fprintf(&given, "        %q: %s,\n", name, name)
		kind := pythonType(reflect.TypeOf(f.field).Elem())
		if values := choices[name]; len(values) > 0 {
			kind = ""
			for part := range strings.SplitSeq(name, "_") {
				kind += strings.ToUpper(part[:1]) + part[1:]
			}
			fmt.Fprintf(&aliases, "%s = Literal[\"%s\"]\n", kind, strings.Join(values, `", "`))
		}
		if name != "input" {
			fmt.Fprintf(&fields, "    %s: %s | None\n", name, kind)
		}
		if name == "output" { // it is written by hand
			continue
		}
		if name == "input" {
			arguments.WriteString("    input: Any,\n    output: Text | None = None,\n    *,\n")
		} else {
			fmt.Fprintf(&arguments, "    %s: %s | None = None,\n", name, kind)
		}
		help := pythonHelp(f.help)
		encoded, err := json.Marshal(reflect.ValueOf(f.field).Elem().Interface())
		if err == nil && !slices.Contains([]string{"null", `""`, "false"}, string(encoded)) && f.traits&quiet == 0 {
			help = strings.TrimSuffix(help, ".") + fmt.Sprintf(" (default %s).", encoded)
		}
		fmt.Fprintf(&texts, "      %s: %s\n", name, help)
	}
	return pythonHead + aliases.String() + `

class Settings(TypedDict, total=False):
    """The settings of run."""

` + fields.String() + `

SETTINGS = frozenset(Settings.__annotations__)


def run(
` + arguments.String() + `    paths: bool = True,
    beam: Mapping[str, Any] | None = None,
    progress: bool | Callable[[dict[str, Any]], None] | None = None,
) -> Results:
    """Finds the near-duplicates of a corpus, and returns the results.

    A setting that is None has its default. Rows are written as Parquet unless output_format says otherwise, and
    results can be had only of what emit names.

    Settings of the call:
      input: Files, folders and patterns, or data in memory as for dedupe: a frame, a table, a Dataset, dicts, texts. Of
        data, clusters, pairs and removed are written, and unique() is what stays of it, as the same kind of data.
      paths: Whether a string, or a list of strings, names files. Otherwise they are texts.
      output: Folder for the results, on the disk or in a bucket; must be empty or new, see overwrite. Without it the results
        are in a temporary folder, which goes when nobody holds the results any more.
      beam: Flags of Apache Beam, such as {"runner": "flink", "endpoint": "host:8099"}.
      progress: Whether to show how far the job is: in a notebook or on a terminal if it is None. A function gets each message
        as a dict.

    Raises UsageError, InputError, StorageError, InternalError or ConditionMet, all of them RunjobError.

    Settings of runjob:
` + texts.String() + `    """
    settings = {
` + given.String() + `    }
    return run_job("run", input, settings, beam, progress, paths=paths, emit=("clusters", "pairs", "removed"))
`
}

var longFlag = regexp.MustCompile(`--[a-z][a-z-]*[a-z]`)

// pythonHelp is the help of a flag as a part of a text in Python, with settings by the names of arguments.
func pythonHelp(help string) string {
	help = longFlag.ReplaceAllStringFunc(help, func(flag string) string {
		return settingName(strings.TrimPrefix(flag, "--"))
	})
	return strings.NewReplacer(`\`, `\\`, `"""`, `\"\"\"`).Replace(help)
}

func pythonType(t reflect.Type) string {
	switch one := typeOf(t); {
	case reflect.DeepEqual(one.Type, "boolean"):
		return "bool"
	case reflect.DeepEqual(one.Type, "number"):
		return "float"
	case reflect.DeepEqual(one.Type, []string{"integer", "string"}),
		reflect.DeepEqual(one.Type, []string{"string", "integer"}):
		return "int | str"
	case one.Items != nil:
		return "Sequence[Text] | Text"
	case reflect.DeepEqual(one.Type, "object"):
		return "Mapping[str, float]"
	}
	return "Text"
}
