package sourcecode

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kinds are the letters of the kinds in the tests.
const kinds = "nkd\"m#"

// cut returns the tokens of a text, each with the letter of its kind before it.
func cut(language, text string) (tokens []string) {
	s := NewScanner(Named(language), []byte(text))
	for t, ok := s.Next(); ok; t, ok = s.Next() {
		tokens = append(tokens, kinds[t.Kind:t.Kind+1]+text[t.Begin:t.End])
	}
	return tokens
}

// TestTokens: the tokens of texts that languages write in ways of their own.
func TestTokens(t *testing.T) {
	for _, test := range []struct {
		language, text string
		want           []string
	}{
		{"go", "x := 'a' + `b\nc` // d\n", []string{"nx", "m:=", "\"'a'", "m+", "\"`b\nc`", "#// d"}},
		{"go", "a /* b", []string{"na", "#/* b"}},
		{
			"go", "été 0x1p-2 1e+5 .5 a[1:2]",
			[]string{"nété", "d0x1p-2", "d1e+5", "d.5", "na", "m[", "d1", "m:", "d2", "m]"},
		},
		{"java", "int $x = \"a\\\"b\"; // c", []string{"kint", "n$x", "m=", "\"\"a\\\"b\"", "m;", "#// c"}},
		{"java", "\"open\nclass", []string{"\"\"open", "kclass"}},
		{"c", "u8R\"x(a\")x\" 1'000 'b'", []string{"\"u8R\"x(a\")x\"", "d1'000", "\"'b'"}},
		{"rust", "fn f<'a>(c: &'a str) { '\\'' 'x' r#\"a\"b\"# 1..2 /* a /* b */ c */", []string{
			"kfn", "nf", "m<", "m'", "na", "m>", "m(", "nc", "m:", "m&", "m'", "na", "kstr", "m)", "m{",
			"\"'\\''", "\"'x'", "\"r#\"a\"b\"#", "d1", "m..", "d2", "#/* a /* b */ c */",
		}},
		{
			"javascript", "a / b; x = /[/'\"]\\//g; `t\n${u}`",
			[]string{"na", "m/", "nb", "m;", "nx", "m=", "\"/[/'\"]\\//g", "m;", "\"`t\n${u}`"},
		},
		{
			"python", "def f(): # a\n '''b\n'c''' r'\\''",
			[]string{"kdef", "nf", "m(", "m)", "m:", "# a", "\"'''b\n'c'''", "nr", "\"'\\''"},
		},
		{"ruby", "=begin\na = 1\n=end\nx << y # z\n", []string{"#=begin\na = 1\n=end", "nx", "m<<", "ny", "## z"}},
		{
			"shell", "echo $# 'a\nb' <<-EOF # c\n don't\n\tEOF\nfi",
			[]string{"necho", "m$", "m#", "\"'a\nb'", "\"<<-EOF # c\n don't\n\tEOF", "kfi"},
		},
		{"php", "$a = <<<X\n'\nX; # b", []string{"n$a", "m=", "\"<<<X\n'\nX", "m;", "## b"}},
		{"sql", "SELECT 'a''b' FROM t -- c", []string{"kSELECT", "\"'a'", "\"'b'", "kFROM", "nt", "#-- c"}},
		{"scala", "val c = 'x'; 'symbol", []string{"kval", "nc", "m=", "\"'x'", "m;", "m'", "nsymbol"}},
	} {
		want := test.want
		for i, token := range want {
			if strings.HasPrefix(token, "# a") {
				want[i] = "#" + token // a comment that itself begins with #
			}
		}
		if diff := cmp.Diff(want, cut(test.language, test.text)); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", test.language, test.text, diff)
		}
	}
}

// TestGo: the tokens of Go files are those that the compiler's scanner finds.
func TestGo(t *testing.T) {
	paths, err := filepath.Glob("../../../s*/*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files of Go: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files := token.NewFileSet()
		file := files.AddFile(path, -1, len(text))
		var theirs scanner.Scanner
		theirs.Init(file, text, nil, scanner.ScanComments)
		ours := NewScanner(Named("go"), text)
		for {
			pos, tok, literal := theirs.Scan()
			if tok == token.SEMICOLON && literal != ";" { // the scanner has put it there
				continue
			}
			got, ok := ours.Next()
			if tok == token.EOF {
				if ok {
					t.Errorf("%s: token %q behind the end", path, text[got.Begin:got.End])
				}
				break
			}
			if literal == "" {
				literal = tok.String()
			}
			if !ok || string(text[got.Begin:got.End]) != literal || got.Begin != file.Offset(pos) ||
				(got.Kind == Comment) != (tok == token.COMMENT) {
				t.Fatalf("%s: token %q, want %q", files.Position(pos), text[got.Begin:got.End], literal)
			}
		}
	}
}

