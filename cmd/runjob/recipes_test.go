package main

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// programs returns the Python programs of a page.
func programs(t *testing.T, page string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n    \"\"\"")[1:] {
		program := `"""`
		for i, line := range strings.Split(part, "\n") {
			if i > 0 && line != "" && !strings.HasPrefix(line, "    ") {
				break
			}
			program += strings.TrimPrefix(line, "    ") + "\n"
		}
		all = append(all, program)
	}
	return all
}

// TestFingerprintRecipes: the programs of the page on fingerprints make hashes of images and sounds by which the job
// finds the copies.
func TestFingerprintRecipes(t *testing.T) {
	recipes := programs(t, "../../docs/how-to/fingerprints.md")
	if len(recipes) != 2 {
		t.Fatalf("the page has %d programs", len(recipes))
	}
	for i, test := range []struct {
		module, ending string
		put            func(t *testing.T, path string, seed uint64, changed bool)
		flags          []string
	}{
		{"imagehash", ".png", putImage, []string{"--fingerprints", "phash", "--hamming", "4"}},
		{
			"acoustid, chromaprint", ".wav", putSound,
			[]string{"--fingerprints", "sound", "--bits", "32", "--hamming", "2"},
		},
	} {
		t.Run(test.module, func(t *testing.T) {
			python := os.Getenv("MIRRORBEAM_PYTHON")
			if python == "" {
				python = "python3"
			}
			if out, err := exec.Command(python, "-c", "import "+test.module).CombinedOutput(); err != nil {
				t.Skipf("%s cannot import %s (MIRRORBEAM_PYTHON names another interpreter): %v %s", python, test.module,
					err, out)
			}
			folder := t.TempDir()
			arguments := []string{"-c", recipes[i]}
			for _, name := range []string{"a", "b", "a-copy"} {
				path := filepath.Join(folder, name+test.ending)
				test.put(t, path, uint64(name[0]), strings.HasSuffix(name, "copy"))
				arguments = append(arguments, path)
			}
			hashes, err := exec.Command(python, arguments...).Output()
			if err != nil {
				t.Fatalf("%v: %v", err, hashes)
			}
			input, output := filepath.Join(folder, "hashes.jsonl"), filepath.Join(folder, "out")
			if err := os.WriteFile(input, hashes, 0o644); err != nil {
				t.Fatal(err)
			}
			run := append([]string{"run", "--input", input, "--output", output, "--emit", "pairs"}, test.flags...)
			if out, err := exec.Command("runjob", run...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			pairs, err := os.ReadFile(filepath.Join(output, "pairs-00000-of-00001.jsonl"))
			if want := fmt.Sprintf(`"b":%q`, filepath.Join(folder, "a-copy"+test.ending)); err != nil ||
				strings.Count(string(pairs), "\n") != 1 || !strings.Contains(string(pairs), want) {
				t.Errorf("pairs %s (%v) of %s", pairs, err, hashes)
			}
		})
	}
}

// putImage writes a drawing of a few circles. A changed one is half the size and a little darker.
func putImage(t *testing.T, path string, seed uint64, changed bool) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	var circles [9][4]float64
	for i := range circles {
		for k := range circles[i] {
			circles[i][k] = random.Float64()
		}
	}
	size, shade := 256, 0.
	if changed {
		size, shade = 128, 0.05
	}
	drawing := image.NewGray(image.Rect(0, 0, size, size))
	for x := range size {
		for y := range size {
			value := 0.5
			for _, c := range circles {
				if math.Hypot(float64(x)/float64(size)-c[0], float64(y)/float64(size)-c[1]) < c[2]/3 {
					value = c[3]
				}
			}
			drawing.SetGray(x, y, color.Gray{uint8(255 * max(value-shade, 0))})
		}
	}
	file, err := os.Create(path)
	if err == nil {
		err = png.Encode(file, drawing)
	}
	if err != nil || file.Close() != nil {
		t.Fatal(err)
	}
}

// putSound writes 20 seconds of chords. A changed one is quieter and has some noise.
func putSound(t *testing.T, path string, seed uint64, changed bool) {
	t.Helper()
	const rate, seconds = 11025, 20
	random, noise := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
	samples := make([]byte, 0, 2*rate*seconds)
	var chord [3]float64
	for i := range rate * seconds {
		if i%(rate/2) == 0 {
			for k := range chord {
				chord[k] = 220 * math.Pow(2, float64(random.IntN(24))/12)
			}
		}
		value := 0.
		for _, frequency := range chord {
			value += math.Sin(2*math.Pi*frequency*float64(i)/rate) / 4
		}
		if changed {
			value = value/2 + noise.Float64()/200
		}
		samples = binary.LittleEndian.AppendUint16(samples, uint16(int16(value*32000)))
	}
	header := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	binary.LittleEndian.PutUint32(header[4:], uint32(36+len(samples)))
	for _, number := range []uint32{rate, 2 * rate, 16<<16 | 2} {
		header = binary.LittleEndian.AppendUint32(header, number)
	}
	header = binary.LittleEndian.AppendUint32(append(header, "data"...), uint32(len(samples)))
	if err := os.WriteFile(path, append(header, samples...), 0o644); err != nil {
		t.Fatal(err)
	}
}
