package corpus

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Format says how a file holds its documents. The zero Format is [JSONLines].
type Format uint8

// The formats.
const (
	// JSONLines has an object of JSON on each line.
	JSONLines Format = iota
	// CSV has records of fields with commas between them, as RFC 4180 says. The first record names the fields.
	CSV
	// TSV is CSV with tabs in place of commas.
	TSV
	// Parquet is Apache Parquet: each row is a document.
	Parquet
	// WARC has the records of a web archive: WARC, WET or ARC.
	WARC
	// Text is plain text: the file is one document.
	Text
	// HTML is a web page: the text in the file is one document.
	HTML

	formats = int(HTML) + 1
)

// AutoFormat is the choice of the format of each file by its name and content.
const AutoFormat = "auto"

var formatNames = [formats]string{"jsonl", "csv", "tsv", "parquet", "warc", "text", "html"}

// String returns the name of the format, such as "jsonl".
func (f Format) String() string {
	if int(f) < formats {
		return formatNames[f]
	}
	return fmt.Sprintf("format %d", uint8(f))
}

// FormatNames returns the choices of a format: [AutoFormat] and all names.
func FormatNames() []string { return append([]string{AutoFormat}, formatNames[:]...) }

// ParseFormat returns the format of a name.
func ParseFormat(name string) (f Format, known bool) {
	i := slices.Index(formatNames[:], name)
	return Format(max(i, 0)), i >= 0
}

// IsLines reports whether a record of the format is a line.
func (f Format) IsLines() bool { return f == JSONLines }

// IsWhole reports whether a file of the format is one document.
func (f Format) IsWhole() bool { return f == Text || f == HTML }

// HasFields reports whether a record of the format has fields, one of which is the text.
func (f Format) HasFields() bool { return !f.IsWhole() && f != WARC }

// endings has the format that the ending of a name stands for. Names lose .gz or .zst first.
var endings = map[string]Format{
	".jsonl": JSONLines, ".ndjson": JSONLines, ".json": JSONLines,
	".csv": CSV, ".tsv": TSV, ".tab": TSV,
	".parquet": Parquet, ".pq": Parquet,
	".warc": WARC, ".wet": WARC, ".arc": WARC,
	".html": HTML, ".htm": HTML, ".xhtml": HTML,
}

// textEndings are the endings of texts: prose, markup and source code.
var textEndings = strings.Fields(`.txt .text .md .markdown .rst .adoc .asciidoc .org .tex .rtf .log
	.c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .cs .java .kt .kts .scala .groovy .go .rs .swift .zig .d .dart
	.py .pyi .rb .pl .pm .php .lua .r .jl .sh .bash .zsh .fish .ps1 .bat .tcl .awk .sed
	.js .mjs .cjs .jsx .ts .tsx .vue .svelte .css .scss .less
	.hs .ml .mli .fs .fsx .ex .exs .erl .hrl .clj .cljs .lisp .el .scm .rkt
	.f .f90 .f95 .ada .adb .ads .pas .vb .cob .asm .s .v .sv .vhd .vhdl .sql .proto .thrift
	.xml .yaml .yml .toml .ini .cfg .conf .properties .cmake .gradle .tf .nix`)

// nameFormat tells the format of a file by its name, which may end in .gz or .zst.
func nameFormat(name string) (f Format, known bool) {
	ending := strings.ToLower(filepath.Ext(dropCompressionSuffix(name)))
	if f, known = endings[ending]; known {
		return f, true
	}
	if slices.Contains(textEndings, ending) {
		return Text, true
	}
	return 0, false
}

// FormatHint ends the message that no file of a guessed format holds a document. It is a format of [setting.Errorf].
const FormatHint = "; if each file is a text, give {format} text"

// IsGuessed reports whether a file counts as lines of JSON only since its name tells no
// format. It is meant for files without a document.
func IsGuessed(name string) bool {
	_, known := nameFormat(name)
	return !known
}

// headBytes is how many bytes of the decoded content show the format.
const headBytes = 512

// formatOf tells the format of a file by the first bytes of its content. If these do not show it, the name
// does. All other files count as lines of JSON.
func formatOf(name string, head []byte) Format {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte(ByteOrderMark)), " \t\r\n")
	switch named, known := nameFormat(name); {
	case bytes.HasPrefix(head, []byte("PAR1")):
		return Parquet
	case bytes.HasPrefix(head, []byte("WARC/")), bytes.HasPrefix(head, []byte("filedesc://")):
		return WARC
	case named == HTML, named == CSV, named == TSV:
		return named
	case bytes.HasPrefix(text, []byte("{")) && (!known || named == JSONLines || isProse(name)):
		return JSONLines
	case known:
		return named
	}
	return JSONLines
}

// isProse reports whether a file with that name may hold lines of JSON, although its ending stands for text.
func isProse(name string) bool {
	ending := strings.ToLower(filepath.Ext(dropCompressionSuffix(name)))
	return ending == ".txt" || ending == ".text" || ending == ".log"
}

// Ending returns the ending, without a point, for names of files in the format and compression of f, such as
// "jsonl.gz". Files that are one document each go into an archive, "tar".
func (f *File) Ending() string {
	switch {
	case f.Format.IsWhole():
		return "tar"
	case f.Format == Parquet:
		return "parquet"
	}
	return f.Format.String() + map[Compression]string{Gzip: ".gz", Zstd: ".zst"}[f.Compression]
}
