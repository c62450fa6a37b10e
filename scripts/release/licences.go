package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// module is a module of which packages are linked.
type module struct {
	path, version, sum string
	texts              []text   // its licences and notices
	licences           []string // their names, as SPDX has them
}

// text is a file with a licence or a notice.
type text struct {
	path    string
	content []byte
}

// permitted are the licences under which others may pass a program on without its sources. MPL asks for the sources of
// its own files, which are public.
var permitted = []string{
	"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "Unlicense", "0BSD",
	"CC0-1.0", "Zlib", "BSD-2-Clause-Views",
}

// legal are the names of files with licences and notices. Go's PATENTS grants more rights.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|patents|unlicense)([._-].*)?$`)

// linked is a package as 'go list' knows it.
type linked struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path string }
	}
}

// addModules adds the modules that are linked for a target, and the texts that lie next to and above their packages.
func (s *source) addModules(r *release, t target) error {
	out, err := s.command(t.environment(), "go", "list", "-deps", storageOnly, "-json=Dir,Standard,Module",
		"./cmd/runjob")
	if err != nil {
		return err
	}
	root, err := s.command(t.environment(), "go", "env", "GOROOT", "GOVERSION")
	if err != nil {
		return err
	}
	goroot, goversion, _ := strings.Cut(strings.TrimSpace(string(root)), "\n")
	sums, err := s.sums()
	if err != nil {
		return err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p linked
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read what is linked for %s: %w", t, err)
		}
		m, top := module{path: "std", version: strings.TrimPrefix(goversion, "go")}, goroot
		switch {
		case p.Standard:
			p.Dir = goroot
		case p.Module.Main:
			continue
		case p.Module.Replace != nil:
			return fmt.Errorf("%s is replaced by %s, whose licence is unknown", p.Module.Path, p.Module.Replace.Path)
		default:
			m, top = module{path: p.Module.Path, version: p.Module.Version}, p.Module.Dir
			m.sum = sums[m.path+" "+m.version]
		}
		if err := r.add(m, top, p.Dir); err != nil {
			return err
		}
	}
}

// sums are the digests of modules, by path and version.
func (s *source) sums() (map[string]string, error) {
	content, err := os.ReadFile(filepath.Join(s.root, "go.sum"))
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if fields := strings.Fields(line); len(fields) == 3 {
			sums[fields[0]+" "+fields[1]] = fields[2]
		}
	}
	return sums, nil
}

// add adds the texts from the folder of a package up to the folder of its module.
func (r *release) add(m module, top, folder string) error {
	i, known := slices.BinarySearchFunc(r.modules, m, func(a, b module) int { return cmp.Compare(a.path, b.path) })
	if !known {
		r.modules = slices.Insert(r.modules, i, m)
	}
	for ; ; folder = filepath.Dir(folder) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return fmt.Errorf("look for licences of %s: %w", m.path, err)
		}
		for _, e := range entries {
			name, err := filepath.Rel(top, filepath.Join(folder, e.Name()))
			if err != nil {
				return err
			}
			has := slices.ContainsFunc(r.modules[i].texts, func(t text) bool { return t.path == name })
			if has || e.IsDir() || !legal.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			content, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				return err
			}
			r.modules[i].texts = append(r.modules[i].texts, text{name, content})
		}
		if folder == top || !strings.HasPrefix(folder, top) {
			return nil
		}
	}
}

// licences names the licences of all modules, and returns their texts as one file. A module without a licence, or with
// one that is not permitted, is an error.
func licences(modules []module) ([]byte, error) {
	var b strings.Builder
	b.WriteString("The licences of what is linked into runjob. Its own is Apache 2.0.\n")
	printed := map[string]string{} // where a text is, by digest
	var faults []error
	for i := range modules {
		m := &modules[i]
		slices.SortFunc(m.texts, func(a, b text) int { return cmp.Compare(a.path, b.path) })
		for _, t := range m.texts {
			for _, match := range licensecheck.Scan(t.content).Match {
				m.licences = append(m.licences, match.ID)
				if !slices.Contains(permitted, match.ID) && match.ID != "GooglePatentClause" &&
					match.ID != "GooglePatentsFile" {
					faults = append(faults, fmt.Errorf("%s: %s is under %s", m.path, t.path, match.ID))
				}
			}
		}
		slices.Sort(m.licences)
		m.licences = slices.Compact(m.licences)
		if len(m.licences) == 0 {
			faults = append(faults, fmt.Errorf("%s %s: no licence is known among its files", m.path, m.version))
		}
		fmt.Fprintf(&b, "\n%s\n%s %s: %s\n", strings.Repeat("=", 80), m.path, m.version, strings.Join(m.licences, ", "))
		for _, t := range m.texts {
			key := string(digest(t.content))
			if place, known := printed[key]; known {
				fmt.Fprintf(&b, "\n%s: as %s\n", t.path, place)
				continue
			}
			printed[key] = t.path + " of " + m.path
			fmt.Fprintf(&b, "\n%s:\n\n%s\n", t.path, strings.TrimSpace(string(t.content)))
		}
	}
	return []byte(b.String()), errors.Join(faults...)
}
