package inflate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// gzipped returns content as one gzip member.
func gzipped(content []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, 1+len(content)%6) // each is a level
	w.Write(content)                                  // a buffer takes all
	w.Close()
	return b.Bytes()
}

// blockGzipped returns content as members of BGZF, which give their length.
func blockGzipped(content []byte) []byte {
	var packed bytes.Buffer
	for len(content) > 0 {
		n := min(len(content), 65280)
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Extra = []byte("BC\x02\x00\x00\x00")
		w.OS = 255
		w.Write(content[:n])
		w.Close()
		binary.LittleEndian.PutUint16(b.Bytes()[16:], uint16(b.Len()-1))
		packed.Write(b.Bytes())
		content = content[n:]
	}
	return packed.Bytes()
}

// storedMember returns content as one member of stored blocks, so that what is in it can look like members.
func storedMember(content []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, flate.NoCompression)
	w.Write(content)
	w.Close()
	return b.Bytes()
}

var frameEncoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))

// zstded returns content as one zstd frame with a checksum.
func zstded(content []byte) []byte { return frameEncoder.EncodeAll(content, nil) }

// skippable returns content as a skippable frame, such as the table of a seekable file.
func skippable(content []byte) []byte {
	head := []byte("\x5e\x2a\x4d\x18")
	return append(binary.LittleEndian.AppendUint32(head, uint32(len(content))), content...)
}

// text returns n bytes that compress to about a third.
func text(random *rand.Rand, n int) []byte {
	b := make([]byte, 0, n+20)
	for len(b) < n {
		b = fmt.Appendf(b, "{\"number\": %d}\n", random.Uint32())
	}
	return b[:n]
}

// smallWorkers are workers for small files.
func smallWorkers(least, share int64) *Workers {
	l := NewWorkers(3)
	l.least, l.share = least, share
	return l
}

// outcome is all that a reader gives.
type outcome struct {
	decoded []byte
	members []begin  // which member the bytes come from
	faults  []string // with their position in the decoded bytes
}

// read reads a whole file.
func read(t testing.TB, r *Reader, stored io.Reader, about Options, buffer []byte) outcome {
	t.Helper()
	if err := r.Reset(stored, about); err != nil {
		t.Fatal(err)
	}
	var got outcome
	for {
		n, err := r.Read(buffer)
		if n > 0 && (len(got.members) == 0 || got.members[len(got.members)-1].stored != r.Member()) {
			got.members = append(got.members, begin{len(got.decoded), r.Member()})
		}
		got.decoded = append(got.decoded, buffer[:n]...)
		if err == io.EOF {
			return got
		}
		if err != nil {
			got.faults = append(got.faults, fmt.Sprintf("%d: %#v", len(got.decoded), err))
			if fault, ok := errors.AsType[*Fault](err); ok && !fault.Last {
				continue
			}
			return got
		}
	}
}

// pair is a reader with workers, and one without.
type pair struct{ with, without *Reader }

func newPair(t testing.TB, zstd bool) pair {
	p := pair{NewGzip(), NewGzip()}
	if zstd {
		p = pair{NewZstd(), NewZstd()}
	}
	t.Cleanup(p.with.Close)
	t.Cleanup(p.without.Close)
	return p
}

// check holds both readers to the same outcome, and returns it.
func (p pair) check(t testing.TB, file []byte, workers *Workers) outcome {
	t.Helper()
	about := Options{Size: int64(len(file)), Window: 32 << 20}
	want := read(t, p.without, bytes.NewReader(file), about, make([]byte, 1000))
	about.Workers = workers
	for name, stored := range map[string]io.Reader{"whole": bytes.NewReader(file), "halves": iotest.HalfReader(bytes.NewReader(file))} {
		got := read(t, p.with, stored, about, make([]byte, 3000))
		if !bytes.Equal(got.decoded, want.decoded) || !reflect.DeepEqual(got.members, want.members) || !reflect.DeepEqual(got.faults, want.faults) {
			t.Fatalf("%s: %d bytes of %d members with lanes, %d of %d without\nfaults with %q\nwithout %q",
				name, len(got.decoded), len(got.members), len(want.decoded), len(want.members), got.faults, want.faults)
		}
		if workers != nil && len(workers.free) != cap(workers.free) {
			t.Fatalf("%s: %d of %d lanes are free at the end", name, len(workers.free), cap(workers.free))
		}
	}
	return want
}

// mixed returns a file of random parts: whole, damaged, cut short, empty, and no members at all.
func mixed(random *rand.Rand, zstd bool) []byte {
	press := []func([]byte) []byte{gzipped, blockGzipped, storedMember}
	if zstd {
		press = []func([]byte) []byte{zstded, zstded, skippable}
	}
	var file []byte
	damage := random.IntN(3) == 0
	for range random.IntN(60) {
		content := text(random, random.IntN(3000)*random.IntN(4)/2)
		if random.IntN(20) == 0 {
			content = bytes.Join([][]byte{content, gzipped(content), zstded(content)}, nil)
		}
		part := press[random.IntN(len(press))](content)
		if damage && random.IntN(20) == 0 && len(part) > 0 {
			switch at := random.IntN(len(part)); random.IntN(4) {
			case 0:
				part = part[:at]
			case 1:
				part[at] ^= 1 << random.IntN(8)
			case 2:
				part = append(part, make([]byte, random.IntN(20))...)
			default:
				part[max(len(part)-1-random.IntN(8), 0)] ^= 1
			}
		}
		file = append(file, part...)
	}
	return file
}

