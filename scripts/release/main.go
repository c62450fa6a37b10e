// Command release makes all files of a release: programs in archives and packages, wheels for Python, an image for
// containers, the licences of what is linked, a bill of materials, and check sums. It takes the sources from the last
// commit, and the same commit gives the same bytes on every machine with the same Go.
//
//	go -C scripts/release run .                          all systems, into dist/
//	go -C scripts/release run . -targets linux/amd64     some of them
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// targets are the systems that a release is for. Windows lacks what the job needs of a disk: locks, maps of files and
// folders that are exchanged in one step.
var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"},
}

type target struct{ system, processor string }

func (t target) String() string { return t.system + "/" + t.processor }

func main() {
	wanted := flag.String("targets", "", "systems, as in linux/amd64,darwin/arm64; without it all")
	output := flag.String("output", "dist", "new folder for the release, seen from the root of the repository")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *wanted, *output, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, wanted, output string, rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("%q is no flag: see -help", rest[0])
	}
	chosen, err := choose(wanted)
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return fmt.Errorf("find the root of the repository: %w", err)
	}
	root := strings.TrimSpace(string(out))
	if !filepath.IsAbs(output) {
		output = filepath.Join(root, output)
	}
	if entries, err := os.ReadDir(output); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s has files already: remove it, or name another -output", output)
	}
	temp, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	source, err := clone(ctx, root, filepath.Join(temp, "source"))
	if err != nil {
		return err
	}
	r, err := source.release(chosen, temp)
	if err != nil {
		return err
	}
	files, err := r.files()
	if err != nil {
		return err
	}
	return write(output, files)
}

// choose reads a list of targets.
func choose(wanted string) ([]target, error) {
	if wanted == "" {
		return targets, nil
	}
	var chosen []target
	for name := range strings.SplitSeq(wanted, ",") {
		system, processor, _ := strings.Cut(name, "/")
		t := target{system, processor}
		if !slices.Contains(targets, t) {
			return nil, fmt.Errorf("-targets: %q is none of %v", name, targets)
		}
		if !slices.Contains(chosen, t) {
			chosen = append(chosen, t)
		}
	}
	return chosen, nil
}

// file is a file of the release.
type file struct {
	name    string
	content []byte
}

// write writes the files and their check sums to a folder.
func write(folder string, files []file) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var sums strings.Builder
	for _, f := range files {
		fmt.Fprintf(&sums, "%x  %s\n", digest(f.content), f.name)
	}
	for _, f := range append(files, file{"SHA256SUMS", []byte(sums.String())}) {
		if err := os.WriteFile(filepath.Join(folder, f.name), f.content, 0o644); err != nil {
			return err
		}
		fmt.Printf("%8.1f MB  %s\n", float64(len(f.content))/1e6, f.name)
	}
	return nil
}
