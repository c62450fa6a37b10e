package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers the format
)

// describe says what the program is, in packages, wheels and images.
const describe = "Finds the near-duplicate documents of a corpus, and mirror sites"

// packages are the program for the package managers of Linux.
func (r *release) packages(p program) ([]file, error) {
	temp, err := os.MkdirTemp("", "release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	var contents files.Contents
	for i, e := range r.installed(p) {
		source := filepath.Join(temp, fmt.Sprint(i))
		if err := os.WriteFile(source, e.content, 0o600); err != nil {
			return nil, err
		}
		contents = append(contents, &files.Content{
			Source:      source,
			Destination: e.path,
			FileInfo:    &files.ContentFileInfo{Owner: "root", Group: "root", Mode: os.FileMode(e.mode), MTime: r.made},
		})
	}
	script := filepath.Join(temp, "after-install")
	if err := os.WriteFile(script, []byte(afterInstall), 0o600); err != nil {
		return nil, err
	}
	var all []file
	for _, format := range []string{"deb", "rpm"} {
		made, err := r.packaged(format, p, contents, script)
		if err != nil {
			return nil, fmt.Errorf("make the .%s for %s: %w", format, p.target, err)
		}
		all = append(all, made)
	}
	return all, nil
}

// unitPlaces are the places in a package of files of scripts/schedule: units of systemd, which nobody has enabled, their
// user and its folders.
var unitPlaces = map[string]string{
	"runjob.service":         "/usr/lib/systemd/system/runjob.service",
	"runjob.timer":           "/usr/lib/systemd/system/runjob.timer",
	"runjob-failed@.service": "/usr/lib/systemd/system/runjob-failed@.service",
	"runjob.sysusers":        "/usr/lib/sysusers.d/runjob.conf",
	"runjob.tmpfiles":        "/usr/lib/tmpfiles.d/runjob.conf",
}

// afterInstall makes the user and the folders, and lets systemd see the units.
const afterInstall = `#!/bin/sh
set -e
if command -v systemd-sysusers >/dev/null; then systemd-sysusers runjob.conf; fi
if command -v systemd-tmpfiles >/dev/null; then systemd-tmpfiles --create runjob.conf; fi
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
`

// installed are the files of a package.
func (r *release) installed(p program) []entry {
	var units []entry
	for _, name := range slices.Sorted(maps.Keys(r.units)) {
		units = append(units, entry{unitPlaces[name], 0o644, r.units[name]})
	}
	return append(units, []entry{
		{"/usr/bin/runjob", 0o755, p.content},
		{"/usr/share/man/man1/runjob.1.gz", 0o644, gzipped(r.manual)},
		{"/usr/share/bash-completion/completions/runjob", 0o644, r.completions["bash"]},
		{"/usr/share/zsh/site-functions/_runjob", 0o644, r.completions["zsh"]},
		{"/usr/share/fish/vendor_completions.d/runjob.fish", 0o644, r.completions["fish"]},
		{"/usr/share/doc/runjob/copyright", 0o644, r.licence},
		{"/usr/share/doc/runjob/licences.txt", 0o644, r.licences},
	}...)
}

func (r *release) packaged(format string, p program, contents files.Contents, script string) (file, error) {
	packager, err := nfpm.Get(format)
	if err != nil {
		return file{}, err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name:            "runjob",
		Arch:            p.processor,
		Platform:        p.system,
		Version:         r.version.plain,
		Section:         "science",
		Priority:        "optional",
		Maintainer:      "The mirrorbeam authors <mirrorbeam@localhost>",
		Description:     describe,
		License:         "Apache-2.0",
		MTime:           r.made,
		DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Contents: contents,
			Scripts:  nfpm.Scripts{PostInstall: script},
			RPM:      nfpm.RPM{BuildHost: "localhost", Compression: "xz"},
			Deb:      nfpm.Deb{Compression: "xz"},
		},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return file{}, err
	}
	var content bytes.Buffer
	if err := packager.Package(info, &content); err != nil {
		return file{}, err
	}
	return file{packager.ConventionalFileName(info), content.Bytes()}, nil
}
