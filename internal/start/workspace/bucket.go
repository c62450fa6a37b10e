package workspace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/ground/storage"
)

// A storage other than the local disk has no folders, no locks and no renames. There a lease says that a run
// is at work on an output folder. A run writes its results under names of its own. It publishes them by
// copies that the storage makes itself, in this order: remove the old mark of success, copy the results and
// the manifest, and write the new mark of success last. It writes a journal before the first change. With the
// journal the next run can finish what a dead run has begun.

const (
	leaseName       = ".mirrorbeam-lease"
	publicationName = "publication.json"
	// requests is how many requests are under way at a time.
	requests = 64
)

// bucket is an output folder in a storage other than the local disk. The run holds its lease.
type bucket struct {
	storage storage.Storage
	folder  string
	token   string
	lease   storage.Lease
}

// recoverBucket takes the lease of an output folder and clears away what dead runs have left there, unless it resumes
// one.
func (w *Workspace) recoverBucket(folder string) (*bucket, error) {
	b, err := leaseBucket(folder, w.token)
	if err != nil {
		return nil, err
	}
	w.Output = b.folder
	if err := b.recover(w.resume); err != nil {
		return nil, errors.Join(fmt.Errorf("clear away what an earlier job left: %w", err), b.lease.Release())
	}
	b.token = w.token
	return b, nil
}

// leaseBucket takes the lease of an output folder.
func leaseBucket(folder, token string) (*bucket, error) {
	s, err := storage.Of(folder)
	if err != nil {
		return nil, err
	}
	b := &bucket{storage: s, folder: strings.TrimRight(folder, "/"), token: token}
	if b.lease, err = s.Lease(b.at(leaseName), "the run "+token); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *bucket) at(name string) string { return storage.Join(b.folder, name) }

// partial is the folder of a run's results that are not published yet.
func (b *bucket) partial(token string) string { return b.at(partialPrefix + runPrefix + token) }

// recover finishes what dead runs have begun, and removes what they have left. No other run is alive, since
// each would hold the lease, but for a run whose job is in the hands of a cluster. It asks whether a run is resumed.
func (b *bucket) recover(resume func(token, partial string) (bool, error)) error {
	tokens, err := b.tokens()
	if err != nil {
		return err
	}
	for token := range tokens {
		if is, err := isHandedOver(b.partial(token)); err != nil {
			return err
		} else if is {
			return &HandedOverError{b.folder}
		}
		if resumed, err := resume(token, b.partial(token)); err != nil {
			return err
		} else if resumed {
			continue
		}
		content, err := storage.ReadFile(storage.Join(b.partial(token), publicationName))
		switch {
		case err == nil:
			j, err := parseJournal(content)
			if err == nil {
				err = b.carryOut(token, j)
			}
			if err != nil {
				return err
			}
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := b.removePartial(token); err != nil {
			return err
		}
	}
	return nil
}

// removePartial removes the results of a run that are not published. The journal goes first: otherwise it
// would ask for files that are gone.
func (b *bucket) removePartial(token string) error {
	if err := b.storage.Remove(storage.Join(b.partial(token), publicationName)); err != nil {
		return err
	}
	return removeAll(b.storage, b.partial(token))
}

// bucketJournal says what a run is about to do.
type bucketJournal struct {
	// Moves are all new files, the mark of success last.
	Moves []move `json:"moves"`
	// Remove are the names of the old results that nothing replaces.
	Remove []string `json:"remove"`
}

// parseJournal reads the journal of a run. It refuses names that lead out of the run's folders.
func parseJournal(content []byte) (j bucketJournal, err error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&j); err != nil {
		return j, fmt.Errorf("%s does not come from a job: %w", publicationName, err)
	}
	names := slices.Clone(j.Remove)
	for _, m := range j.Moves {
		names = append(names, m.From, m.To)
	}
	for _, name := range names {
		if name == "" || strings.Contains(name, "/") {
			return j, fmt.Errorf("%s does not come from a job: it has the name %q", publicationName, name)
		}
	}
	if n := len(j.Moves); n == 0 || j.Moves[n-1].To != SuccessName {
		return j, fmt.Errorf("%s does not come from a job: it does not end with %s", publicationName, SuccessName)
	}
	return j, nil
}

