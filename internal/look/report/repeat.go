package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"mirrorbeam/job"
)

// placeholders stand for settings that hold paths, where these are hidden.
var placeholders = map[string]string{
	"input": "INPUT", "reference": "REFERENCE", "output": "OUTPUT", "stopwords": "FILE", "temp": "DIR",
	"ignore": "PATH", "state": "DIR", "rank": "FILE", "protected": "FILE", "allow": "FILE",
}

// command returns the command line that repeats a run: all settings that differ from the defaults, one on a line.
func command(c *job.Config, hide bool) string {
	given, usual := settings(*c), settings(job.Default())
	flags := []string{"runjob run"}
	names := slices.Sorted(maps.Keys(given))
	slices.SortStableFunc(names, func(a, b string) int { return rankOf(a) - rankOf(b) })
	for _, name := range names {
		if bytes.Equal(given[name], usual[name]) {
			continue
		}
		for _, value := range values(given[name], name == "input" || name == "reference" || name == "ignore") {
			if hide {
				value = hidden(name, value)
			}
			flags = append(flags, flagOf(name, value))
		}
	}
	return strings.Join(slices.Compact(flags), " \\\n  ")
}

// rankOf puts input and output first.
func rankOf(setting string) int {
	return (slices.Index([]string{"output", "input"}, setting) + 1) * -1
}

// hidden replaces a value that holds a path.
func hidden(setting, value string) string {
	if placeholder, is := placeholders[setting]; is {
		return placeholder
	}
	if setting == "keep" && strings.HasPrefix(value, "rank:") {
		return "rank:FILE"
	}
	return value
}

func settings(c job.Config) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	if encoded, err := json.Marshal(c); err == nil { // it was read from JSON, or is the default
		_ = json.Unmarshal(encoded, &all)
	}
	return all
}

// values returns the values that a flag is given: one, or each item of a list that is given item by item.
func values(encoded json.RawMessage, each bool) []string {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil
	}
	switch value := value.(type) {
	case []any:
		var items []string
		for _, item := range value {
			items = append(items, fmt.Sprint(item))
		}
		if each {
			return items
		}
		return []string{strings.Join(items, ",")}
	case map[string]any:
		var items []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			items = append(items, fmt.Sprintf("%s=%v", key, value[key]))
		}
		return []string{strings.Join(items, ",")}
	}
	return []string{fmt.Sprint(value)}
}

// plainWord matches what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+][A-Za-z0-9_./:=,@%+-]*$`)

// flagOf writes a flag for a shell.
func flagOf(setting, value string) string {
	switch value {
	case "true":
		return flagName(setting)
	case "false":
		return "--no-" + strings.TrimPrefix(flagName(setting), "--")
	}
	if !plainWord.MatchString(value) {
		value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
	}
	return flagName(setting) + "=" + value
}

func flagName(setting string) string { return "--" + strings.ReplaceAll(setting, "_", "-") }
