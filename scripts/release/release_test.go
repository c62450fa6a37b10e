package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// small is a release of programs that do nothing.
func small() *release {
	r := &release{
		version: version{"1.2.3-rc.1", "1.2.3rc1"},
		commit:  "0123456789abcdef0123456789abcdef01234567",
		made:    time.Unix(1_800_000_000, 0).UTC(),
		modules: []module{{
			path:     "example.com/m",
			version:  "v1.0.0",
			sum:      "h1:" + base64.StdEncoding.EncodeToString(make([]byte, 32)),
			licences: []string{"MIT"},
		}},
		completions: map[string][]byte{"bash": []byte("b"), "zsh": []byte("z"), "fish": []byte("f")},
		manual:      []byte(".TH RUNJOB 1\n"),
		licence:     []byte("licence"),
		readme:      []byte("# readme\n"),
		units:       map[string][]byte{"runjob.service": []byte("[Service]\n")},
		licences:    []byte("licences"),
		python:      map[string][]byte{"mirrorbeam/__init__.py": []byte("a = 1\n"), "mirrorbeam/py.typed": nil},
		examples:    map[string][]byte{"examples/fables/z.csv": nil, "examples/fables/a.txt": []byte("a")},
	}
	for _, t := range targets {
		r.programs = append(r.programs, program{t, []byte("#!/bin/sh\necho " + t.String() + "\n")})
	}
	return r
}

func filesOf(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := small().files()
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string][]byte{}
	for _, f := range files {
		contents[f.name] = f.content
	}
	return contents
}

// TestSameBytes: two releases of one commit are the same, whatever the time and the host.
func TestSameBytes(t *testing.T) {
	first := filesOf(t)
	time.Sleep(1100 * time.Millisecond) // formats keep seconds
	t.Setenv("HOSTNAME", "another")
	for name, content := range filesOf(t) {
		if !bytes.Equal(content, first[name]) {
			t.Errorf("%s is not the same", name)
		}
	}
	if want := 2 + 4*2 + 2*2 + 2; len(first) != want {
		t.Errorf("%d files, want %d: %v", len(first), want, first)
	}
}

// TestWheel: the record has every file with its digest, and the program can be run.
func TestWheel(t *testing.T) {
	content := filesOf(t)["mirrorbeam-1.2.3rc1-py3-none-macosx_12_0_arm64.whl"]
	wheel, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	record, err := wheel.Open("mirrorbeam-1.2.3rc1.dist-info/RECORD")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := io.ReadAll(record)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range wheel.File {
		opened, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		hash := sha256.New()
		size, err := io.Copy(hash, opened)
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(hash.Sum(nil)), size)
		if strings.HasSuffix(f.Name, "/RECORD") {
			line = f.Name + ",,\n"
		}
		if !strings.Contains(string(lines), line) {
			t.Errorf("the record has no %q", line)
		}
		if isProgram := strings.HasSuffix(f.Name, "/scripts/runjob"); isProgram != (f.Mode().Perm()&0o111 != 0) {
			t.Errorf("%s has mode %v", f.Name, f.Mode())
		}
	}
}

