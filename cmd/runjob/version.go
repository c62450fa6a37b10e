package main

import (
	"context"
	"io"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// versionCommand prints which build this is.
type versionCommand struct{}

// Run prints the version, the commit and the time of the sources, and the versions of Go and Beam.
func (c *versionCommand) Run(_ context.Context, out io.Writer) error {
	_, err := io.WriteString(out, thisVersion())
	return err
}

// versionFlag does what the command does, and ends the program.
type versionFlag bool

// BeforeReset prints the version. The parser calls it when it meets the flag.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	app.Exit(0)
	_, err := io.WriteString(app.Stdout, thisVersion())
	return err
}

// thisVersion says which build this program is.
func thisVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "runjob, of an unknown build\n"
	}
	return versionText(info)
}

// versionText says what a build knows of itself. A build outside of a clone knows no commit.
func versionText(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	text := "runjob " + info.Main.Version + "\n"
	if commit := settings["vcs.revision"]; commit != "" {
		text += "commit " + commit + " of " + settings["vcs.time"]
		if settings["vcs.modified"] == "true" {
			text += ", modified"
		}
		text += "\n"
	}
	text += info.GoVersion + " " + settings["GOOS"] + "/" + settings["GOARCH"] + "\n"
	for _, module := range info.Deps {
		if module.Path == "github.com/apache/beam/sdks/v2" {
			text += "Apache Beam " + module.Version + "\n"
		}
	}
	return text
}
