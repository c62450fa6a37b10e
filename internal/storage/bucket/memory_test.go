package bucket

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// answer is an error of the service of these tests: a status.
type answer int

func (a answer) Error() string { return "the service answers " + strconv.Itoa(int(a)) }

// memory is a service in memory. Requests that need an unusual answer get it from ask.
type memory struct {
	mutex   *sync.Mutex
	objects map[Key]Object
	content map[Key][]byte
	made    int
	meter   Meter
	calls   int
	ask     func(request string) error
	page    func(mark string) ([]Object, string, error) // answers lists if it is not nil
}

func newMemory() *memory {
	return &memory{mutex: new(sync.Mutex), objects: map[Key]Object{}, content: map[Key][]byte{}}
}

// quick are limits for tests.
func quick() Limits {
	limits := Usual()
	limits.Put, limits.Gap, limits.Request = 1000, 100, 2000
	limits.Patience, limits.Pause, limits.LongestPause = 100*time.Millisecond, time.Millisecond, 10*time.Millisecond
	return limits
}

func (m *memory) begin(request string) error {
	m.mutex.Lock()
	m.calls++
	ask := m.ask
	m.mutex.Unlock()
	if ask == nil {
		return nil
	}
	return ask(request)
}

func (m *memory) set(ask func(request string) error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.ask = ask
}

func (m *memory) List(_ context.Context, _ Key, mark string) ([]Object, string, error) {
	if m.page != nil {
		return m.page(mark)
	}
	return []Object{{Name: "folder/", Size: 0}, {Name: "folder/a", Size: 1}}, "", m.begin("list")
}

func (m *memory) Stat(_ context.Context, key Key) (Object, error) {
	if err := m.begin("stat"); err != nil {
		return Object{}, err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	object, found := m.objects[key]
	if !found {
		return Object{}, answer(http.StatusNotFound)
	}
	return object, nil
}

func (m *memory) Read(_ context.Context, span Span) (Body, error) {
	if err := m.begin("read"); err != nil {
		return Body{}, err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	content := m.content[span.Key][span.Offset:][:span.Length]
	return Body{
		ReadCloser: io.NopCloser(bytes.NewReader(content)),
		Generation: m.objects[span.Key].Generation,
		Offset:     span.Offset,
		Length:     span.Length,
		Size:       m.objects[span.Key].Size,
	}, nil
}

func (m *memory) Put(_ context.Context, put Put, content []byte) (string, error) {
	if err := m.begin("put"); err != nil {
		return "", err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	was, found := m.objects[put.Key]
	if put.IfAbsent && found || put.IfGeneration != "" && put.IfGeneration != was.Generation {
		return "", answer(http.StatusPreconditionFailed)
	}
	m.made++
	object := Object{
		Name:       put.Name,
		Size:       int64(len(content)),
		Generation: strconv.Itoa(m.made),
		CRC32C:     CRC32C(content),
		Summed:     true,
		Token:      put.Token,
	}
	m.objects[put.Key], m.content[put.Key] = object, bytes.Clone(content)
	return object.Generation, nil
}

func (m *memory) Begin(_ context.Context, put Put) (Upload, error) {
	return &parts{memory: m, put: put}, m.begin("begin")
}

// parts is an upload. Its parts have 1,000 bytes, then 2,000, then 3,000.
type parts struct {
	memory  *memory
	put     Put
	content []byte
	sent    []int
	aborted bool
}

func (p *parts) PartBytes() int { return 1000 * (len(p.sent) + 1) }

func (p *parts) Part(_ context.Context, content []byte) error {
	if err := p.memory.begin("part"); err != nil {
		return err
	}
	p.content, p.sent = append(p.content, content...), append(p.sent, len(content))
	return nil
}

func (p *parts) Finish(ctx context.Context, crc32c uint32) error {
	if CRC32C(p.content) != crc32c {
		return answer(http.StatusBadRequest)
	}
	_, err := p.memory.Put(ctx, p.put, p.content)
	return err
}

func (p *parts) Abort(context.Context) { p.aborted = true }

func (m *memory) Copy(Key, Object, Put) Copying { panic("not for these tests") }

func (m *memory) Remove(_ context.Context, key Key, generation string) error {
	if err := m.begin("remove"); err != nil {
		return err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if generation != "" && generation != m.objects[key].Generation {
		return answer(http.StatusPreconditionFailed)
	}
	delete(m.objects, key)
	return nil
}

func (m *memory) Meter() *Meter { return &m.meter }

func (m *memory) Judge(err error) Meaning {
	status, _ := errors.AsType[answer](err)
	return Meaning{Status: int(status), Again: status >= 500, Text: err.Error(), Advice: advice[status]}
}

var advice = map[answer]string{http.StatusForbidden: "ask for rights"}

// holds fails unless the object has that content.
func (m *memory) holds(t *testing.T, key Key, want string) {
	t.Helper()
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if got := string(m.content[key]); got != want {
		t.Errorf("%s holds %d bytes, want %d; equal up to %d", key.Name, len(got), len(want), prefix(got, want))
	}
}

func prefix(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// times returns an ask that gives an error the first n times for a request whose name begins so.
func times(n int, request string, err error) func(string) error {
	var mutex sync.Mutex
	return func(asked string) error {
		mutex.Lock()
		defer mutex.Unlock()
		if n == 0 || !strings.HasPrefix(asked, request) {
			return nil
		}
		n--
		return err
	}
}
