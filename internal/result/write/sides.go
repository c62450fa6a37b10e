package write

import (
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/quoting"
)

// SideCopies returns the copies of files that describe the data of a folder, each with the path of that file as Input.
// There are some where copies of records are laid out as the folders are.
func SideCopies(inputs *documents.Inputs, layout output.Layout, outputs []string) (copies []output.File) {
	if layout != output.Tree {
		return nil
	}
	taken := map[string]bool{}
	for i := range inputs.Files {
		for _, file := range inputs.Files[i].All() {
			taken[file.CopyName()] = true
		}
	}
	for _, side := range inputs.Sides {
		for _, of := range output.Copies {
			if slices.Contains(outputs, of) && !taken[side.CopyName()] {
				name := output.TreeName(of, side.CopyName())
				copies = append(copies, output.File{Name: name, Output: of, Input: quoting.Text(side.Path)})
			}
		}
	}
	return copies
}

// Sides writes the files that [SideCopies] returns.
func Sides(f Files, inputs *documents.Inputs, layout output.Layout, outputs []string) (files []output.File, err error) {
	for _, side := range SideCopies(inputs, layout, outputs) {
		content, err := storage.ReadFile(quoting.Original(side.Input))
		if err == nil {
			side, err = f.binary(side, content, 0)
		}
		if err != nil {
			return nil, fmt.Errorf("copy %s: %w", quoting.Original(side.Input), err)
		}
		files = append(files, side)
	}
	return files, nil
}

// binary writes a file that is no rows, or that many.
func (f Files) binary(file output.File, content []byte, rows int64) (output.File, error) {
	out, err := output.NewWriter(string(f.Partial), file, output.Binary)
	if err != nil {
		return file, err
	}
	defer out.Abort()
	if _, err := out.Write(content); err != nil {
		return file, err
	}
	out.Count(rows)
	return out.Close()
}