// TestArchive: the program and all that belongs to it are in one folder.
func TestArchive(t *testing.T) {
	unzipped, err := gzip.NewReader(bytes.NewReader(filesOf(t)["runjob-1.2.3-rc.1-linux-arm64.tar.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(h.Name, "runjob-1.2.3-rc.1-linux-arm64/")
		names = append(names, name)
		if name == "runjob" && h.Mode != 0o755 {
			t.Errorf("the program has mode %o", h.Mode)
		}
	}
	want := []string{
		"runjob", "README.md", "LICENSE", "licences.txt", "man/runjob.1", "completions/runjob.bash",
		"completions/_runjob", "completions/runjob.fish", "examples/fables/a.txt", "examples/fables/z.csv",
	}
	if !slices.Equal(names, want) {
		t.Errorf("the archive has %q", names)
	}
}

// TestImage: others can read the image, with a variant for each processor.
func TestImage(t *testing.T) {
	folder := t.TempDir()
	for r := tar.NewReader(bytes.NewReader(filesOf(t)["runjob-1.2.3-rc.1-oci.tar"])); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, h.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	outer, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(outer); err != nil {
		t.Fatal(err)
	}
	named, err := outer.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	inner, err := outer.ImageIndex(named.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	variants, err := inner.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range variants.Manifests {
		image, err := inner.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		platforms = append(platforms,
			m.Platform.String()+" "+config.Architecture+" "+config.Config.User+" "+config.Config.Entrypoint[0])
	}
	if want := []string{
		"linux/amd64 amd64 65532:65532 /runjob",
		"linux/arm64 arm64 65532:65532 /runjob",
	}; !slices.Equal(platforms, want) {
		t.Errorf("the variants are %q", platforms)
	}
	if certificates := string(small().ground()[3].content); strings.Count(certificates, "BEGIN CERTIFICATE") < 50 {
		t.Error("the certificates of the web are not there")
	}
}

// TestBill: the bill names each module with its licence.
func TestBill(t *testing.T) {
	var bill struct {
		BOMFormat  string
		Components []struct {
			PURL     string
			Licenses []struct{ License struct{ ID string } }
		}
	}
	if err := json.Unmarshal(filesOf(t)["runjob-1.2.3-rc.1.cdx.json"], &bill); err != nil {
		t.Fatal(err)
	}
	if c := bill.Components; bill.BOMFormat != "CycloneDX" || len(c) != 1 ||
		c[0].PURL != "pkg:golang/example.com/m@v1.0.0" || c[0].Licenses[0].License.ID != "MIT" {
		t.Errorf("the bill is %+v", bill)
	}
}

// TestProvenance: each file is named with its digest, next to the commit.
func TestProvenance(t *testing.T) {
	files := filesOf(t)
	var statement struct {
		Subject []struct {
			Name   string
			Digest struct{ SHA256 string }
		}
		Predicate struct {
			BuildDefinition struct {
				ResolvedDependencies []struct{ Digest struct{ GitCommit string } }
			}
		}
	}
	if err := json.Unmarshal(files["runjob-1.2.3-rc.1.intoto.json"], &statement); err != nil {
		t.Fatal(err)
	}
	for _, s := range statement.Subject {
		if s.Digest.SHA256 != fmt.Sprintf("%x", sha256.Sum256(files[s.Name])) {
			t.Errorf("%s has another digest", s.Name)
		}
	}
	of := statement.Predicate.BuildDefinition.ResolvedDependencies
	if len(statement.Subject) != len(files)-1 || len(of) != 1 || of[0].Digest.GitCommit != small().commit {
		t.Errorf("%d of %d files, of %v", len(statement.Subject), len(files), of)
	}
}

// TestUnits: a package for Debian has the units of systemd, and the commands that make their user.
func TestUnits(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("no dpkg-deb: the package was not opened")
	}
	folder := t.TempDir()
	deb := filepath.Join(folder, "runjob.deb")
	if err := os.WriteFile(deb, filesOf(t)["runjob_1.2.3~rc.1_amd64.deb"], 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("dpkg-deb", "--raw-extract", deb, folder+"/root").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, want := range map[string]string{
		"usr/lib/systemd/system/runjob.service": "[Service]\n",
		"DEBIAN/postinst":                       afterInstall,
	} {
		if content, err := os.ReadFile(filepath.Join(folder, "root", name)); err != nil || string(content) != want {
			t.Errorf("%s is %q (%v)", name, content, err)
		}
	}
}

// TestLicences: what has no licence or one that does not permit to pass the program on is refused.
func TestLicences(t *testing.T) {
	mit := text{
		"LICENSE",
		[]byte(
			`Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions: The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`),
	}
	gpl := text{
		"COPYING",
		[]byte(
			"This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version. This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License for more details. You should have received a copy of the GNU General Public License along with this program. If not, see <https://www.gnu.org/licenses/>."),
	}
	for _, test := range []struct {
		texts   []text
		refused bool
	}{{[]text{mit}, false}, {nil, true}, {[]text{mit, gpl}, true}, {[]text{{"NOTICE", []byte("by us")}}, true}} {
		modules := []module{{path: "example.com/m", version: "v1.0.0", texts: test.texts}}
		content, err := licences(modules)
		if (err != nil) != test.refused {
			t.Errorf("%d texts: %v", len(test.texts), err)
		}
		if !strings.Contains(string(content), "example.com/m v1.0.0") {
			t.Errorf("the module is not named: %s", content)
		}
	}
}

// TestVersion: Python's form of a version.
func TestVersion(t *testing.T) {
	for stamped, want := range map[string]version{
		"v1.2.3":       {"1.2.3", "1.2.3"},
		"v1.2.3-rc.1":  {"1.2.3-rc.1", "1.2.3rc1"},
		"v1.2.3-beta2": {"1.2.3-beta2", "1.2.3b2"},
		"v0.0.0-20261124120000-0123456789ab": {
			"0.0.0-20261124120000-0123456789ab",
			"0.0.0.dev20261124120000+0123456789ab",
		},
		"v1.2.4-0.20261124120000-0123456789ab": {
			"1.2.4-0.20261124120000-0123456789ab",
			"1.2.4.dev20261124120000+0123456789ab",
		},
		"v1.2.3-rc.1.0.20261124120000-0123456789ab": {
			"1.2.3-rc.1.0.20261124120000-0123456789ab",
			"1.2.3.dev20261124120000+0123456789ab",
		},
		"(devel)":        {},
		"v1.2.3-nightly": {},
		"v0.0.0-20261124120000-0123456789ab+dirty": {},
	} {
		got, err := parseVersion(stamped)
		if got != want || (err != nil) != (want == version{}) {
			t.Errorf("%s is %v (%v), want %v", stamped, got, err, want)
		}
	}
}

// TestChoose: an unknown system is refused, and one is built once.
func TestChoose(t *testing.T) {
	if got, err := choose("linux/arm64,linux/arm64"); err != nil || !slices.Equal(got, []target{{"linux", "arm64"}}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := choose("windows/amd64"); err == nil {
		t.Error("windows is no target")
	}
}
