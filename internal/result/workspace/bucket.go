package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
)

// A storage other than the local disk has no folders, no locks and no renames. There a lease says that a run
// is at work on an output folder. A run writes its results under names of its own. It publishes them by
// copies that the storage makes itself, in this order: remove the old mark of success, copy the results and
// the manifest, remove old results that nothing replaces, and copy the new mark of success last. It writes a
// journal before the first change. With the journal the next run can finish what a dead run has begun.
//
// A run may also be stopped for longer than its lease lasts, and go on when another run has published newer
// results. Nothing that it still does may touch these. So a journal names the manifest that it replaces, and is
// void next to any other one. Every copy is made from the folder of the run, which the next run removes before it
// publishes. What is removed is removed in the generation that was seen under the lease.

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
	lease   storage.Lease
}

func leaseBucket(folder, token string) (*bucket, error) {
	s, err := storage.Of(folder)
	if err != nil {
		return nil, err
	}
	b := &bucket{storage: s, folder: strings.TrimRight(folder, "/")}
	if b.lease, err = s.Lease(b.at(leaseName), "the run "+token); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *bucket) at(name string) string { return storage.Join(b.folder, name) }

func (b *bucket) partial(token string) string { return b.at(partialPrefix + runPrefix + token) }

// begin has nothing to do: in a bucket a folder need not be made.
func (b *bucket) begin(record) error { return nil }

func (b *bucket) write(path string, content []byte) error { return storage.WriteFile(path, content) }

func (b *bucket) entries() (entries []entry, err error) {
	known := map[entry]bool{}
	for info, err := range b.storage.List(b.folder) {
		if err != nil {
			return nil, err
		}
		first, _, isFolder := strings.Cut(strings.TrimPrefix(info.Name, b.folder+"/"), "/")
		if e := (entry{first, isFolder}); !known[e] {
			known[e] = true
			entries = append(entries, e)
		}
	}
	return entries, nil
}

func (b *bucket) tokens() ([]string, error) {
	entries, err := b.entries()
	return runTokens(entries), err
}

// claim returns true: no other run is alive, since each would hold the lease.
func (b *bucket) claim(string) (bool, error) { return true, nil }

func (b *bucket) recover(token string) error {
	content, err := storage.ReadFile(storage.Join(b.partial(token), publicationName))
	if errors.Is(err, fs.ErrNotExist) {
		return b.removePartial(token)
	}
	if err != nil {
		return err
	}
	j, err := parseJournal(content)
	if err != nil {
		return err
	}
	isWhole, err := b.hasSources(token, j)
	if err != nil {
		return err
	}
	if isWhole {
		if err := b.carryOut(token, j); err != nil && !errors.Is(err, errVoid) {
			return err
		}
	}
	return b.removePartial(token)
}

// hasSources reports whether the folder of a run still has all files that its journal gives their names.
func (b *bucket) hasSources(token string, j bucketJournal) (bool, error) {
	found, err := Listed(b.partial(token))
	isMissing := func(m move) bool {
		_, is := found[storage.Join(b.partial(token), m.From)]
		return !is
	}
	return err == nil && !slices.ContainsFunc(j.Moves, isMissing), err
}

// removePartial removes the results of a run that are not published. The journal goes first: otherwise it
// would ask for files that are gone.
func (b *bucket) removePartial(token string) error {
	if err := b.storage.Remove(storage.Join(b.partial(token), publicationName)); err != nil {
		return err
	}
	return removeAll(b.storage, b.partial(token))
}

type bucketJournal struct {
	// Replaces is the token of the manifest that the new one replaces, empty if there is none.
	Replaces string `json:"replaces"`
	// Moves are all new files, the mark of success last.
	Moves []move `json:"moves"`
	// Remove are the names of the old results that nothing replaces.
	Remove []string `json:"remove"`
}

// parseJournal refuses names that lead out of the run's folders.
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
		if name == "" || strings.Contains(name, "/") && !output.IsTreeName(name) {
			return j, fmt.Errorf("%s does not come from a job: it has the name %q", publicationName, name)
		}
	}
	if n := len(j.Moves); n == 0 || j.Moves[n-1].To != SuccessName {
		return j, fmt.Errorf("%s does not come from a job: it does not end with %s", publicationName, SuccessName)
	}
	return j, nil
}

// errVoid says that a journal is out of date: it would put older results over newer ones.
var errVoid = errors.New("another run has published newer results meanwhile, which stay")

// check returns errVoid unless the manifest in the folder is the one that a journal replaces, or the one of its run.
func (b *bucket) check(token string, j bucketJournal) error {
	m, err := b.manifest()
	if err == nil && m.Token != j.Replaces && m.Token != token {
		err = errVoid
	}
	return err
}

