package main

import (
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/inspect/plan"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
)

// TestDefaultsOfFlags: a command without flags has the defaults of a Go caller.
func TestDefaultsOfFlags(t *testing.T) {
	run, err := parse([]string{"run", "--input", "in", "--output", "out"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := job.Default()
	want.Input, want.Output, want.Given = []string{"in"}, "out", []string{"input", "output"}
	if got := run.(*runCommand).Config; !reflect.DeepEqual(got, want) {
		t.Errorf("run: %+v\nwant %+v", got, want)
	}
	planning, err := parse([]string{"plan", "--documents", "1000"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	wanted := plan.Default()
	wanted.Documents = 1000
	if got := planning.(*planCommand).Config; !reflect.DeepEqual(got, wanted) {
		t.Errorf("plan: %+v\nwant %+v", got, wanted)
	}
}

// TestBlanksInLists: blanks around the items of a list are not part of them.
func TestBlanksInLists(t *testing.T) {
	parsed, err := parse([]string{
		"run", "--input", " in", "--output", "out", "--emit", "clusters, pairs", "--weight",
		"title = 3, text=1", "--keys", "simhash", "--blocks", "4, 4",
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	got := parsed.(*runCommand).Config
	if !slices.Equal(got.Emit, []string{"clusters", "pairs"}) || got.Weight["title"] != 3 || got.Weight["text"] != 1 ||
		!slices.Equal(got.Blocks, []int{4, 4}) || got.Input[0] != " in" {
		t.Errorf("%q, %v, %v, %q", got.Emit, got.Weight, got.Blocks, got.Input)
	}
}

// TestGiven: a flag that was given is known as given, whatever its value.
func TestGiven(t *testing.T) {
	for _, c := range []struct {
		args  string
		fault string // empty for none
	}{
		{"run --hamming 3", "--hamming 3: is for --keys simhash"},
		{"run --hamming=3 --keys simhash", ""},
		{"run --bits 64", "--bits 64: is for --keys simhash and --emit sketches"},
		{
			"run --threshold 0.8 --score hamming",
			"--threshold 0.8: is a Jaccard similarity; with --score hamming, --hamming sets the largest distance",
		},
		{"run --weight title=2 --text-field text", "--weight names the text fields; leave --text-field out"},
		{"run --excerpt 50", "--excerpt 50: is for --similarity containment"},
		{"run --threshold 80", "--threshold 80: must be above 0 and at most 1; 80 % is 0.8"},
		{
			"run --num_perm 128",
			"unknown flag --num_perm: here it is --bands with --rows, whose product it is, or --recall",
		},
		{
			"run --text-field a --text-field b",
			"--text-field is given twice, and takes one value: leave one out; --weight A=1,B=1 compares several fields",
		},
		{"run --weight text=1,text=2", "--weight: text=1,text=2 names a field twice: leave one out"},
		{"run --weight text=1 --weight text=2", "--weight: text=2 names a field twice: leave one out"},
		{"run --threshold 0.8 --threshold=0.9", "--threshold is given twice, and takes one value: leave one out"},
		{"run --emit clusters --emit pairs --overwrite --overwrite --weight a=1 --weight b=2", ""},
		{
			"run --id-field x --format text",
			"--id-field is for records with fields: a text is called by its path, a page of an archive by its WARC-Record-ID, and a line by its place",
		},
		{"run --recall 0", "--recall 0: must be above 0 and at most 1"},
		{"run --tokens words --max-document 64MiB", ""},
		{"run --sketch-size 128", "--sketch-size 128: is for --verify sketch or none, and for --emit sketches"},
		{"run --sketch-size 128 --verify none", ""},
		{"plan --sketch-size 512", ""},
		{"plan --sketch-size 5", "--sketch-size 5: must be from 32 to 4096, or 0 for 128"},
		{"plan --hamming 3", "--hamming 3: is for --keys simhash"},
		{"plan --memory 0", ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			args := strings.Fields(c.args + " --input in")
			if args[0] == "run" {
				args = append(args, "--output", "out")
			}
			var lines []string
			if _, err := parse(args, io.Discard); err != nil {
				lines = faultLines(err)
			}
			if want := slices.DeleteFunc([]string{c.fault}, func(s string) bool { return s == "" }); !slices.Equal(lines,
				want) {
				t.Errorf("%s: %q, want %q", c.args, lines, want)
			}
		})
	}
}

// TestFlagOfEverySetting: each setting of a configuration has one flag.
func TestFlagOfEverySetting(t *testing.T) {
	var config job.Config
	var planned plan.Config
	for _, c := range []struct {
		of    any
		flags []settingFlag
	}{
		{config, jobFlags(&config)},
		{planned, planFlags(&planned)},
	} {
		flags := map[string]bool{}
		for _, f := range c.flags {
			if flags[f.name] {
				t.Errorf("--%s stands there twice", f.name)
			}
			flags[f.name] = true
		}
		for _, field := range reflect.VisibleFields(reflect.TypeOf(c.of)) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if flag := strings.TrimPrefix(setting.Flag(name), "--"); name != "" && name != "-" && !flags[flag] {
				t.Errorf("%s has no flag --%s", field.Name, flag)
			} else {
				delete(flags, flag)
			}
		}
		for flag := range flags {
			t.Errorf("--%s sets no field", flag)
		}
	}
}

// TestForeignFlags: what takes the place of another program's flag is a flag of a job, and no such flag is one itself.
func TestForeignFlags(t *testing.T) {
	ours := map[string]bool{}
	for _, f := range jobFlags(new(job.Config)) {
		ours["--"+f.name] = true
	}
	for _, own := range []string{"--check", "--log-every", "--quiet"} { // of the command, which are no settings
		ours[own] = true
	}
	for name, place := range foreignFlags {
		if ours[name] {
			t.Errorf("%s is a flag of runjob", name)
		}
		for word := range strings.FieldsSeq(strings.ReplaceAll(place, ",", " ")) {
			if strings.HasPrefix(word, "--") && !ours[word] {
				t.Errorf("%s: there is no flag %s", name, word)
			}
		}
	}
}
