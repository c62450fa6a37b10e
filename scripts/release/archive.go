package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"
)

// entry is a file in an archive, a package or an image. One whose path ends with a slash is a folder.
type entry struct {
	path    string
	mode    int64
	content []byte
}

// archive is the program with all that belongs to it, for any place of the disk.
func (r *release) archive(p program) (file, error) {
	name := fmt.Sprintf("runjob-%s-%s-%s", r.version.plain, p.system, p.processor)
	entries := []entry{
		{path.Join(name, "runjob"), 0o755, p.content},
		{path.Join(name, "README.md"), 0o644, r.readme},
		{path.Join(name, "LICENSE"), 0o644, r.licence},
		{path.Join(name, "licences.txt"), 0o644, r.licences},
		{path.Join(name, "man/runjob.1"), 0o644, r.manual},
		{path.Join(name, "completions/runjob.bash"), 0o644, r.completions["bash"]},
		{path.Join(name, "completions/_runjob"), 0o644, r.completions["zsh"]},
		{path.Join(name, "completions/runjob.fish"), 0o644, r.completions["fish"]},
	}
	for _, example := range slices.Sorted(maps.Keys(r.examples)) { // the README's commands read them
		entries = append(entries, entry{path.Join(name, example), 0o644, r.examples[example]})
	}
	content, err := compressed(r.made, entries)
	return file{name + ".tar.gz", content}, err
}

// compressed is a tar file of the entries, compressed by gzip.
func compressed(made time.Time, entries []entry) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := writeTar(w, made, entries); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

func writeTar(to interface{ Write([]byte) (int, error) }, made time.Time, entries []entry) error {
	w := tar.NewWriter(to)
	for _, e := range entries {
		h := &tar.Header{
			Name:     e.path,
			Mode:     e.mode,
			Size:     int64(len(e.content)),
			ModTime:  made,
			Typeflag: tar.TypeReg,
			Format:   tar.FormatPAX,
		}
		if e.path[len(e.path)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return fmt.Errorf("pack %s: %w", e.path, err)
		}
		if _, err := w.Write(e.content); err != nil {
			return fmt.Errorf("pack %s: %w", e.path, err)
		}
	}
	return w.Close()
}

// gzipped is content as the manual pages of a system are.
func gzipped(content []byte) []byte {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is a valid one
	_, _ = w.Write(content)                                    // into memory
	_ = w.Close()
	return packed.Bytes()
}
