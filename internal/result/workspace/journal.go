package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
)

const (
	journalName = "journal.json"
	// setAsideName is the folder for the earlier results. It is in the folder of partial results.
	setAsideName = "earlier"
)

// journal says what is being renamed if two folders cannot be exchanged. As long as the journal exists,
// whoever finds it can finish the work.
type journal struct {
	// Old are the files of earlier results that are set aside. The mark of success goes first.
	Old []string `json:"old"`
	// New are the files that get their names. The mark of success gets its name last.
	New []move `json:"new"`
}

// publishByJournal sets the old results aside and gives the new results their names. It writes a journal
// first. With the journal the next job can finish the work.
func (p publication) publishByJournal() error {
	j := journal{
		Old: slices.DeleteFunc(slices.Clone(p.old.names), func(name string) bool { return name == SuccessName }),
		New: p.moves,
	}
	j.Old = append([]string{SuccessName}, j.Old...)
	if err := p.begin(j); err != nil {
		return err
	}
	err := p.forward(j, p.token)
	if err == nil {
		_ = p.end(p.token) // if it stays, nothing in it is left to do
		return nil
	}
	back := p.back(j, p.token)
	if back == nil {
		back = p.end(p.token)
	}
	if back != nil {
		return fmt.Errorf("%w: %w", errInterrupted, errors.Join(err, back))
	}
	return err
}

func (t target) journal(token string) string { return filepath.Join(t.partial(token), journalName) }

func (t target) aside(token string) string { return t.at(below(token, setAsideName)) }

// below returns the path in the target of an item in a run's folder of partial results.
func below(token string, names ...string) string {
	return filepath.Join(partialPrefix+runPrefix+token, filepath.Join(names...))
}

func (p publication) begin(j journal) error {
	if err := p.disk.mkdir(p.aside(p.token)); err != nil {
		return err
	}
	content, err := json.Marshal(j)
	if err != nil {
		return err
	}
	draft := p.journal(p.token) + ".draft"
	if err := p.disk.writeFile(draft, content, 0o666); err != nil {
		return err
	}
	for _, path := range []string{draft, p.partial(p.token)} {
		if err := p.disk.sync(path); err != nil {
			return err
		}
	}
	if err := p.disk.rename(draft, p.journal(p.token)); err != nil {
		return err
	}
	if err := p.disk.sync(p.partial(p.token)); err != nil {
		if end := p.end(p.token); end != nil {
			return fmt.Errorf("%w: %w", errInterrupted, errors.Join(err, end))
		}
		return err
	}
	return nil
}

func (t target) end(token string) error {
	if err := t.disk.remove(t.journal(token)); err != nil {
		return err
	}
	return t.disk.sync(t.partial(token))
}

func (j journal) check() error {
	names := slices.Clone(j.Old)
	for _, m := range j.New {
		names = append(names, m.To)
		if !isPlain(m.From) {
			return fmt.Errorf("%s has the name %q, which no job gives", journalName, m.From)
		}
	}
	for _, name := range names {
		if !isResult(name) {
			return fmt.Errorf("%s has the name %q, which no job gives", journalName, name)
		}
	}
	return nil
}

func isPlain(name string) bool {
	return filepath.IsLocal(name) && name == filepath.Base(name) && name != "."
}

// isResult reports whether a job gives that name to a file in its output folder, or a page about its results has it.
func isResult(name string) bool {
	return output.IsName(name) || slices.Contains([]string{ManifestName, SummaryName, SuccessName, ReportName}, name)
}

// forward does those steps of a journal that are not done yet.
func (t target) forward(j journal, token string) error {
	hasBegun := false
	for _, m := range j.New {
		info, err := t.disk.lstat(filepath.Join(t.partial(token), m.From))
		if err != nil {
			return err
		}
		if info != nil && !info.Mode().IsRegular() {
			return storage.CheckRegular(info.Name(), info)
		}
		hasBegun = hasBegun || info == nil
	}
	// The first new file gets its name after the last old one is set aside.
	if !hasBegun {
		if err := t.setAside(j, token); err != nil {
			return err
		}
	}
	for _, m := range j.New {
		if m.To == SuccessName {
			if err := t.syncFolders(publication{moves: j.New}.names()); err != nil {
				return err
			}
		}
		from := below(token, m.From)
		if output.IsTreeName(m.To) && t.disk.exists(t.at(from)) {
			if err := t.makeRoom(m.To, ""); err != nil {
				return err
			}
		}
		if err := t.renameIfThere(from, m.To); err != nil {
			return err
		}
	}
	return t.disk.sync(t.path)
}

func (t target) setAside(j journal, token string) error {
	for _, name := range j.Old {
		if err := t.renameIfThere(name, below(token, setAsideName, name)); err != nil {
			return err
		}
	}
	if err := (target{t.disk, t.aside(token)}).syncFolders(j.Old); err != nil {
		return err
	}
	return t.disk.sync(t.path)
}

// back undoes the steps of forward, the last step first.
func (t target) back(j journal, token string) error {
	for _, m := range slices.Backward(j.New) {
		from := below(token, m.From)
		info, err := t.disk.lstat(t.at(from))
		if err == nil && info == nil {
			err = t.renameIfThere(m.To, from)
		} else if err == nil {
			err = t.removeParents(m.To)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range slices.Backward(j.Old) {
		if err := t.renameIfThere(below(token, setAsideName, name), name); err != nil {
			return err
		}
	}
	return t.disk.sync(t.path)
}

// renameIfThere renames a file in or below the target, unless the file is gone or a folder has taken its name. It makes
// the folders of a tree, and removes those that are left empty.
func (t target) renameIfThere(from, to string) error {
	info, err := t.disk.lstat(t.at(from))
	if err != nil || info == nil || info.IsDir() {
		return errors.Join(err, t.removeParents(from))
	}
	if output.IsTreeName(from) || output.IsTreeName(to) {
		if err := t.disk.mkdirIn(t.path, filepath.Dir(to)); err != nil {
			return err
		}
	}
	if err := t.disk.renameIn(t.path, from, to); err != nil {
		return err
	}
	return t.removeParents(from)
}

// IsInterrupted reports whether a job was killed while it gave the results in an output folder their names.
// The next job with that folder finishes the work.
func IsInterrupted(path string) bool {
	tokens, err := target{path: path}.tokens()
	return err == nil && slices.ContainsFunc(tokens, func(token string) bool {
		t := target{path: path}
		return t.disk.exists(t.journal(token))
	})
}

func (t target) finishJournal(token string) error {
	if err := t.disk.ask("read", t.journal(token)); err != nil {
		return fmt.Errorf("finish publishing what an earlier job had begun: %w", err)
	}
	content, err := readOwn(t.journal(token))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var j journal
	if err == nil {
		err = json.Unmarshal(content, &j)
	}
	if err == nil {
		err = j.check()
	}
	if err == nil {
		err = t.forward(j, token)
	}
	if err == nil {
		err = t.end(token)
	}
	if err != nil {
		return fmt.Errorf("finish publishing what an earlier job had begun: %w", err)
	}
	return nil
}