// TestWorkersChangeNothing holds readers with workers to what a reader without them gives, on many files.
func TestWorkersChangeNothing(t *testing.T) {
	for _, zstd := range []bool{false, true} {
		p := newPair(t, zstd)
		for seed := range uint64(300) {
			random := rand.New(rand.NewPCG(seed, 1))
			file := mixed(random, zstd)
			p.check(t, file, smallWorkers(1+random.Int64N(3000), 1+random.Int64N(20_000)))
		}
	}
}

// TestWorkersInUse: workers decode files of many members, and are given up where members look like many and are not.
func TestWorkersInUse(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	content := text(random, 4<<20)
	var members, frames []byte
	for part := content; len(part) > 0; {
		n := min(len(part), 20_000)
		members, frames = append(members, gzipped(part[:n])...), append(frames, zstded(part[:n])...)
		part = part[n:]
	}
	for _, test := range []struct {
		about    string
		zstd     bool
		file     []byte
		failures int
		works    bool
	}{
		{"one gzip member", false, gzipped(content), 0, false},
		{"gzip members", false, members, 0, true},
		{"BGZF", false, blockGzipped(content), 0, true},
		{"members in a member", false, storedMember(members), 7, true},
		{"one zstd frame", true, zstded(content), 0, false},
		{"zstd frames", true, frames, 0, false},
		{"seekable zstd", true, append(frames, skippable(make([]byte, 17))...), 0, false},
	} {
		t.Run(test.about, func(t *testing.T) {
			p := newPair(t, test.zstd)
			workers := smallWorkers(30_000, 100_000)
			p.check(t, test.file, workers)
			if p.with.failures > test.failures {
				t.Errorf("%d chunks were decoded again", p.with.failures)
			}
			if worked := p.with.workers.end > 0; worked != test.works {
				t.Errorf("lanes at work: %v, want %v", worked, test.works)
			}
		})
	}
}

// TestFailure: an error of the file comes where the file fails, after all bytes before it.
func TestFailure(t *testing.T) {
	broken := errors.New("the disk is broken")
	random := rand.New(rand.NewPCG(3, 4))
	for _, zstd := range []bool{false, true} {
		p := newPair(t, zstd)
		for range 50 {
			file := mixed(random, zstd)
			stored := func() io.Reader {
				return io.MultiReader(bytes.NewReader(file), iotest.ErrReader(broken))
			}
			about := Options{Size: int64(len(file)) + 10_000}
			want := read(t, p.without, stored(), about, make([]byte, 1000))
			about.Workers = smallWorkers(2000, 20_000)
			got := read(t, p.with, stored(), about, make([]byte, 1000))
			if !bytes.Equal(got.decoded, want.decoded) || !reflect.DeepEqual(got.faults, want.faults) {
				t.Fatalf("%d bytes and %q, want %d and %q", len(got.decoded), got.faults, len(want.decoded), want.faults)
			}
		}
	}
}

// TestDecoderForgets: what a damaged member gives does not depend on the members before it. The damaged ones have a block
// without codes, where the decoder would use the codes of the block before.
func TestDecoderForgets(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 12))
		damaged := []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x05\x00\x00\x00")
		for range 100 {
			damaged = append(damaged, byte(random.Uint32()))
		}
		before := gzipped(text(random, 1000))
		r := NewGzip()
		defer r.Close()
		alone := read(t, r, bytes.NewReader(damaged), Options{}, make([]byte, 100))
		behind := read(t, r, bytes.NewReader(append(before, damaged...)), Options{}, make([]byte, 100))
		if !bytes.Equal(behind.decoded[1000:], alone.decoded) || behind.faults[0][4:] != alone.faults[0][1:] {
			t.Fatalf("%d bytes and %q behind another member, %d and %q alone", len(behind.decoded)-1000, behind.faults, len(alone.decoded), alone.faults)
		}
	}
}

// TestCloseEndsWorkers closes readers in the middle of a file.
func TestCloseEndsWorkers(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	file := bytes.Repeat(gzipped(text(random, 300_000)), 50)
	workers := NewWorkers(4)
	before := runtime.NumGoroutine()
	for i := range 20 {
		r := NewGzip()
		for range 2 {
			if err := r.Reset(bytes.NewReader(file), Options{Size: int64(len(file)), Workers: workers}); err != nil {
				t.Fatal(err)
			}
			if _, err := io.CopyN(io.Discard, r, int64(i*100_000+1)); err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
	}
	if len(workers.free) != cap(workers.free) {
		t.Errorf("%d of %d lanes are free", len(workers.free), cap(workers.free))
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// TestSharedWorkers: readers that share workers do not wait for each other, whoever has them.
func TestSharedWorkers(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	content := text(random, 50_000)
	file := bytes.Repeat(gzipped(content), 100)
	workers := smallWorkers(1000, 100_000)
	var readers []*Reader
	for range 20 {
		r := NewGzip()
		defer r.Close()
		if err := r.Reset(bytes.NewReader(file), Options{Size: int64(len(file)), Workers: workers}); err != nil {
			t.Fatal(err)
		}
		readers = append(readers, r)
	}
	buffer := make([]byte, len(content))
	for range 100 {
		for _, r := range readers {
			if _, err := io.ReadFull(r, buffer); err != nil || !bytes.Equal(buffer, content) {
				t.Fatalf("error %v, or other bytes", err)
			}
		}
	}
}

// FuzzReader holds a reader with workers to one without, on any bytes.
func FuzzReader(f *testing.F) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 9))
		for _, zstd := range []bool{false, true} {
			f.Add(mixed(random, zstd), zstd, uint16(random.IntN(2000)), uint16(random.IntN(1<<16)))
		}
	}
	f.Fuzz(func(t *testing.T, file []byte, zstd bool, least, share uint16) {
		newPair(t, zstd).check(t, file, smallWorkers(1+int64(least), 1+int64(share)))
	})
}
