package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// corpus is a file of JSON lines with the fields id and text.
type corpus struct{ about, path string }

// modules are Go modules in several versions, whose files are a corpus that everybody can make: the module proxy keeps
// them.
var modules = []string{
	"k8s.io/apimachinery@v0.29.0", "k8s.io/apimachinery@v0.30.0", "k8s.io/apimachinery@v0.31.0",
	"google.golang.org/grpc@v1.60.0", "google.golang.org/grpc@v1.66.0",
	"github.com/hashicorp/consul/api@v1.27.0", "github.com/hashicorp/consul/api@v1.29.1",
}

// makeCorpora returns the corpora of the comparison, and makes those that are not in the folder: files of Go modules,
// and the real texts in ../shared where they are.
func makeCorpora(folder string) ([]corpus, error) {
	all := []corpus{{
		"Files of Go modules in several versions, which the command fetches",
		filepath.Join(folder, "modules.jsonl"),
	}}
	if err := once(all[0].path, writeModules); err != nil {
		return nil, fmt.Errorf("make %s: %w", all[0].path, err)
	}
	const maker = "../shared/bench/make_bench.sh"
	real := filepath.Join(folder, "bench_small.jsonl")
	if _, err := os.Stat(maker); err == nil {
		err := once(real, func(string) error {
			command := exec.Command("bash", maker, folder)
			command.Env = append(os.Environ(), "NOTRUTH=1")
			out, err := command.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%s: %w %s", maker, err, lastLine(out))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		all = slices.Insert(all, 0, corpus{"Newswire, licences, documentation in 25 languages, Tang poems", real})
	}
	return all, nil
}

// once calls write unless the file is there.
func once(path string, write func(path string) error) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return write(path)
}

// writeModules downloads the modules and writes their texts of at most 1 MB, in the order of their names.
func writeModules(path string) error {
	download := exec.Command("go", append([]string{"mod", "download", "-json"}, modules...)...)
	download.Dir = filepath.Dir(path) // outside of this module
	list, err := download.Output()
	if err != nil {
		return fmt.Errorf("go mod download: %w", err)
	}
	part, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name())
	defer part.Close()
	buffered := bufio.NewWriterSize(part, 1<<20)
	for values := json.NewDecoder(bytes.NewReader(list)); values.More(); {
		var module struct{ Path, Version, Dir string }
		err := values.Decode(&module)
		if err == nil {
			err = writeTexts(json.NewEncoder(buffered), module.Path+"@"+module.Version, module.Dir)
		}
		if err != nil {
			return err
		}
	}
	if err := errors.Join(buffered.Flush(), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), path)
}

// writeTexts writes the texts of a folder as documents.
func writeTexts(out *json.Encoder, name, folder string) error {
	out.SetEscapeHTML(false)
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || len(text) > 1<<20 || !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
			return err
		}
		return out.Encode(struct {
			ID   string `json:"id"`
			Text string `json:"text"`
		}{name + strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(folder)), string(text)})
	})
}
