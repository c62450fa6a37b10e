package main

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// platform is the name of a system in wheels. The program is linked statically, so on Linux it needs no C library;
// macOS is the oldest one that Go supports.
func (t target) platform() string {
	return map[target]string{
		{"linux", "amd64"}:  "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
		{"linux", "arm64"}:  "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
		{"darwin", "amd64"}: "macosx_12_0_x86_64",
		{"darwin", "arm64"}: "macosx_12_0_arm64",
	}[t]
}

const metadata = `Metadata-Version: 2.4
Name: mirrorbeam
Version: %s
Summary: %s
License-Expression: Apache-2.0
License-File: LICENSE
License-File: licences.txt
Requires-Python: >=3.9
Provides-Extra: arrow
Requires-Dist: pyarrow>=12; extra == "arrow"
Provides-Extra: pandas
Requires-Dist: pyarrow>=12; extra == "pandas"
Requires-Dist: pandas; extra == "pandas"
Provides-Extra: polars
Requires-Dist: pyarrow>=12; extra == "polars"
Requires-Dist: polars; extra == "polars"
Provides-Extra: datasets
Requires-Dist: pyarrow>=12; extra == "datasets"
Requires-Dist: datasets; extra == "datasets"
Description-Content-Type: text/markdown

%s`

// wheel is the program and the package for Python, for a system.
func (r *release) wheel(p program) (file, error) {
	name := "mirrorbeam-" + r.version.python
	info := name + ".dist-info/"
	platform := p.platform()
	var tags strings.Builder
	for tag := range strings.SplitSeq(platform, ".") {
		fmt.Fprintf(&tags, "Tag: py3-none-%s\n", tag)
	}
	// pip puts what is in scripts into the folder of programs, as it is.
	entries := []entry{{name + ".data/scripts/runjob", 0o755, p.content}}
	for _, path := range slices.Sorted(maps.Keys(r.python)) {
		entries = append(entries, entry{path, 0o644, r.python[path]})
	}
	entries = append(
		entries,
		entry{info + "METADATA", 0o644, fmt.Appendf(nil, metadata, r.version.python, describe, r.readme)},
		entry{
			info + "WHEEL", 0o644,
			[]byte("Wheel-Version: 1.0\nGenerator: mirrorbeam\nRoot-Is-Purelib: false\n" + tags.String()),
		},
		entry{info + "licenses/LICENSE", 0o644, r.licence},
		entry{info + "licenses/licences.txt", 0o644, r.licences},
	)
	var record strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", e.path, base64.RawURLEncoding.EncodeToString(digest(e.content)),
			len(e.content))
	}
	record.WriteString(info + "RECORD,,\n")
	entries = append(entries, entry{info + "RECORD", 0o644, []byte(record.String())})
	content, err := r.zipped(entries)
	return file{fmt.Sprintf("%s-py3-none-%s.whl", name, platform), content}, err
}

func (r *release) zipped(entries []entry) ([]byte, error) {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.path, Method: zip.Deflate, Modified: r.made}
		h.SetMode(fs.FileMode(e.mode))
		to, err := w.CreateHeader(h)
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", e.path, err)
		}
		if _, err := to.Write(e.content); err != nil {
			return nil, fmt.Errorf("pack %s: %w", e.path, err)
		}
	}
	err := w.Close()
	return packed.Bytes(), err
}
