package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/job"
)

const pythonModule = "../../python/mirrorbeam/_run.py"

// TestPython: the function of the package for Python has every setting, with the help of the flag. UPDATE=1 rewrites
// it.
func TestPython(t *testing.T) {
	want := pythonRun()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(pythonModule, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(pythonModule)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s does not have the settings of runjob, see UPDATE=1", pythonModule)
	}
}

const pythonHead = `# Made from the settings of runjob by UPDATE=1 go test ./cmd/runjob -run TestPython: change cmd/runjob/settings.go.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Callable, Union

from ._job import run_job
from ._results import Results

Text = Union[str, PathLike]  # a path for names of files


`

// pythonRun is the module with the function.
func pythonRun() string {
	config := job.Default()
	var arguments, texts, given strings.Builder
	for _, f := range jobFlags(&config) {
		name := settingName(f.name)
		fmt.Fprintf(&given, "        %q: %s,\n", name, name)
		if name == "output" { // it is written by hand
			continue
		}
		kind := pythonType(reflect.TypeOf(f.field).Elem())
		if name == "input" {
			fmt.Fprintf(&arguments, "    input: %s,\n    output: Text | None = None,\n    *,\n", kind)
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
	return pythonHead + `def run(
` + arguments.String() + `    beam: Mapping[str, Any] | None = None,
    progress: bool | Callable[[dict], None] | None = None,
) -> Results:
    """Finds the near-duplicates of a corpus, and returns the results.

    A setting that is None has its default. Rows are written as Parquet unless output_format says otherwise, and
    results can be had only of what emit names.

    Settings of the call:
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
    return run_job(settings, beam, progress)
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
