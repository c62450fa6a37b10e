package workspace

import (
	"errors"
	"strings"

	"mirrorbeam/internal/ground/storage"
)

// bucketTemp is a run's folder of temporary files in a storage other than the local disk. A lease beside the
// folder says that the run is alive.
type bucketTemp struct {
	storage storage.Storage
	folder  string
	lease   storage.Lease
}

// openBucketTemp takes the lease for the folder of a run for an output folder, and clears away the folders of dead runs.
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

// clearBucketTemp removes the folders of dead runs. It knows them by their ended leases: a run takes its
// lease before it writes its first file. It leaves alone the folder of a job that is in the hands of a cluster, and of a
// run that waits to be resumed.
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
			isInUse[folder] = isInUse[folder] || rest == HandoverName
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

// close removes the folder, unless it is needed, and gives the lease back. If it cannot remove some files, the next run
// does, which sees that the lease has ended.
func (t *bucketTemp) close(isNeeded bool) {
	if isNeeded || removeAll(t.storage, t.folder) == nil {
		_ = t.lease.Release()
	}
}
