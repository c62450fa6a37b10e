package formats

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/mediatype"
	"mirrorbeam.dev/internal/input/webtext"
)

func init() {
	corpus.Register(whole(corpus.Definition{
		Format:   corpus.Text,
		Name:     "text",
		Help:     "a file is a document",
		AllNames: true,
		Endings: strings.Fields(`.txt .text .srt .vtt .md .markdown .rst .adoc .asciidoc .org .tex .rtf .log
			.c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .cs .java .kt .kts .scala .groovy .go .rs .swift .zig .d .dart
			.py .pyi .rb .pl .pm .php .asp .aspx .jsp .lua .r .jl .sh .bash .zsh .fish .ps1 .bat .tcl .awk .sed
			.js .mjs .cjs .jsx .ts .tsx .vue .svelte .css .scss .less
			.hs .ml .mli .fs .fsx .ex .exs .erl .hrl .clj .cljs .lisp .el .scm .rkt
			.f .f90 .f95 .ada .adb .ads .pas .vb .cob .asm .s .v .sv .vhd .vhdl .sql .proto .thrift
			.xml .yaml .yml .toml .ini .cfg .conf .properties .cmake .gradle .tf .nix`),
		Decoder: func(w corpus.Wanted) corpus.Decoder { return newTextDecoder(w) },
		Cutter:  func(w corpus.Wanted) corpus.Cutter { return textCutter{newTextDecoder(w)} },
	}))
	corpus.Register(whole(corpus.Definition{
		Format:   corpus.HTML,
		Name:     "html",
		Help:     "a file is a web page",
		HasPages: true,
		Endings:  []string{".html", ".htm", ".xhtml"},
		Begins:   webtext.BeginsPage,
		Decoder:  func(w corpus.Wanted) corpus.Decoder { return newWholeDecoder(w, "text/html", w.PageText) },
	}))
}

func newTextDecoder(w corpus.Wanted) *wholeDecoder {
	return newWholeDecoder(w, "text/plain", webtext.All)
}

func newWholeDecoder(w corpus.Wanted, mediaType string, mode webtext.Mode) *wholeDecoder {
	return &wholeDecoder{
		mediaType: mediaType,
		charset:   w.Charset,
		text:      newPageText(w, mode),
		fields:    w.Fields.Others,
		others:    make([][]byte, len(w.Fields.Others)),
	}
}

type textCutter struct{ decoder *wholeDecoder }

func (c textCutter) Cut(b, header, content []byte, cuts []corpus.Cut) ([]byte, error) {
	record, err := c.decoder.Decode(header, content)
	if err != nil {
		return b, err
	}
	return corpus.AppendCut(b, record.Texts[0], cuts), nil
}

// whole completes the definition of a format whose files are one document each. Copies of them are in an archive.
func whole(d corpus.Definition) corpus.Definition {
	d.IsWhole, d.CopyEnding = true, "tar"
	d.Source = func(l corpus.Limits, _ corpus.Wanted) corpus.Source { return &wholeSource{limits: l, format: d.Format} }
	d.Writer = func(c corpus.Copy) corpus.RecordWriter { return tarWriter{c, tar.NewWriter(c)} }
	return d
}

type tarWriter struct {
	out     corpus.Copy
	archive *tar.Writer
}