// carryOut does what a journal says, unless that is void. It can be repeated, wherever it stopped before.
func (b *bucket) carryOut(token string, j bucketJournal) error {
	seen, err := Listed(b.folder)
	if err == nil {
		err = b.check(token, j)
	}
	if err == nil {
		err = b.lease.Check() // last: so nobody else has changed what was seen
	}
	if err != nil {
		return err
	}
	if err := b.removeAsSeen(seen, []string{SuccessName}); err != nil {
		return err
	}
	last := len(j.Moves) - 1
	var group errgroup.Group
	group.SetLimit(requests)
	for _, m := range j.Moves[:last] {
		group.Go(func() error { return b.copy(token, m) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := b.removeAsSeen(seen, j.Remove); err != nil {
		return err
	}
	if err := b.lease.Check(); err != nil {
		return err
	}
	return b.copy(token, j.Moves[last])
}

func (b *bucket) copy(token string, m move) error {
	return b.storage.Copy(storage.Join(b.partial(token), m.From), b.at(m.To))
}

func (b *bucket) removeAsSeen(seen map[string]storage.Info, names []string) error {
	var group errgroup.Group
	group.SetLimit(requests)
	for _, name := range names {
		if info, is := seen[b.at(name)]; is {
			group.Go(func() error { return storage.RemoveGeneration(b.storage, info.Name, info.Generation) })
		}
	}
	return group.Wait()
}

func (b *bucket) manifest() (Manifest, error) {
	content, err := storage.ReadFile(b.at(ManifestName))
	return readManifest(content, err)
}

func (b *bucket) earlier() (earlier, error) {
	m, err := b.manifest()
	if err != nil || m.Files == nil {
		return earlier{}, err
	}
	_, err = b.storage.Stat(b.at(SuccessName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return earlier{}, err
	}
	e := newEarlier(append(pages(b.folder), m.names()...), err == nil)
	e.token = m.Token
	for _, tree := range trees(e.names) {
		for info, err := range b.storage.List(b.at(tree)) {
			if err != nil {
				return earlier{}, err
			}
			if name := strings.TrimPrefix(info.Name, b.folder+"/"); !e.has(name, false) {
				return earlier{}, unlisted(name)
			}
		}
	}
	return e, nil
}

// publish writes in a journal what it is about to do, and does it. The next run finishes what is interrupted. A run
// that has lost its lease leaves no journal.
func (b *bucket) publish(p publication) (isInterrupted bool, err error) {
	if err := b.lease.Check(); err != nil {
		return false, err
	}
	j := bucketJournal{Replaces: p.old.token, Moves: p.moves}
	next := newEarlier(p.names(), false)
	for _, name := range p.old.names {
		if !next.has(name, false) {
			j.Remove = append(j.Remove, name)
		}
	}
	content, err := json.Marshal(j)
	if err == nil {
		err = b.write(storage.Join(b.partial(p.token), publicationName), content)
	}
	if err != nil {
		return false, fmt.Errorf("write %s: %w", publicationName, err)
	}
	err = b.carryOut(p.token, j)
	if err == nil || errors.Is(err, errVoid) {
		return false, err
	}
	if void := b.check(p.token, j); errors.Is(void, errVoid) {
		return false, fmt.Errorf("%w: %w", void, err)
	}
	if errors.Is(err, context.Canceled) { // the folder is not as it was, as it is after an interruption before
		err = errors.New(err.Error())
	}
	return true, fmt.Errorf("%w: %w", err, errInterrupted)
}

// close removes unpublished files, unless they are needed, and gives the lease back.
func (b *bucket) close(token string, isNeeded bool) {
	if !isNeeded {
		_ = b.removePartial(token) // if it fails, the next run removes them
	}
	_ = b.lease.Release() // if it fails, the lease ends by itself
}

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

// bucketTemp is a run's folder of temporary files in a storage other than the local disk. A lease next to the
// folder says that the run is alive.
type bucketTemp struct {
	storage storage.Storage
	folder  string
	lease   storage.Lease
}

// openBucketTemp takes the lease for a run's folder of an output folder, and clears away folders of dead runs.
func openBucketTemp(parent, token, output string) (*bucketTemp, error) {
	parent = strings.TrimRight(parent, "/")
	t, err := leaseBucketTemp(storage.Join(parent, runPrefix+token), token)
	if err != nil {
		return nil, err
	}
	if err := clearBucketTemp(t.storage, parent, output); err != nil {
		return nil, errors.Join(err, t.lease.Release())
	}
	return t, nil
}

func leaseBucketTemp(folder, token string) (*bucketTemp, error) {
	s, err := storage.Of(folder)
	if err != nil {
		return nil, err
	}
	t := &bucketTemp{storage: s, folder: folder}
	if t.lease, err = s.Lease(folder+lockSuffix, "the run "+token); err != nil {
		return nil, err
	}
	return t, nil
}

// clearBucketTemp removes the folders of dead runs. It knows them by their ended leases: a run takes its lease before
// it writes its first file. It leaves alone the folder of a job that is in the hands of a cluster, and of a run that
// waits to be resumed.
func clearBucketTemp(s storage.Storage, parent, output string) error {
	isInUse := map[string]bool{}
	for info, err := range s.List(parent) {
		if err != nil {
			return err
		}
		first, rest, _ := strings.Cut(strings.TrimPrefix(info.Name, parent+"/"), "/")
		first = strings.TrimSuffix(first, lockSuffix)
		if token, isRun := strings.CutPrefix(first, runPrefix); isRun && isToken(token) {
			folder := storage.Join(parent, first)
			isInUse[folder] = isInUse[folder] || rest == SubmissionName
		}
	}
	for folder, handedOver := range isInUse {
		if handedOver {
			continue
		}
		if k, is, err := readKept(folder); err != nil {
			return err
		} else if is && k.waits(output) {
			continue
		}
		lease, err := s.Lease(folder+lockSuffix, "a run that clears away")
		if _, lives := errors.AsType[*storage.HeldError](err); lives {
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(removeAll(s, folder), lease.Release()); err != nil {
			return err
		}
	}
	return nil
}

// close removes the folder, unless it is needed, and gives the lease back.
func (t *bucketTemp) close(isNeeded bool) {
	if !isNeeded {
		// if it leaves some files, the next run finds them without a lease, and removes them
		_ = removeAll(t.storage, t.folder)
	}
	_ = t.lease.Release()
}
