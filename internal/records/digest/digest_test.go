package digest

import (
	"bytes"
	"slices"
	"testing"
)

// TestPacked: a digest comes back from its bytes, which are the same however it is packed, the first word first.
func TestPacked(t *testing.T) {
	d := Digest{0x0102030405060708, 0xf1f2f3f4f5f6f7f8}
	packed, put := d.Append([]byte{9}), make([]byte, Size)
	d.Put(put)
	if want := []byte{
		8, 7, 6, 5, 4, 3, 2, 1, 0xf8, 0xf7, 0xf6, 0xf5, 0xf4, 0xf3, 0xf2,
		0xf1,
	}; !bytes.Equal(packed[1:], want) || packed[0] != 9 || !bytes.Equal(put, want) {
		t.Errorf("%x and %x", packed, put)
	}
	if Get(put) != d {
		t.Errorf("%x", Get(put))
	}
	all := []Digest{{2, 0}, {1, 5}, {1, 3}, {0, 9}}
	if slices.SortFunc(all, Compare); !slices.Equal(all, []Digest{{0, 9}, {1, 3}, {1, 5}, {2, 0}}) ||
		Compare(d, d) != 0 {
		t.Errorf("%v", all)
	}
}
