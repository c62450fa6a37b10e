package storagetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mirrorbeam.dev/internal/storage"
)

func tryLease(t *testing.T, p Place) {
	lease, err := p.Storage.Lease(p.at("lease"), "the first job")
	if err != nil {
		t.Fatal(err)
	}
	var held *storage.HeldError
	if _, err := p.Storage.Lease(p.at("lease"), "the second job"); !errors.As(err, &held) ||
		held.Holder != "the first job" {
		t.Errorf("a lease that is held: %v", err)
	}
	other, err := p.Storage.Lease(p.at("other"), "the second job")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(lease.Check(), other.Check(), lease.Release(), other.Release()); err != nil {
		t.Error(err)
	}
	// Many want the lease: each gets it, one at a time.
	var holders, times atomic.Int64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 50 {
				lease, err := p.Storage.Lease(p.at("lease"), "one of many")
				if errors.As(err, new(*storage.HeldError)) {
					time.Sleep(time.Microsecond)
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if holders.Add(1) != 1 {
					t.Error("two hold one lease")
				}
				times.Add(1)
				err = lease.Check()
				holders.Add(-1)
				if err := errors.Join(err, lease.Release()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if times.Load() == 0 {
		t.Error("nobody got a lease that was free")
	}
}
