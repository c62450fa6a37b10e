package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"mirrorbeam/internal/look/difference"
)

// palette says whether output has colours.
type palette string

// isOn reports whether the standard output gets colours. The variable NO_COLOR, if it is not empty, turns them off where
// nobody has asked for them.
func (p palette) isOn() bool {
	switch p {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(os.Stdout)
}

// isTerminal reports whether a file is a terminal.
func isTerminal(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }

const (
	// shownRuns is how many places are printed where two texts differ.
	shownRuns = 40
	// shownBoth and shownOne are how many words are printed of a stretch that both texts have, or that one has.
	shownBoth, shownOne = 24, 60
)

// The formats of words: in both texts, in the first one, and in the second one.
const (
	plainWord = "%s"
	redWord   = "\x1b[31m%s\x1b[0m"
	greenWord = "\x1b[32m%s\x1b[0m"
)

// printRuns prints two texts as one, in lines that fit a terminal.
func printRuns(w io.Writer, runs []difference.Run, isColoured bool) {
	p := runPrinter{w: w, isColoured: isColoured}
	changes := 0
	for _, run := range runs {
		if run.Both == "" {
			changes++
		}
		if changes > shownRuns {
			continue
		}
		if run.Moved {
			p.words(plainWord, "", []string{"(moved:)"}, "")
		}
		p.words(plainWord, "", shortened(run.Both, shownBoth), "")
		p.words(redWord, "[-", shortened(run.A, shownOne), "-]")
		p.words(greenWord, "{+", shortened(run.B, shownOne), "+}")
	}
	say(w, "\n")
	if changes > shownRuns {
		say(w, "  ... and %s\n", counted(int64(changes-shownRuns), "further difference"))
	}
}

// shortened cuts a text into words, and leaves out the middle if there are many more than most.
func shortened(text string, most int) []string {
	words := difference.Words(text)
	if len(words) <= most+most/2 {
		return words
	}
	gap := fmt.Sprintf("... (%s) ...", counted(int64(len(words)-most/2*2), "word"))
	return append(append(append([]string{}, words[:most/2]...), gap), words[len(words)-most/2:]...)
}

// runPrinter prints words in lines.
type runPrinter struct {
	w          io.Writer
	isColoured bool
	column     int
	last       string
}

// words prints words between two marks.
func (p *runPrinter) words(format, begin string, words []string, end string) {
	if !p.isColoured {
		format = plainWord
	}
	for i, word := range words {
		text := word
		if i == 0 {
			text = begin + text
		}
		if i == len(words)-1 {
			text += end
		}
		text = visible(text)
		width := utf8.RuneCountInString(text)
		isSpaced := begin != "" && i == 0 || difference.IsSpaced(p.last, word)
		switch {
		case p.column == 0:
			say(p.w, "  ")
			p.column = 2
		case p.column+1+width > lineWidth:
			say(p.w, "\n  ")
			p.column = 2
		case isSpaced:
			say(p.w, " ")
			p.column++
		}
		say(p.w, format, strings.TrimSpace(text))
		p.column += width
		p.last = word
		if end != "" && i == len(words)-1 {
			p.last = end
		}
	}
}
