package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/inspect/difference"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/util/setting"
)

// say writes to people. A line ends only where the format has a line feed. Names, texts and errors among the
// arguments are shown whatever they contain, and cannot steer a terminal.
func say(w io.Writer, format string, args ...any) {
	shown := slices.Clone(args)
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			shown[i] = visible(arg)
		case []byte:
			shown[i] = visible(string(arg))
		case error:
			shown[i] = visible(arg.Error())
		case fmt.Stringer:
			shown[i] = visible(arg.String())
		}
	}
	// For the standard output, a fault is noted and checked at the end.
	fmt.Fprintf(w, format, shown...)
}

func sayIf(w io.Writer, is bool, format string, args ...any) {
	if is {
		say(w, format, args...)
	}
}

// plainName matches a name that a shell takes as it is.
var plainName = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

func shellName(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// shellCommand returns a command of this program, in quotes unless it has its own.
func shellCommand(command, name string) string {
	if plainName.MatchString(name) {
		return fmt.Sprintf("'runjob %s %s'", command, name)
	}
	return fmt.Sprintf("runjob %s %s", command, shellName(name))
}

// visible writes a character that a terminal would obey as Go does in a string, as in \n and \u202e. It
// writes bytes that are not UTF-8 as in \xff.
func visible(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, quoting.IsControl) < 0 {
		return text
	}
	var b []byte
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			b = fmt.Appendf(b, `\x%02x`, text[0])
		case quoting.IsControl(r):
			b = append(b, strings.Trim(strconv.QuoteRuneToASCII(r), "'")...)
		default:
			b = append(b, text[:size]...)
		}
		text = text[size:]
	}
	return string(b)
}

const lineWidth = 80

// wrapped writes a paragraph in lines of at most lineWidth, if its words are short enough.
func wrapped(w io.Writer, format string, args ...any) { paragraph(w, 0, fmt.Sprintf(format, args...)) }

func paragraph(w io.Writer, indent int, text string) {
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column == 0:
		case column+1+len(word) > lineWidth:
			say(w, "\n")
			column = 0
		default:
			word = " " + word
		}
		if column == 0 {
			say(w, "%*s", indent, "")
			column = indent
		}
		say(w, "%s", word)
		column += len(word)
	}
	say(w, "\n")
}

// answer writes what a command has found, as JSON or in words.
func answer[T any](out io.Writer, asJSON bool, found T, inWords func(io.Writer, T)) error {
	if asJSON {
		return printJSON(out, found)
	}
	w := bufio.NewWriter(out)
	inWords(w, found)
	return w.Flush()
}

// printJSON writes one JSON value. It cannot steer a terminal either.
func printJSON(w io.Writer, value any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return err
	}
	var text []byte
	for _, r := range b.String() {
		if r != '\n' && quoting.IsControl(r) { // a control character inside a string
			text = fmt.Appendf(text, `\u%04x`, r)
		} else {
			text = utf8.AppendRune(text, r)
		}
	}
	_, err := w.Write(text)
	return err
}

// faultLines returns an error as lines for the user. Several faults that were joined get a line each. A line
// feed in the text of a fault does not begin a new line. Settings are named as flags.
func faultLines(err error) []string {
	var parts []error
	switch err := err.(type) {
	case interface{ Unwrap() []error }:
		parts = err.Unwrap()
	case interface{ Unwrap() error }:
		if inner := err.Unwrap(); inner != nil {
			parts = []error{inner}
		}
	}
	var texts, lines []string
	for _, part := range parts {
		if part.Error() == err.Error() { // the rest is only the kind of the error
			return faultLines(part)
		}
		texts = append(texts, part.Error())
		lines = append(lines, faultLines(part)...)
	}
	if len(parts) > 1 && strings.Join(texts, "\n") == err.Error() {
		return lines
	}
	return []string{setting.Text(err, setting.Flag)}
}

// standardOutput is the standard output. It remembers its first fault, for reports that do not check each line.
type standardOutput struct{ fault error }

func (o *standardOutput) Write(b []byte) (n int, err error) {
	if o.fault != nil {
		return 0, o.fault
	}
	n, err = os.Stdout.Write(b)
	switch {
	case errors.Is(err, syscall.EPIPE):
		o.fault = unread{err}
	case err != nil:
		o.fault = failure.Errorf(failure.Storage, "write to the standard output: %w", err)
	}
	return n, o.fault
}

type unread struct{ error }

func (u unread) Unwrap() error { return u.error }

type palette string

// isOn reports whether the standard output gets colours. The variable NO_COLOR, if it is not empty, turns them off
// where nobody has asked for them.
func (p palette) isOn() bool {
	switch p {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(os.Stdout)
}

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
		p.words(plainWord, "", shortened(difference.Words(run.Both), shownBoth), "")
		p.words(redWord, "[-", shortened(difference.Words(run.A), shownOne), "-]")
		p.words(greenWord, "{+", shortened(difference.Words(run.B), shownOne), "+}")
	}
	say(w, "\n")
	sayIf(w, changes > shownRuns, "  ... and %s\n", counted(changes-shownRuns, "further difference"))
}

// shortened leaves out the middle of words if there are half as many again as most, or more.
func shortened(words []string, most int) []string {
	if len(words) <= most+most/2 {
		return words
	}
	gap := fmt.Sprintf("... (%s) ...", counted(len(words)-most/2*2, "word"))
	return append(append(append([]string{}, words[:most/2]...), gap), words[len(words)-most/2:]...)
}

type runPrinter struct {
	w          io.Writer
	isColoured bool
	column     int
	last       string
}

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

// spoolStdin copies the standard input to a file of the user's own, if it is among the inputs. A job reads its input
// more than once, and from several places at a time. It returns the path of the copy, and a function that removes it.
func spoolStdin(ctx context.Context, inputs ...[]string) (path string, remove func(), err error) {
	isWanted := func(inputs []string) bool { return slices.Contains(inputs, corpus.Stdin) }
	if !slices.ContainsFunc(inputs, isWanted) {
		return "", func() {}, nil
	}
	folder, err := os.MkdirTemp("", "runjob-stdin-")
	if err != nil {
		return "", nil, failure.Errorf(failure.Storage, "hold the standard input: %w", err)
	}
	remove = func() { os.RemoveAll(folder) } // if it fails, the system clears its folder of temporary files
	path = filepath.Join(folder, "stdin")
	if err := copyToFile(path, bufio.NewReaderSize(interruptible{ctx, os.Stdin}, corpus.BatchBytes)); err != nil {
		remove()
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		return "", nil, failure.Errorf(failure.Storage,
			"hold the standard input in %s (TMPDIR names another folder): %w", folder, err)
	}
	return path, remove, nil
}

func copyToFile(path string, from io.Reader) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}

// interruptible reads a file, such as the standard input, until a context ends. A read that waits for more
// bytes ends with the context. Nothing else would end it.
type interruptible struct {
	ctx  context.Context
	file *os.File
}

// attention is how long a read waits before it checks whether the context has ended.
const attention = 100 * time.Millisecond

// Read waits for bytes and reads them. If the context ends first, it returns the error of the context.
func (r interruptible) Read(b []byte) (int, error) {
	for {
		if err := r.ctx.Err(); err != nil {
			return 0, err
		}
		waiting := []unix.PollFd{{Fd: int32(r.file.Fd()), Events: unix.POLLIN}}
		ready, err := unix.Poll(waiting, int(attention.Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR): // a signal came, perhaps the one that ends the context
		case err != nil:
			return 0, fmt.Errorf("wait for %s: %w", r.file.Name(), err)
		case ready > 0:
			return r.file.Read(b)
		}
	}
}
