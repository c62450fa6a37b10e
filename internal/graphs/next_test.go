package graphs

import "testing"

// TestFull: no number stands for two items, and the largest for none. A key that is known still has its number.
func TestFull(t *testing.T) {
	panics := func(f func()) (fault any) {
		defer func() { fault = recover() }()
		f()
		return nil
	}
	var s Numbering[uint8]
	for key := range uint64(255) {
		if number, isNew := s.Add(key * 1000); !isNew || uint64(number) != key || Next[uint8](int(key)) != number {
			t.Fatalf("key %d has the number %d, new: %v", key, number, isNew)
		}
	}
	if fault := panics(func() { s.Add(7) }); fault == nil {
		t.Errorf("one more key: %v", fault)
	}
	if fault := panics(func() { Next[uint8](255) }); fault == nil {
		t.Errorf("one more item: %v", fault)
	}
	if number, isNew := s.Add(254_000); isNew || number != 254 {
		t.Errorf("a known key has the number %d, new: %v", number, isNew)
	}
	if _, found := s.Find(7); found || len(s.Keys) != 255 {
		t.Errorf("a key that was refused is there, among %d", len(s.Keys))
	}
	if fault := panics(func() { Next[uint32](1<<32 - 1) }); fault == nil || Next[uint32](1<<32-2) != 1<<32-2 {
		t.Errorf("item 2^32-1: %v", fault)
	}
}
