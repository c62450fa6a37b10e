package fingerprints

import (
	"encoding/binary"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records/sketchblock"
)

// TestPassageHeads: the heads of a block have the short keys of its documents, which differ by scope. They are of
// passages of one length.
func TestPassageHeads(t *testing.T) {
	texts := []string{
		text, "", "short", text,
		"other words than the ones of that document are here, and they are twelve at least",
	}
	builder, passages := sketchblock.NewBuilder(0, 0), NewPassages(2)
	var want [][]uint32
	for i, text := range texts {
		_, f := make1(t, Sequences, usual(), text)
		if i == 3 {
			f.Stored.Scope = 0x123456789abcdef
		}
		builder.Add(f.Stored)
		short, err := passages.ShortKeys(nil, f.Stored.Sequence, f.Stored.Scope)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, short)
	}
	if len(want[0]) < 3 || len(want[1]) != 0 || slices.Equal(want[0], want[3]) {
		t.Errorf("short keys %v", want)
	}
	packed, err := passages.Heads(builder)
	if err != nil {
		t.Fatal(err)
	}
	heads, isSame, err := passages.ReadHeads(nil, packed, len(texts))
	if err != nil || !isSame || len(heads) != len(texts) {
		t.Fatalf("%d heads, %t, %v", len(heads), isSame, err)
	}
	i := 0
	for _, sequence := range builder.Each {
		var got []uint32
		for keys := heads[i].Keys; len(keys) > 0; keys = keys[4:] {
			got = append(got, binary.LittleEndian.Uint32(keys))
		}
		if !slices.Equal(got, want[i]) || !heads[i].IsOf(sequence) || heads[i].IsOf(append([]byte{1}, sequence...)) {
			t.Errorf("document %d: keys %v, want %v", i, got, want[i])
		}
		i++
	}
	if _, isSame, err := NewPassages(3).ReadHeads(nil, packed, len(texts)); isSame || err != nil {
		t.Errorf("of longer passages: %t, %v", isSame, err)
	}
	for n := range packed {
		if _, _, err := passages.ReadHeads(nil, packed[:n], len(texts)); err == nil {
			t.Errorf("%d of %d bytes are taken for all", n, len(packed))
		}
	}
	if _, _, err := passages.ReadHeads(nil, packed, len(texts)-1); err == nil {
		t.Error("the heads of more documents are taken for those of the block")
	}
}
