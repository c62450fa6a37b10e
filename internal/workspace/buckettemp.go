package workspace

import (
	"errors"
	"strings"

	"mirrorbeam/internal/storage"
)

// bucketTemp is a run's folder of temporary files in a storage other than the local disk. A lease beside the
// folder says that the run is alive.
type bucketTemp struct {
	storage storage.Storage
	folder  string
	lease   storage.Lease
}

// openBucketTemp takes the lease for the folder of a run, and clears away the folders of dead runs.
func openBucketTemp(parent, token string) (*bucketTemp, error) {
	s, err := storage.Of(parent)
	if err != nil {
		return nil, err
	}
	t := &bucketTemp{storage: s, folder: storage.Join(strings.TrimRight(parent, "/"), runPrefix+token)}
	if t.lease, err = s.Lease(t.folder+lockSuffix, "the run "+token); err != nil {
		return nil, err
	}
	if err := clearBucketTemp(s, strings.TrimRight(parent, "/")); err != nil {
		return nil, errors.Join(err, t.lease.Release())
	}
	return t, nil
}

// clearBucketTemp removes the folders of dead runs. It knows them by their ended leases: a run takes its
// lease before it writes its first file.
func clearBucketTemp(s storage.Storage, parent string) error {
	folders := map[string]bool{}
	for info, err := range s.List(parent) {
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(info.Name, parent+"/"), "/")
		first = strings.TrimSuffix(first, lockSuffix)
		if token, isRun := strings.CutPrefix(first, runPrefix); isRun && isToken(token) {
			folders[storage.Join(parent, first)] = true
		}
	}
	for folder := range folders {
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

// close removes the folder and gives the lease back. If it cannot remove some files, the next run does, which
// sees that the lease has ended.
func (t *bucketTemp) close() {
	if removeAll(t.storage, t.folder) == nil {
		_ = t.lease.Release()
	}
}
