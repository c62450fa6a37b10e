package bucket

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"mirrorbeam.dev/internal/storage"
)

// leaseFile is the content of the object of a lease.
type leaseFile struct {
	Holder  string    `json:"holder"`
	Token   string    `json:"token"` // of this lease alone
	Since   time.Time `json:"since,omitzero"`
	Expires time.Time `json:"expires"` // by the clock of the holder
}

// lease is an object that is renewed for as long as it is held.
type lease struct {
	store *Store
	name  string
	key   Key
	file  leaseFile

	stop    chan struct{}
	ended   sync.WaitGroup
	release func() error

	mutex      sync.Mutex
	generation string    // of the object
	until      time.Time // the lease is sure until then, by the monotonic clock
	lost       error
}

// Lease takes the lease of a name. It is an object with the holder and the time at which it ends unless it is renewed,
// as is done four times in the duration of a lease. When a process dies its lease ends by itself. Another holder takes
// it half a duration later than it says, so that clocks may differ by as much.
func (s *Store) Lease(name, holder string) (storage.Lease, error) {
	key, err := s.target("lease", name)
	if err != nil {
		return nil, err
	}
	// What takes longer than a renewal may is of no use.
	hasty := *s
	hasty.hurry = s.limits.Lease / 4
	l := &lease{store: &hasty, name: name, key: key, stop: make(chan struct{})}
	l.release = sync.OnceValue(l.giveBack)
	l.file = leaseFile{Holder: holder, Token: rand.Text(), Since: time.Now()}
	err = l.put(Put{IfAbsent: true})
	if errors.Is(err, errUnmet) {
		err = l.takeOver()
	}
	if err != nil {
		return nil, err
	}
	l.ended.Go(l.keep)
	return l, nil
}

// takeOver takes a lease that has ended, or says who holds it.
func (l *lease) takeOver() error {
	held := &storage.HeldError{Name: l.name}
	file, err := l.store.Open(l.name)
	if errors.Is(err, fs.ErrNotExist) {
		return held // it was given back this moment
	}
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	const most = 64 << 10 // more is no lease
	content := make([]byte, min(info.Size, most))
	if _, err := file.ReadAt(content, 0); errors.Is(err, storage.ErrChanged) {
		return held // it was renewed or given back this moment
	} else if err != nil {
		return err
	}
	var other leaseFile
	if err := json.Unmarshal(content, &other); err != nil || other.Token == "" {
		return &fs.PathError{
			Op:   "lease",
			Path: l.name,
			Err:  errors.New("this file is no lease: remove it, or use another name"),
		}
	}
	held.Holder, held.Since = other.Holder, other.Since
	held.Ends = other.Expires.Add(l.store.limits.Lease / 2)
	if time.Now().Before(held.Ends) {
		return held
	}
	err = l.put(Put{IfGeneration: info.Generation})
	if errors.Is(err, errUnmet) || errors.Is(err, fs.ErrNotExist) {
		return held // another one was faster
	}
	return err
}

// put writes the object under a condition. The lease is sure from before the request for as long as the object says.
func (l *lease) put(put Put) error {
	now := time.Now()
	l.file.Expires = now.Add(l.store.limits.Lease)
	content, err := json.Marshal(l.file)
	if err != nil {
		return &fs.PathError{Op: "lease", Path: l.name, Err: err}
	}
	put.Key, put.Token, put.CRC32C = l.key, rand.Text(), CRC32C(content)
	generation, err := l.store.write("lease", put, func(ctx context.Context) (string, error) {
		return l.store.writes.Put(ctx, put, content)
	})
	if err == nil {
		l.generation, l.until = generation, now.Add(l.store.limits.Lease)
	}
	return err
}

// keep renews the lease until it is given back or lost.
func (l *lease) keep() {
	tick := time.NewTicker(l.store.limits.Lease / 4)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		if !l.renew() {
			return
		}
	}
}

// renew reports whether the lease may still be held.
func (l *lease) renew() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	err := l.put(Put{IfGeneration: l.generation})
	if errors.Is(err, errUnmet) || errors.Is(err, fs.ErrNotExist) || err != nil && !time.Now().Before(l.until) {
		l.lost = fmt.Errorf("the lease is lost: %w", err)
	}
	return l.lost == nil
}

// Check asks, by one request, whether the object still belongs to this lease.
func (l *lease) Check() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.lost != nil {
		return l.lost
	}
	info, err := l.store.Stat(l.name)
	switch {
	case err != nil:
		return err
	case info.Generation != l.generation:
		return &fs.PathError{
			Op:   "lease",
			Path: l.name,
			Err:  errors.New("the lease is lost: somebody else has taken it"),
		}
	case !time.Now().Before(l.until):
		return &fs.PathError{
			Op:   "lease",
			Path: l.name,
			Err:  errors.New("the lease has ended: it could not be renewed in time"),
		}
	}
	return nil
}

// Release removes the object. One that may be somebody else's by now is left alone.
func (l *lease) Release() error { return l.release() }

func (l *lease) giveBack() error {
	close(l.stop)
	l.ended.Wait()
	if l.lost != nil || !time.Now().Before(l.until) {
		return nil
	}
	tried := false
	err := l.store.request("release", l.name, func(ctx context.Context) error {
		if tried {
			// The answer to the first try may have been lost, and another one may have taken the lease. Not every
			// service knows the condition of a removal.
			if object, err := l.store.service.Stat(ctx, l.key); err != nil || object.Generation != l.generation {
				return err
			}
		}
		tried = true
		return l.store.writes.Remove(ctx, l.key, l.generation)
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errUnmet) {
		return nil
	}
	return err
}
