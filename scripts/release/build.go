package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// storageOnly leaves out gRPC's own ways to Cloud Storage, which the job never takes.
const storageOnly = "-tags=disable_grpc_modules"

// buildFlags also leave out tables for debuggers.
var buildFlags = []string{"-trimpath", "-buildvcs=true", storageOnly, "-ldflags=-s -w"}

// maxProgram is the most bytes that a program may have. Clusters get it with each job. Some 20 MB of it are
// arrow/compute, which the encoders of arrow-go link.
const maxProgram = 80e6

// source is a clone of the repository. A release is made in a clone of its own: what is not committed is no part of it,
// and Go knows the commit of a clone, as it does not in a work tree.
type source struct {
	ctx  context.Context
	root string
}

// clone clones the last commit of a repository.
func clone(ctx context.Context, from, to string) (*source, error) {
	s := &source{ctx: ctx, root: from}
	if _, err := s.command(nil, "git", "clone", "--quiet", from, to); err != nil {
		return nil, err
	}
	changes, err := s.command(nil, "git", "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	if len(changes) > 0 {
		fmt.Fprintf(os.Stderr, "release: what is not committed is left out:\n%s", changes)
	}
	s.root = to
	return s, nil
}

// command runs a command in the root, and returns what it prints.
func (s *source) command(environment []string, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(s.ctx, name, args...)
	var errors bytes.Buffer
	c.Dir, c.Env, c.Stderr = s.root, append(os.Environ(), environment...), &errors
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, errors.Bytes())
	}
	return out, nil
}

// environment is the environment in which Go builds for a target. Settings of the user would change the bytes.
func (t target) environment() []string {
	return []string{
		"GOOS=" + t.system, "GOARCH=" + t.processor, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly",
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off",
	}
}

// release is all that the files of a release are made of.
type release struct {
	version  version
	commit   string
	made     time.Time // the time of the commit
	programs []program
	modules  []module
	// Texts for the user: completions by shell, the page of the manual, and files of the repository.
	completions     map[string][]byte
	manual          []byte
	licence, readme []byte
	licences        []byte            // of all that is linked
	python          map[string][]byte // the package for Python, by path
	examples        map[string][]byte // the files that the README's commands read, by path
	units           map[string][]byte // the files for systemd, by the names of unitPlaces
}

// program is the program for a target.
type program struct {
	target
	content []byte
}

// release builds the programs and reads the rest.
func (s *source) release(chosen []target, temp string) (*release, error) {
	r := &release{completions: map[string][]byte{}}
	last, err := s.command(nil, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return nil, err
	}
	commit, seconds, _ := strings.Cut(strings.TrimSpace(string(last)), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read the time of the commit: %w", err)
	}
	r.commit, r.made = commit, time.Unix(unix, 0).UTC()
	for _, t := range chosen {
		p, err := s.build(t, temp)
		if err != nil {
			return nil, err
		}
		r.programs = append(r.programs, p)
		if err := r.note(p); err != nil {
			return nil, err
		}
		if err := s.addModules(r, t); err != nil {
			return nil, err
		}
	}
	if r.licences, err = licences(r.modules); err != nil {
		return nil, err
	}
	return r, s.texts(r, temp)
}

// build builds the program for a target.
func (s *source) build(t target, temp string) (program, error) {
	fmt.Println("building for", t)
	path := filepath.Join(temp, t.system+"-"+t.processor)
	args := append([]string{"build", "-o", path}, buildFlags...)
	if _, err := s.command(t.environment(), "go", append(args, "./cmd/runjob")...); err != nil {
		return program{}, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	if len(content) > maxProgram {
		return program{}, fmt.Errorf(
			"the program for %s has %d bytes, more than %d: see what it links with 'go list -deps ./cmd/runjob'", t,
			len(content), int(maxProgram))
	}
	return program{t, content}, nil
}

// note takes the version from a program. Go stamps it with the tag of the commit, or with its time.
func (r *release) note(p program) error {
	info, err := buildinfo.Read(bytes.NewReader(p.content))
	if err != nil {
		return fmt.Errorf("read the version of the program for %s: %w", p.target, err)
	}
	r.version, err = parseVersion(info.Main.Version)
	return err
}

// texts reads what the files of a release have next to the program. A program for this machine prints some of it.
func (s *source) texts(r *release, temp string) (err error) {
	here := filepath.Join(temp, runtime.GOOS+"-"+runtime.GOARCH)
	if _, err := os.Stat(here); err != nil {
		if _, err := s.build(target{runtime.GOOS, runtime.GOARCH}, temp); err != nil {
			return err
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if r.completions[shell], err = s.command(nil, here, "completion", shell); err != nil {
			return err
		}
	}
	if r.manual, err = s.command(nil, here, "man"); err != nil {
		return err
	}
	for name, content := range map[string]*[]byte{"LICENSE": &r.licence, "README.md": &r.readme} {
		if *content, err = os.ReadFile(filepath.Join(s.root, name)); err != nil {
			return err
		}
	}
	r.units = map[string][]byte{}
	for name := range unitPlaces {
		if r.units[name], err = os.ReadFile(filepath.Join(s.root, "scripts", "schedule", name)); err != nil {
			return err
		}
	}
	r.python = map[string][]byte{}
	paths, err := filepath.Glob(filepath.Join(s.root, "python", "mirrorbeam", "*"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		if extension := filepath.Ext(path); extension != ".py" && extension != ".typed" {
			continue // what Python has compiled
		}
		if r.python["mirrorbeam/"+filepath.Base(path)], err = os.ReadFile(path); err != nil {
			return err
		}
	}
	return s.fables(r)
}

// fables reads the example files of the README, which the last commit has.
func (s *source) fables(r *release) error {
	r.examples = map[string][]byte{}
	folder := os.DirFS(s.root)
	return fs.WalkDir(folder, "examples/fables", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		r.examples[path], err = fs.ReadFile(folder, path)
		return err
	})
}

func digest(content []byte) []byte {
	sum := sha256.Sum256(content)
	return sum[:]
}

// files makes all files of the release.
func (r *release) files() ([]file, error) {
	bill, err := r.bill()
	if err != nil {
		return nil, err
	}
	files := []file{
		{"runjob-" + r.version.plain + ".cdx.json", bill},
		{"runjob-" + r.version.plain + "-licences.txt", r.licences},
	}
	for _, p := range r.programs {
		archive, err := r.archive(p)
		if err != nil {
			return nil, err
		}
		wheel, err := r.wheel(p)
		if err != nil {
			return nil, err
		}
		files = append(files, archive, wheel)
		if p.system == "linux" {
			packages, err := r.packages(p)
			if err != nil {
				return nil, err
			}
			files = append(files, packages...)
		}
	}
	image, err := r.image()
	if err != nil {
		return nil, err
	}
	if image.content != nil {
		files = append(files, image)
	}
	provenance, err := r.provenance(files)
	return append(files, provenance), err
}
