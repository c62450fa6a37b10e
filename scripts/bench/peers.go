package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// peer is a program that finds near-duplicates, in what way it is had here, and how it is run.
type peer struct {
	name    string
	python  string   // the Python that it needs, where pip installs it into an environment of its own
	pip     []string // what pip installs
	program string   // a program on the PATH, instead of them
	missing string   // why it cannot be had, if nobody can have it in minutes on a machine without a GPU

	joins   string // what a row of its result joins: pairs, clusters or first seen
	prepare string // a shell command before it is measured
	command string // the shell command that is measured. It has the corpus as $CORPUS and peers.py as $PEERS
	read    string // a shell command that writes found.tsv after it was measured
}

// shards cuts the corpus into files, for programs that take a file to a core.
const shards = `mkdir shards && split -n l/8 --additional-suffix=.jsonl "$CORPUS" shards/`

// peers are all that we know of, and ourselves. All are asked for word 3-grams, 128 hashes in 16 bands and threshold
// 0.8 where they have the choice; duplodocus counts the spaces between words.
func peers() []peer {
	ours := `runjob run --quiet --input "$CORPUS" --output out --emit clusters,pairs --tokens words`
	drive := func(name string) string { return `python "$PEERS" ` + name + ` "$CORPUS"` }
	library := func(name string, pip ...string) peer {
		return peer{
			name:    name,
			python:  "python3",
			pip:     append(pip, "orjson==3.13.0", "regex==2026.11.19"),
			joins:   pairsJoined,
			command: drive(strings.ToLower(strings.Fields(name)[0])),
		}
	}
	return []peer{
		{name: "runjob", program: "runjob", joins: pairsJoined, command: ours},
		{name: "runjob `--recall 0.99`", program: "runjob", joins: pairsJoined, command: ours + " --recall 0.99"},
		{
			name:    "semblance 0.2.0",
			program: "semblance-clusters",
			joins:   pairsJoined,
			command: `semblance-clusters "$CORPUS"`,
		},
		{
			name:    "fastdedup d2c4614",
			program: "fastdedup",
			joins:   firstSeen,
			read:    drive("fastdedup-found"),
			command: `fastdedup fuzzy-dedup -i "$CORPUS" -o out.jsonl --field text --threshold 0.8 --num-hashes 128 --bands 16 --rows-per-band 8 --shingle-size 3 --word-shingles`,
		},
		{
			name:    "duplodocus 02cf2f7",
			program: "duplodocus",
			joins:   clustersJoined,
			prepare: shards,
			read:    drive("duplodocus-found"),
			command: "duplodocus minhash-memory --input-dir shards --storage-dir tmp --output-dir out --text-key " +
				"text --num-buckets 14 --bucket-size 8" +
				" --ngram-size 5 --tokenizer uniseg --remove-duplicates false --annotate true --annotate-key mh",
		},
		library("gaoya 0.2.2", "gaoya==0.2.2"),
		library("rensa 0.5.0", "rensa==0.5.0"),
		library("FastSketchLSH 1.0.1", "FastSketchLSH==1.0.1", "numpy==2.4.6"),
		library("datasketch 1.10.0", "datasketch==1.10.0", "xxhash==4.1.0"),
		{
			name:    "text-dedup 0.4.1, with its exact check",
			python:  "python3.12",
			pip:     []string{"text-dedup==0.4.1"},
			joins:   clustersJoined,
			command: drive("text-dedup"),
			read:    drive("text-dedup-found"),
		},
		{
			name:    "datatrove 0.10.0",
			python:  "python3",
			pip:     []string{"datatrove[processing]==0.10.0", "spacy==3.8.18", "orjson==3.13.0"},
			joins:   clustersJoined,
			prepare: shards,
			command: drive("datatrove"),
			read:    drive("datatrove-found"),
		},
		{
			name:    "Data-Juicer 1.6.1",
			python:  "python3",
			pip:     []string{"py-data-juicer==1.6.1", "aiohttp"},
			joins:   clustersJoined,
			command: drive("data-juicer"),
		},
		{name: "NeMo Curator", missing: "its near-duplicates need a GPU"},
		{name: "LSHBloom", missing: "no package of that name"},
	}
}

// laboratory is where peers are installed and run.
type laboratory struct {
	folder  string // keeps what was installed
	scratch string
	runjob  string
	drivers string // peers.py
	limit   time.Duration
}

// environment returns the variables of a peer's commands over a corpus in a folder. No run finds what another has
// cached.
func (l *laboratory) environment(p *peer, corpus, folder string) []string {
	path := []string{filepath.Join(l.venv(p), "bin"), filepath.Dir(l.runjob), os.Getenv("PATH")}
	return append(os.Environ(), "PATH="+strings.Join(path, ":"), "CORPUS="+corpus, "PEERS="+l.drivers,
		"HF_HUB_OFFLINE=1", "HF_HOME="+filepath.Join(folder, "huggingface"))
}

func (l *laboratory) venv(p *peer) string {
	return filepath.Join(l.folder, "peers", strings.ToLower(strings.Fields(p.name)[0]))
}

// install makes a peer ready to run, or says why it cannot be had.
func (l *laboratory) install(ctx context.Context, p *peer) error {
	switch {
	case p.missing != "":
		return errors.New(p.missing)
	case p.program == "runjob":
		return nil
	case p.program != "":
		if _, err := exec.LookPath(p.program); err != nil {
			return fmt.Errorf("no `%s` on the PATH", p.program)
		}
		return nil
	}
	whole := filepath.Join(l.venv(p), "installed")
	if _, err := os.Stat(whole); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	for _, command := range [][]string{
		{p.python, "-m", "venv", "--clear", l.venv(p)},
		append([]string{filepath.Join(l.venv(p), "bin", "pip"), "install", "--quiet", "--disable-pip-version-check"},
			p.pip...),
	} {
		if out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("does not install: %w %s", err, lastLine(out))
		}
	}
	return os.WriteFile(whole, nil, 0o666)
}

// run runs a peer once over a corpus in an empty folder.
func (l *laboratory) run(ctx context.Context, p *peer, corpus, folder string) (used usage, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	for _, step := range []string{p.prepare, p.command, p.read} {
		if step == "" {
			continue
		}
		command := exec.CommandContext(ctx, "sh", "-c", step)
		command.Dir, command.Env = folder, l.environment(p, corpus, folder)
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) } // its workers too
		once, err := measure(command)
		if ctx.Err() != nil {
			return used, fmt.Errorf("not done after %s", l.limit)
		}
		if err != nil {
			return used, err
		}
		if step == p.command {
			used = once
		}
	}
	return used, nil
}

// lastLine returns the last line of what a program said, short enough for a table.
func lastLine(said []byte) string {
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	last := []rune(strings.ReplaceAll(lines[len(lines)-1], "|", "/"))
	return string(last[:min(len(last), 100)])
}
