package bucket

import (
	"context"
	"fmt"
	"io/fs"

	"mirrorbeam.dev/internal/storage"
)

// ReadOnly is a Store of a service that only reads, such as a server of the web. It implements [storage.ReadOnly], too.
type ReadOnly struct{ *Store }

// NewReadOnly returns the storage of the names that begin with a scheme, such as https.
func NewReadOnly(scheme string, service Reader, limits Limits) ReadOnly {
	return ReadOnly{New(scheme, unwritable{service}, limits)}
}

var errReadOnly = fmt.Errorf("nothing can be written there: name a folder of the disk or of a bucket: %w", fs.ErrPermission)

func refuse(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: errReadOnly} }

func (ReadOnly) IsReadOnly() {}

func (ReadOnly) Create(name string, _ storage.Options) (storage.Writer, error) {
	return nil, refuse("create", name)
}

func (ReadOnly) Copy(_, to string) error { return refuse("copy", to) }

func (ReadOnly) Remove(name string) error { return refuse("remove", name) }

func (ReadOnly) Lease(name, _ string) (storage.Lease, error) { return nil, refuse("lease", name) }

// TakeSpent counts all requests as made to a server that asks for no money.
func (s ReadOnly) TakeSpent() (spent storage.Spent) {
	own := s.Store.TakeSpent()
	for _, requests := range own.Requests {
		spent.Requests[storage.Fetching] += requests
	}
	spent.FetchedBytes = own.ReadBytes
	return spent
}

// unwritable is a Service whose requests to write all fail. [ReadOnly] makes none.
type unwritable struct{ Reader }

func (unwritable) Put(context.Context, Put, []byte) (string, error) { return "", errReadOnly }
func (unwritable) Begin(context.Context, Put) (Upload, error)       { return nil, errReadOnly }
func (unwritable) Copy(Key, Object, Put) Copying                    { return uncopied{} }
func (unwritable) Remove(context.Context, Key, string) error        { return errReadOnly }

type uncopied struct{}

func (uncopied) Step(context.Context) (done bool, err error) { return false, errReadOnly }
func (uncopied) Abort(context.Context)                       {}
