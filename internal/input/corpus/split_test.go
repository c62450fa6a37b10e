package corpus

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplits(t *testing.T) {
	plain := func(size int64) File { return File{Size: size} }
	zst := func(size int64) File { return File{Size: size, Compression: Zstd} }
	for _, test := range []struct {
		about string
		files []File
		want  []Split
	}{
		{"nothing", nil, nil},
		{
			"small files together",
			[]File{plain(40), plain(60), plain(1)},
			[]Split{{{0, 0, 40}, {1, 0, 60}}, {{2, 0, 1}}},
		},
		{"large file in near equal parts", []File{plain(5), plain(302), plain(5)}, []Split{
			{{0, 0, 5}}, {{1, 0, 76}}, {{1, 76, 152}}, {{1, 152, 227}}, {{1, 227, 302}}, {{2, 0, 5}},
		}},
		{"exactly the target", []File{plain(100), plain(100)}, []Split{{{0, 0, 100}}, {{1, 0, 100}}}},
		{"compressed files count four times and stay whole", []File{zst(10), zst(15), zst(1000), zst(1)}, []Split{
			{{0, 0, 10}, {1, 0, 15}}, {{2, 0, 1000}}, {{3, 0, 1}},
		}},
		{"empty files", []File{plain(0), plain(7), plain(0)}, []Split{{{1, 0, 7}}}},
	} {
		if diff := cmp.Diff(test.want, Splits(test.files, 100)); diff != "" {
			t.Errorf("%s, -want +got:\n%s", test.about, diff)
		}
	}
}

// TestSplitsOfSmallFiles: a split has no more than a number of files, however small they are, whether each is read by
// itself or they are in a group. The number grows with very many files.
func TestSplitsOfSmallFiles(t *testing.T) {
	for files, want := range map[int]int{splitFiles: 1, splitFiles + 1: 2, 10 * splitFiles: 10} {
		lines := make([]File, files)
		for i := range lines {
			lines[i].Size = 1
		}
		texts := slices.Clone(lines)
		for i := range texts {
			texts[i].Format = Text
		}
		for _, all := range [][]File{lines, Group(texts)} {
			splits, last := Splits(all, 1<<40), int64(0)
			for _, split := range splits {
				for _, s := range split {
					last += s.End - s.Start
				}
			}
			if len(splits) != want || last != int64(files) {
				t.Errorf("%d files are %d splits of %d files together, want %d", files, len(splits), last, want)
			}
		}
	}
	if most := mostFiles(MaxFiles); MaxFiles/most > manySplits+1 {
		t.Errorf("%d files are cut by %d", MaxFiles, most)
	}
}

// FuzzSplits checks that splits hold each byte of each file once, in order,
// within their size.
func FuzzSplits(f *testing.F) {
	f.Add([]byte{1, 200, 0, 3, 255, 7}, int64(300))
	f.Add([]byte{255, 255, 255}, int64(0))
	f.Fuzz(func(t *testing.T, sizes []byte, target int64) {
		target %= 5000
		var files []File
		total := int64(0)
		for i, size := range sizes {
			files = append(files, File{Size: int64(size) * int64(size), Compression: Compression(i % 3 % 2)})
			total += files[i].Size
		}
		// More than a million splits would take seconds.
		if total/max(target, 1) > 1<<20 {
			target = total >> 20
		}
		number, position := 0, int64(0)
		for _, split := range Splits(files, target) {
			var weight int64
			for _, s := range split {
				for number < s.File && position == files[number].Size {
					number, position = number+1, 0
				}
				if s.File != number || s.Start != position || s.End <= s.Start || s.End > files[number].Size {
					t.Fatalf("stretch %+v, want the next from byte %d of file %d", s, position, number)
				}
				position = s.End
				weight += s.End - s.Start
				if files[number].Compression != None {
					weight += 3 * (s.End - s.Start)
				}
			}
			if weight > max(target, 1) && !(len(split) == 1 && files[number].Compression != None) {
				t.Fatalf("split %+v has %d bytes, target %d", split, weight, target)
			}
		}
		for number < len(files) && position == files[number].Size {
			number, position = number+1, 0
		}
		if number != len(files) {
			t.Fatalf("splits end at byte %d of file %d of %d", position, number, len(files))
		}
	})
}
