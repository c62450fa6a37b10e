package main

import (
	"bytes"
	"io"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/job"
)

// saidBy returns what a command prints.
func saidBy(t *testing.T, args ...string) string {
	t.Helper()
	command, err := parse(args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := command.Run(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestVersion: the version, the commit and whether it was modified are said if the build knows them.
func TestVersion(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.0",
		Main:      debug.Module{Version: "v1.2.3"},
		Deps:      []*debug.Module{{Path: "github.com/apache/beam/sdks/v2", Version: "v2.77.0"}},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {
			Key:   "vcs.time",
			Value: "2026-11-22T00:00:00Z",
		}, {Key: "vcs.modified", Value: "true"}, {Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "amd64"}},
	}
	want := "runjob v1.2.3\ncommit abc of 2026-11-22T00:00:00Z, modified\nbuild 12ab\ngo1.26.0 linux/amd64\nApache Beam v2.77.0\n" +
		"kernels for " + asmkernels.SelectedTier().String() + "\n"
	if got := versionText(info, "12ab"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := saidBy(t, "version"); !strings.HasPrefix(got, "runjob ") || !strings.Contains(got, "\ngo1.") {
		t.Error(got)
	}
}

// TestCompletion: bash completes commands, commands of commands, and flags; each script names every flag of run.
func TestCompletion(t *testing.T) {
	var config job.Config
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script := saidBy(t, "completion", shell)
		for _, f := range jobFlags(&config) {
			if !strings.Contains(script, "-"+f.name) && !strings.Contains(script, "-l "+f.name) {
				t.Errorf("%s does not know --%s", shell, f.name)
			}
		}
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	for typed, want := range map[string]string{
		"runjob pl":                     "plan",
		"runjob run --thre":             "--threshold",
		"runjob run --input x --min-sh": "--min-shingles",
		"runjob sketch --ki":            "--kind",
		"runjob nothing --":             "",
		"runjob run --preset plag":      "plagiarism",
		"runjob run --emit pairs,uni":   "pairs,unique",
	} {
		t.Run(typed, func(t *testing.T) {
			words := strings.Fields(typed)
			script := saidBy(t, "completion", "bash") +
				"runjob() { echo plagiarism pairs unique; }; COMP_WORDS=(" + typed + "); COMP_CWORD=" +
				string(rune('0'+len(words)-1)) + "; _runjob; echo \"${COMPREPLY[*]}\"\n"
			said, err := exec.CommandContext(t.Context(), bash, "--norc", "-c", script).CombinedOutput()
			if got := strings.TrimSpace(string(said)); err != nil || got != want {
				t.Errorf("%s: %q, want %q (%v)", typed, got, want, err)
			}
		})
	}
}

// TestManual: the page has every command and flag, and no line that man takes for a request of its own.
func TestManual(t *testing.T) {
	page := saidBy(t, "man")
	var config job.Config
	for _, f := range jobFlags(&config) {
		if !strings.Contains(page, `\fB`+roff("--"+f.name)+`\fR`) {
			t.Errorf("--%s is not in it", f.name)
		}
	}
	for _, name := range []string{"--version", "--help-beam"} {
		if strings.Count(page, `\fB`+roff(name)+`\fR`) != 1 {
			t.Errorf("%s is not in it, or more than once", name)
		}
	}
	for line := range strings.Lines(page) {
		request, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, "'") ||
			strings.HasPrefix(line, ".") && !strings.Contains(" .TH .SH .SS .PP .TP .B .I ", " "+request+" ") {
			t.Errorf("a request of man: %q", line)
		}
	}
}