// Write writes a file. All that is not its name and content is the same in every run.
func (t tarWriter) Write(name string, content []byte) error {
	header := tar.Header{
		Typeflag: tar.TypeReg,
		Name:     name,
		Size:     int64(len(content)),
		Mode:     0o644,
		ModTime:  time.Unix(0, 0),
		Format:   tar.FormatPAX,
	}
	err := t.archive.WriteHeader(&header)
	if err == nil {
		_, err = t.archive.Write(content)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return t.out.Row(nil) // counts it
}

func (t tarWriter) Close() error {
	if err := t.archive.Close(); err != nil {
		return fmt.Errorf("finish archive: %w", err)
	}
	return nil
}

type wholeSource struct {
	limits corpus.Limits
	format corpus.Format
	group  corpus.File
	rest   corpus.Stretch // files still to come
	stream corpus.Stream
}

func (w *wholeSource) Reset(file corpus.File, s corpus.Stretch) error {
	w.group, w.rest = file, s
	return nil
}

func (w *wholeSource) Next(buffer []byte) (corpus.Batch, error) {
	b := corpus.Batch{File: w.rest.File, Format: w.format, Data: buffer[:0]}
	for len(b.Data) < corpus.BatchBytes && w.rest.Start < w.rest.End {
		position := w.rest.Start
		w.rest.Start++
		if err := w.add(&b, position); err != nil {
			return corpus.Batch{}, err
		}
		if len(b.Data) > corpus.LongLine {
			break
		}
	}
	if len(b.Frames) == 0 && len(b.Rejects) == 0 {
		return corpus.Batch{}, io.EOF
	}
	return b, nil
}

// add reads the file at a position of the group. A file that cannot be used becomes a reject.
func (w *wholeSource) add(b *corpus.Batch, position int64) error {
	member := w.group.Members[position]
	if err := w.stream.Reset(member, 0, w.limits.Window); err != nil {
		return err
	}
	start := len(b.Data)
	err := w.read(b, &member)
	if fault, isFault := errors.AsType[*corpus.Fault](err); isFault && !fault.Warning {
		err = nil
		isLong := int64(len(b.Data)-start) > w.limits.Line
		b.Data = b.Data[:start]
		b.Rejects = append(b.Rejects, corpus.Reject{Position: position, Message: fault.Message, Damage: !isLong})
	} else if err == nil || isFault {
		err = nil
		b.Frames = append(b.Frames, corpus.Frame{Position: position, Start: start, End: len(b.Data)})
	}
	if err != nil {
		return err
	}
	if err := w.stream.End(); err != io.EOF {
		return err
	}
	return nil
}

// read appends the content of the current file to the batch. A file longer than a document may be is a fault.
func (w *wholeSource) read(b *corpus.Batch, file *corpus.File) error {
	start := len(b.Data)
	held := false
	for {
		if len(b.Data) == cap(b.Data) {
			if len(b.Data)-start >= corpus.LongLine && !held {
				if err := w.stream.Hold(); err != nil {
					return err
				}
				held = true
			}
			more := int64(1)
			if held && file.Compression == corpus.None {
				// The rest is read without another move.
				more = max(min(file.Size, w.limits.Line)-int64(len(b.Data)-start), 0) + 1
			}
			b.Data = slices.Grow(b.Data, int(more))
		}
		n, err := w.stream.Read(b.Data[len(b.Data):cap(b.Data)])
		b.Data = b.Data[:len(b.Data)+n]
		switch {
		case int64(len(b.Data)-start) > w.limits.Line:
			return &corpus.Fault{Message: fmt.Sprintf("the file has more than the %d bytes that %s allows for",
				w.limits.Line, w.limits.Setting())}
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

func (w *wholeSource) Close() error { return w.stream.Close() }

// wholeDecoder makes the content of a file the text of a document. The name of the file is its only id.
type wholeDecoder struct {
	mediaType string
	charset   string
	text      pageText
	fields    []string // other fields
	others    [][]byte // stay nil, but for web pages: the file has no fields
}

func (d *wholeDecoder) Decode(_, content []byte) (corpus.Record, error) {
	if err := corpus.CheckText(content); err != nil {
		return corpus.Record{}, err
	}
	if found := mediatype.OfNonText(content); found != "" && found != mediatype.Unknown {
		return corpus.Record{}, fmt.Errorf("the file is no text: its bytes are %s", found)
	} else if !isText(content) {
		return corpus.Record{}, errors.New("the file is no text: it has a zero byte")
	} else if found != "" {
		return corpus.Record{}, errors.New("the file is no text: many of its bytes are control characters")
	}
	page := webtext.Page{Content: content, MediaType: d.mediaType, Charset: []byte(d.charset)}
	texts := d.text.of(page)
	title := d.text.extractor.Title
	if d.mediaType == "text/html" {
		for i, field := range d.fields {
			d.others[i] = d.text.value(field, page, d.text.extractor.Source, title, nil)
		}
	}
	return corpus.Record{Texts: texts, Others: d.others, Title: title}, nil
}

// isText reports whether a file may be text: it has no zero bytes, or it has the mark of UTF-16.
func isText(content []byte) bool {
	return bytes.IndexByte(content, 0) < 0 || bytes.HasPrefix(content, []byte("\xff\xfe")) ||
		bytes.HasPrefix(content, []byte("\xfe\xff"))
}
