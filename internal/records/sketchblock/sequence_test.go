package sketchblock

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// randomSequence returns a sequence of n shingles, of a text of gigabytes if it is
// wide.
func randomSequence(random *rand.Rand, n int, wide bool) Sequence {
	var s Sequence
	at, token := uint32(0), uint32(0)
	for range n {
		step := uint32(random.IntN(12))
		if wide && random.IntN(20) == 0 {
			step = random.Uint32N(1 << 26)
		}
		at += step
		if random.IntN(10) == 0 {
			token += random.Uint32N(1 << 20)
		}
		s.Shingles = append(s.Shingles, random.Uint64N(1<<48))
		s.Tokens = append(s.Tokens, token)
		s.Starts = append(s.Starts, at)
		s.Ends = append(s.Ends, at+1+step)
		token++
	}
	return s
}

func TestSequence(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var memory Sequence
	for n := 1; n < 200; n++ {
		want := randomSequence(random, n, n%2 == 0)
		b := AppendSequence([]byte("before"), want)[len("before"):]
		if len(b)%HashSize != 0 || n%2 == 1 && len(b) > 10*n+2*HashSize {
			t.Fatalf("%d shingles take %d bytes", n, len(b))
		}
		got, err := ParseSequence(memory, b)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("sequence of %d: %v, error %v, want %v", n, got, err, want)
		}
		memory = got
		if n > 1 {
			if _, err := ParseSequence(Sequence{}, b[:len(b)-HashSize]); err == nil {
				t.Errorf("a sequence of %d shingles whose end is missing is no error", n)
			}
			if _, err := ParseSequence(Sequence{}, append(b, make([]byte, HashSize)...)); err == nil {
				t.Errorf("a sequence of %d shingles with more behind it is no error", n)
			}
		}
	}
	if none, err := ParseSequence(memory, AppendSequence(nil, Sequence{})); err != nil ||
		len(none.Shingles)+len(none.Ends) > 0 {
		t.Errorf("no shingle is %v, error %v", none, err)
	}
	if _, err := ParseSequence(Sequence{}, nil); err == nil {
		t.Error("nothing is a sequence")
	}
}

func FuzzParseSequence(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for n := range 4 {
		f.Add(AppendSequence(nil, randomSequence(random, n, true)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseSequence(Sequence{}, b)
		if err == nil &&
			(len(s.Shingles) != len(s.Tokens) || len(s.Starts) != len(s.Ends) || len(s.Starts) != len(s.Shingles)) {
			t.Errorf("a sequence of %d shingles, %d tokens, %d starts, %d ends", len(s.Shingles), len(s.Tokens),
				len(s.Starts), len(s.Ends))
		}
	})
}

// A block gives back sequences as it gives back sets.
func TestBlockOfSequences(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	builder := NewBuilder(0, 0)
	var all []Sequence
	for i := range 5 {
		s := randomSequence(random, 1+i*7, false)
		all = append(all, s)
		builder.Add(Document{Ref: 1, Sequence: AppendSequence(nil, s), Size: i})
	}
	var documents []byte
	for _, part := range builder.Documents() {
		documents = append(documents, part...)
	}
	block, err := Parse(documents)
	if err != nil {
		t.Fatal(err)
	}
	sets := builder.Sets()
	for i, want := range all {
		size := HashSize * block.Stored(i)
		got, err := ParseSequence(Sequence{}, sets[:size])
		if err != nil || !reflect.DeepEqual(got, want) || block.Size(i) != i {
			t.Errorf("document %d: %v, error %v, want %v", i, got, err, want)
		}
		sets = sets[size:]
	}
	if len(sets) > 0 {
		t.Errorf("%d bytes are left", len(sets))
	}
}