// carryOut does what a journal says. It can be repeated, wherever it stopped before.
func (b *bucket) carryOut(token string, j bucketJournal) error {
	if err := b.lease.Check(); err != nil {
		return err
	}
	if err := b.storage.Remove(b.at(SuccessName)); err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(requests)
	for _, name := range j.Remove {
		group.Go(func() error { return b.storage.Remove(b.at(name)) })
	}
	for _, m := range j.Moves[:len(j.Moves)-1] {
		group.Go(func() error { return b.storage.Copy(storage.Join(b.partial(token), m.From), b.at(m.To)) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := b.lease.Check(); err != nil {
		return err
	}
	w, err := b.storage.Create(b.at(SuccessName), storage.Options{IfAbsent: true})
	if err != nil {
		return err
	}
	defer w.Abort()
	return w.Commit()
}

// earlier looks for the results of an earlier job, as the earlier of target does on the local disk.
func (b *bucket) earlier() (earlier, error) {
	content, err := storage.ReadFile(b.at(ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return earlier{}, nil
	}
	if err != nil {
		return earlier{}, err
	}
	m, err := parseManifest(content)
	if err != nil {
		return earlier{}, fmt.Errorf("%s does not come from a job: %w", ManifestName, err)
	}
	_, err = b.storage.Stat(b.at(SuccessName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return earlier{}, err
	}
	return earlier{token: m.Token, names: append(pages(b.folder), m.names()...), whole: err == nil}, nil
}

// check refuses an output folder with files that may not be replaced.
func (b *bucket) check(overwrite bool) error {
	old, err := b.earlier()
	if err != nil {
		return fmt.Errorf("the output folder %s holds what no job has written: %w: give another folder, or move the file away", b.folder, err)
	}
	if overwrite {
		return nil
	}
	for info, err := range b.storage.List(b.folder) {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(info.Name, b.folder+"/")
		isUnfinished := !old.whole && old.has(name)
		if !isUnfinished && name != leaseName && !strings.HasPrefix(name, partialPrefix) {
			return setting.Errorf("the output folder %s is not empty (it holds %s): give another one, or {overwrite} to replace the results of an earlier job", b.folder, name)
		}
	}
	return nil
}

// publish gives the finished files their names, and writes the manifest, the summary and the mark of success
// beside them. IsInterrupted says that the next run has to finish the work.
func (b *bucket) publish(files []output.File, summary any) (isInterrupted bool, err error) {
	old, err := b.earlier()
	if err != nil {
		return false, err
	}
	j, err := b.prepare(files, summary, old)
	if err != nil {
		return false, err
	}
	if err := b.writeJSON(publicationName, j); err != nil {
		return false, err
	}
	if err := b.carryOut(b.token, j); err != nil {
		return true, fmt.Errorf("%w: %w", err, errInterrupted)
	}
	return false, nil
}

// prepare checks the finished files, writes the files beside them and returns the journal of the publication.
func (b *bucket) prepare(files []output.File, summary any, old earlier) (j bucketJournal, err error) {
	partial := b.partial(b.token)
	sizes := map[string]int64{}
	for info, err := range b.storage.List(partial) {
		if err != nil {
			return j, err
		}
		sizes[info.Name] = info.Size
	}
	for i, file := range files {
		size, is := sizes[storage.Join(partial, file.Temporary)]
		if !is || size != file.Bytes {
			return j, fmt.Errorf("check %s: it has %d bytes, %d were written", file.Name, size, file.Bytes)
		}
		j.Moves = append(j.Moves, move{file.Temporary, file.Name})
		files[i].Temporary = ""
	}
	if err := b.writeJSON(ManifestName, Manifest{b.token, files}); err != nil {
		return j, err
	}
	if err := b.writeJSON(SummaryName, summary); err != nil {
		return j, err
	}
	j.Moves = append(j.Moves, move{SummaryName, SummaryName}, move{ManifestName, ManifestName}, move{SuccessName, SuccessName})
	return j, b.checkNames(&j, old)
}

// checkNames refuses names that foreign files have. It notes the old results that nothing replaces.
func (b *bucket) checkNames(j *bucketJournal, old earlier) error {
	isNew := map[string]bool{}
	for _, m := range j.Moves {
		isNew[m.To] = true
	}
	for info, err := range b.storage.List(b.folder) {
		if err != nil {
			return err
		}
		switch name := strings.TrimPrefix(info.Name, b.folder+"/"); {
		case isNew[name] && !old.has(name):
			return fmt.Errorf("in the output folder %s there is a file %s that no job has written: move it away", b.folder, name)
		case !isNew[name] && old.has(name):
			j.Remove = append(j.Remove, name)
		}
	}
	return nil
}

// writeJSON writes a file of the run.
func (b *bucket) writeJSON(name string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		err = storage.WriteFile(storage.Join(b.partial(b.token), name), append(content, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// close removes unpublished files, unless they are needed, and gives the lease back.
func (b *bucket) close(isNeeded bool) {
	if !isNeeded {
		_ = b.removePartial(b.token) // if it fails, the next run removes them
	}
	_ = b.lease.Release() // if it fails, the lease ends by itself
}

// removeAll removes all files of a folder.
func removeAll(s storage.Storage, folder string) error {
	var group errgroup.Group
	group.SetLimit(requests)
	for info, err := range s.List(folder) {
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		group.Go(func() error { return s.Remove(info.Name) })
	}
	return group.Wait()
}
