package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"mirrorbeam.dev/internal/storage"
)

// record says what a run has made. A copy is in the run's lock, and as a mark in each of its folders. A
// folder without that mark was made by somebody else.
type record struct {
	token  string // random, part of the names of the lock and of the folders
	output string // where results are published
	temp   string // the run's folder of temporary files
}

const (
	runPrefix     = "run-"
	partialPrefix = ".partial-"
	stagingPrefix = ".publish-"
	lockSuffix    = ".lock"
	markName      = ".mirrorbeam-run"
)

const (
	// recordForm has the paths quoted, since they may contain any byte.
	recordForm = "mirrorbeam run %s\noutput %q\ntemp %q\n"
	// tokenForm describes what rand.Text makes.
	tokenForm = `[A-Z2-7]{26}`
)

func (r record) encode() []byte { return fmt.Appendf(nil, recordForm, r.token, r.output, r.temp) }

func decodeRecord(content []byte) (r record, err error) {
	_, err = fmt.Sscanf(string(content), recordForm, &r.token, &r.output, &r.temp)
	if err != nil || !isToken(r.token) || !bytes.Equal(content, r.encode()) {
		return r, errors.New("not the record of a run")
	}
	return r, nil
}

var tokenPattern = regexp.MustCompile("^" + tokenForm + "$")

func isToken(s string) bool { return tokenPattern.MatchString(s) }

// IsPartial reports whether a file belongs to results that are not published yet.
func IsPartial(path string) bool {
	return strings.HasPrefix(filepath.Base(filepath.Dir(path)), partialPrefix+runPrefix)
}

func (r record) lock() string { return r.temp + lockSuffix }

func (r record) mark(d disk, folder string) error {
	if err := d.mkdir(folder); err != nil {
		return err
	}
	return d.writeFile(filepath.Join(folder, markName), r.encode(), 0o600)
}

// marked returns the mark of a folder. It reports whether a run of this user with that token has made both
// the folder and the mark.
func marked(folder, token string) (r record, is bool) {
	if !isOwnFolder(folder) {
		return r, false
	}
	content, err := readOwn(filepath.Join(folder, markName))
	if err != nil {
		return r, false
	}
	r, err = decodeRecord(content)
	return r, err == nil && r.token == token
}

// removeMarked removes a folder that is marked with the token. It removes a folder without a mark only if
// that is empty: then its run died before it marked the folder.
func removeMarked(d disk, folder, token string) error {
	if _, is := marked(folder, token); is {
		return d.removeFolder(folder)
	}
	if !isOwnFolder(folder) {
		return nil // there is no folder, or it is foreign
	}
	entries, err := d.readDir(folder)
	if err != nil {
		return err
	}
	if len(entries) == 1 && entries[0].Name() == markName {
		if info, err := entries[0].Info(); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			return d.removeFolder(folder)
		}
	}
	if len(entries) > 0 {
		return nil
	}
	return removeEmpty(folder)
}

// sweeper clears away what dead runs have left, for a run with an output folder.
type sweeper struct {
	disk   disk
	output string
}

// clearTemp removes what dead runs have left in a folder of temporary files. It also clears the output
// folders that their locks name.
func (s sweeper) clearTemp(parent string) {
	entries, err := s.disk.readDir(parent)
	if err != nil {
		return
	}
	for _, entry := range entries {
		name, isLock := strings.CutSuffix(entry.Name(), lockSuffix)
		token, isRun := strings.CutPrefix(name, runPrefix)
		if isLock && isRun && isToken(token) && entry.Type().IsRegular() {
			s.clearLock(filepath.Join(parent, entry.Name()), token)
		}
	}
}

func (s sweeper) clearLock(path, token string) {
	lock, err := storage.Lock(path, os.O_RDWR)
	if err != nil {
		return // the run is alive, or the lock is another user's
	}
	defer lock.Close()
	if info, err := lock.Stat(); err != nil || !info.Mode().IsRegular() || !isOwn(info) {
		return // foreign
	}
	content, err := io.ReadAll(lock)
	if err != nil {
		return
	}
	folder := strings.TrimSuffix(path, lockSuffix)
	r, err := decodeRecord(content)
	if len(content) == 0 {
		r, err = record{token: token, temp: folder}, nil // it died before it wrote its record
	}
	if err != nil || r.token != token {
		return // foreign
	}
	if is, err := isHandedOver(folder); is || err != nil {
		return // a cluster works on its job
	}
	if k, is, err := readKept(folder); is && k.waits(s.output) || err != nil {
		return
	}
	if r.output != "" && storage.Scheme(r.output) == "" && !s.clearOutput(r) {
		return
	}
	if removeMarked(s.disk, folder, token) == nil && !s.disk.exists(folder) {
		_ = s.disk.remove(path)
	}
}

// clearOutput clears away what a dead run has left in its output folder. It reports whether nothing is left there.
func (s sweeper) clearOutput(r record) bool {
	t := target{s.disk, r.output}
	if r.output == s.output {
		return t.clear(r)
	}
	if !s.disk.exists(r.output) {
		return true
	}
	lock, err := storage.Lock(r.output, os.O_RDONLY)
	if err != nil {
		return false // a job is at work there, and clears it
	}
	defer lock.Close()
	return t.clear(r)
}

// clear clears away what a run has left in the target. It trusts a record in the target only if that equals
// the record in the run's lock. It reports whether nothing of the run is left.
func (t target) clear(r record) bool {
	found, is := t.recordOf(r.token)
	if !is {
		return t.removeUnmarked(r.token) == nil
	}
	return found == r && t.recover(r.token) == nil
}