// TestHostile: texts that open and never close take no more than one pass, or this test would not end.
func TestHostile(t *testing.T) {
	for _, piece := range []string{
		`"`, "'", "`", `"""`, "/*", "*/", "/", "=/[", "<<A ", "<<A\n", `R"x(`, `r#"`, "\\",
		"(", "'\\", "#", "$", "\xff", "=begin\n", "0x", "é", "@\"", "'''",
	} {
		text := []byte(strings.Repeat(piece, 1<<17/len(piece)))
		for _, l := range languages() {
			check(t, l, text)
		}
	}
}

// check checks that tokens are not empty, ascend, and lie in the text.
func check(t *testing.T, l *Language, text []byte) {
	t.Helper()
	s, end := NewScanner(l, text), 0
	for token, ok := s.Next(); ok; token, ok = s.Next() {
		if token.Begin < end || token.End <= token.Begin || token.End > len(text) {
			t.Fatalf("%s: token %+v behind %d in a text of %d bytes", l.Name, token, end, len(text))
		}
		end = token.End
	}
}

func FuzzScanner(f *testing.F) {
	f.Add("x := `a` + 'b' /* c */ // d")
	f.Add("fn f<'a>() { r#\"x\"# }")
	f.Add("cat <<EOF\nEOF\n")
	f.Add("a = /[/]/ R\"x(y)x\" 1'0")
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range languages() {
			check(t, l, []byte(text))
		}
		Detect([]byte(text))
	})
}

// TestDetect finds the languages of short texts.
func TestDetect(t *testing.T) {
	for _, test := range []struct{ want, text string }{
		{"go", "package a\n\nimport (\n\t\"fmt\"\n)\n\nfunc main() {\n\tx := 1\n\tfmt.Println(x)\n}\n"},
		{
			"java",
			"import java.util.*;\npublic class A {\n  public static void main(String[] a) {\n    System.out.println(1);\n  }\n}\n",
		},
		{"python", "import os\n\ndef f(self):\n    return None\n"},
		{"c", "#include <stdio.h>\nint main(void) {\n  printf(\"a\");\n}\n"},
		{"javascript", "const a = require('fs');\nmodule.exports = function(x) { return x === 1; };\n"},
		{"rust", "use std::io;\n\npub fn f(x: &mut u8) {\n    let mut y = 1;\n    println!(\"{}\", y);\n}\n"},
		{"shell", "#!/bin/sh\nif [ -n \"$1\" ]; then\n  exit 1\nfi\n"},
		{"go", "/*\nCopyright\n*/\n\n// Package a is empty.\npackage a // import \"a\"\n"},
		{"java", "/* a */\n@Deprecated\npackage org.example.a;\n"},
		{"java", "/* a */ package a;"},
		{"python", "# a\n\nfrom .a import b, c\n"},
		{"python", "\ufeff\"\"\"A module.\"\"\"\n"},
		{"python", "#!/usr/bin/env python3\nx()\n"},
		{"python", "urls = [\n]\n"},
		{"c", "// a\n#ifndef A_H\n#define A_H\n#endif\n"},
		{"csharp", "using System.IO;\n"},
		{"javascript", "module.exports = a\n"},
		{"php", "<?php\nf();\n"},
		{"swift", "import UIKit\n"},
		{"rust", "#![no_std]\n"},
		{"", "/* a comment that nothing closes\npackage a\n"},
		{"", "# A heading\n\nThis is a text.\n\nimport os\n"},
		{"", "package tours to Rome\n"},
		{"", "From here we import goods.\n"},
		{"", "# a\n"},
		{"", "This is a text about a class of problems, and no code. The function of a string is to bind.\n"},
	} {
		got := ""
		if l := Detect([]byte(test.text)); l != nil {
			got = l.Name
		}
		if got != test.want {
			t.Errorf("language %q of %q, want %q", got, test.text, test.want)
		}
	}
}

func BenchmarkScanner(b *testing.B) {
	text, err := os.ReadFile("scanner.go")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s := NewScanner(Named("go"), text)
		for _, ok := s.Next(); ok; _, ok = s.Next() {
		}
	}
}

func BenchmarkDetect(b *testing.B) {
	text, err := os.ReadFile("scanner.go")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Detect(text)
	}
}

// TestIsNameOfCode goes by the ending of a name.
func TestIsNameOfCode(t *testing.T) {
	for name, want := range map[string]bool{
		"a/b.go":  true,
		"x.hpp":   true,
		".go":     false,
		"a.":      false,
		"a.txt":   false,
		"":        false,
		"go":      false,
		"a.c .h ": false,
	} {
		if IsNameOfCode([]byte(name)) != want {
			t.Errorf("%q is code: %v", name, !want)
		}
	}
}
