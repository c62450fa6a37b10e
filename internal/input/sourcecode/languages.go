// Package sourcecode cuts program code into names, keywords, numbers, strings, marks and comments.
//
// It is no compiler. It knows of each language how its comments and strings begin and end, and which words are its
// keywords; that is all that code without comments, or without names, needs. What looks like none of these in broken
// code becomes marks and names, so every text can be cut.
//
//	languages.go  the languages, and what a language is
//	scanner.go    the tokens of a text
//	detect.go     the language of a text, by what is in it
//
// The time goes with the length of the text, whatever is in it. Everything is a pure function of the text.
package sourcecode

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

var (
	quoted    = literal{open: `"`, close: `"`, escape: '\\'}
	character = literal{open: `'`, close: `'`, escape: '\\'}
	longText  = literal{open: `"""`, close: `"""`, escape: '\\', lines: true}
	cComment  = blockComment{open: "/*", close: "*/"}
	nested    = blockComment{open: "/*", close: "*/", nests: true}
)

func overLines(l literal) literal {
	l.lines = true
	return l
}

// languages returns all languages. Where a text may be of several, the first counts.
var languages = sync.OnceValue(func() []*Language {
	slashes := []string{"//"}
	return []*Language{
		prepared(Language{
			Name:          "go",
			lineComments:  slashes,
			blockComments: []blockComment{cComment},
			literals:      []literal{quoted, character, {open: "`", close: "`", lines: true}},
			signs: []string{
				"\npackage ", "\nfunc ", " := ", "\nimport (", "err != nil", "\ntype ",
				") error {", "\t\"testing\"\n", "struct {\n",
			},
		}, `break case chan const continue default defer else fallthrough for func go goto if import interface map package range return
			select struct switch type var bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string
			uint uint8 uint16 uint32 uint64 uintptr any true false nil iota`),
		prepared(Language{
			Name:          "java",
			lineComments:  slashes,
			blockComments: []blockComment{cComment},
			literals:      []literal{longText, quoted, character},
			nameMarks:     "$",
			signs: []string{
				"public class ", "import java", "public static void main", "System.out.",
				"@Override", " throws ", "public final ", "private final ", " implements ", " extends ",
				"final class ", "\npackage ", "public interface ", "String ",
			},
		}, `abstract assert boolean break byte case catch char class const continue default do double else enum extends final finally float
			for goto if implements import instanceof int interface long native new package private protected public record return short
			static strictfp super switch synchronized this throw throws transient try var void volatile while yield true false null`),
		prepared(Language{
			Name:          "kotlin",
			lineComments:  slashes,
			blockComments: []blockComment{nested},
			literals:      []literal{longText, quoted, character},
			signs: []string{
				"\nfun ", " fun ", " val ", "override fun", "data class ", "println(",
				"companion object", "import kotlin", "when (", "?.let",
			},
		}, `as break by catch class companion const constructor continue data do else enum false final finally for fun get if import in init
			inline interface internal is lateinit null object open operator out override package private protected public return sealed
			set super suspend this throw true try typealias val var vararg when where while`),
		prepared(Language{
			Name:          "scala",
			lineComments:  slashes,
			blockComments: []blockComment{nested},
			literals:      []literal{longText, quoted},
			special:       lifetimes,
			signs: []string{
				"\nobject ", "case class ", " def ", "import scala", " extends App", "implicit ",
				" match {", "trait ", ": Unit", " => ",
			},
		}, `abstract case catch class def do else enum extends false final finally for forSome given if implicit import lazy match new null
			object override package private protected return sealed super then this throw trait true try type using val var while with yield`),
		prepared(Language{
			Name:          "csharp",
			lineComments:  slashes,
			blockComments: []blockComment{cComment},
			literals: []literal{longText, {open: `@"`, close: `"`, lines: true}, {
				open:  `$@"`,
				close: `"`,
				lines: true,
			}, quoted, character},
			signs: []string{
				"using System", "\nnamespace ", "Console.Write", "{ get; ", "public override ",
				"static void Main", "internal ", "public string ", "IEnumerable",
			},
		}, `abstract as async await base bool break byte case catch char checked class const continue decimal default delegate do double else
			enum event explicit extern false finally fixed float for foreach get goto if implicit in int interface internal is lock long
			namespace new null object operator out override params private protected public readonly ref return sbyte sealed set short
			sizeof stackalloc static string struct switch this throw true try typeof uint ulong unchecked unsafe ushort using var virtual
			void volatile while yield`),
		prepared(Language{
			Name:          "c",
			lineComments:  slashes,
			blockComments: []blockComment{cComment},
			literals:      []literal{quoted, character},
			special:       rawStrings,
			signs: []string{
				"#include ", "#define ", "#ifndef ", "#ifdef ", "#endif", "int main(", "std::",
				"->", "printf(", "sizeof(", "static inline ", "\nstruct ", "\ntypedef ", "template <", "template<",
				"using namespace ",
			},
		}, `alignas alignof auto bool break case catch char class const constexpr const_cast continue decltype default delete do double
			dynamic_cast else enum explicit export extern false final float for friend goto if inline int long mutable namespace new
			noexcept nullptr NULL operator override private protected public register reinterpret_cast restrict return short signed
			sizeof static static_assert static_cast struct switch template this throw true try typedef typeid typename union unsigned
			using virtual void volatile wchar_t while define elif endif error ifdef ifndef include pragma undef`),
		prepared(Language{
			Name:          "javascript",
			lineComments:  slashes,
			blockComments: []blockComment{cComment},
			literals:      []literal{quoted, character, {open: "`", close: "`", escape: '\\', lines: true}},
			nameMarks:     "$",
			special:       regexps,
			signs: []string{
				"function(", "function (", "\nfunction ", "\nconst ", " const ", "\nvar ",
				"\tvar ", " var ", "\nlet ", " => {", "require('", `require("`, "console.log", " === ",
				"module.exports", "\nexport ", "document.", "} from ", "undefined", "async ",
			},
		}, `abstract any as async await boolean break case catch class const constructor continue debugger declare default delete do else
			enum export extends false finally for from function get if implements import in instanceof interface keyof let namespace new
			null number of private protected public readonly return set static string super switch this throw true try type typeof
			undefined unknown var void while with yield`),
		prepared(Language{
			Name:          "rust",
			lineComments:  slashes,
			blockComments: []blockComment{nested},
			literals:      []literal{overLines(quoted)},
			special:       lifetimes | hashedStrings,
			signs: []string{
				"\nfn ", " fn ", "\nuse ", "let mut ", "\nimpl", "pub fn ", "pub struct ",
				"#[derive", "&self", "&mut ", "::new(", "println!", "-> Result", " match ", ".unwrap()", "#[cfg",
			},
		}, `as async await bool box break char const continue crate dyn else enum extern f32 f64 false fn for i8 i16 i32 i64 i128 if impl in
			isize let loop match mod move mut pub ref return self Self static str struct super trait true type u8 u16 u32 u64 u128 union
			unsafe use usize where while`),
		prepared(Language{
			Name:          "swift",
			lineComments:  slashes,
			blockComments: []blockComment{nested},
			literals:      []literal{longText, quoted},
			special:       hashedStrings,
			signs: []string{
				"import Foundation", "import UIKit", "import SwiftUI", "\nfunc ", " func ",
				" let ", "guard let ", "if let ", "@objc", "-> String", "override func", "\nextension ",
			},
		}, `actor as associatedtype async await break case catch class continue convenience default defer deinit didSet do else enum
			extension fallthrough false fileprivate final for func get guard if import in indirect init inout internal is lazy let mutating
			nil open operator override private protocol public repeat required rethrows return self Self set static struct subscript super
			switch throw throws true try typealias unowned var weak where while willSet`),
		prepared(Language{
			Name:          "php",
			lineComments:  []string{"//", "#"},
			blockComments: []blockComment{cComment},
			literals:      []literal{overLines(quoted), overLines(character)},
			nameMarks:     "$",
			special:       heredocs,
			signs:         []string{"<?php", "<?=", "$this->", "public function ", "echo ", "array(", " $", "\n$"},
		}, `abstract and array as break callable case catch class clone const continue declare default do echo else elseif empty enum extends
			false final finally fn for foreach function global goto if implements include include_once instanceof insteadof interface
			isset list match namespace new null or print private protected public readonly require require_once return self static switch
			throw trait true try unset use var while xor yield`),
		prepared(Language{
			Name:         "python",
			lineComments: []string{"#"},
			literals: []literal{
				longText,
				{open: "'''", close: "'''", escape: '\\', lines: true},
				quoted,
				character,
			},
			signs: []string{
				"\ndef ", " def ", "\nimport ", "\nfrom ", "self.", "):\n", "elif ", " None", "__init__",
				"if __name__", "except ", "print(", "\nclass ", "lambda ", " not in ", "True", "#!/usr/bin/python",
				"python3\n",
			},
		}, `and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda
			match None nonlocal not or pass raise return self True try while with yield`),
		prepared(Language{
			Name:          "ruby",
			lineComments:  []string{"#"},
			blockComments: []blockComment{{open: "=begin", close: "=end", ownLine: true}},
			literals:      []literal{overLines(quoted), overLines(character), {open: "`", close: "`", escape: '\\'}},
			special:       regexps | heredocs,
			signs: []string{
				"\nrequire ", "\nend\n", " end\n", "\nmodule ", " do |", "attr_", "\n  def ",
				"puts ", ".each", "elsif ", "unless ", "nil", "frozen_string_literal",
			},
		}, `alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or private protected
			public redo rescue retry return self super then true undef unless until when while yield attr_accessor attr_reader require`),
		prepared(Language{
			Name:         "shell",
			lineComments: []string{"#"},
			literals:     []literal{overLines(quoted), {open: "'", close: "'", lines: true}},
			special:      heredocs | wordComments,
			signs: []string{
				"#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash", "\nfi\n", " fi\n", "\tfi\n",
				"\ndone", " then\n", "; then", "esac", "echo ", "$1", "${", "if [ ", "exit ", "$(", ";;\n",
			},
		}, `break case continue do done elif else esac eval exec exit export fi for function if in local read readonly return select set shift
			source test then time trap unset until while`),
		prepared(Language{
			Name:          "sql",
			lineComments:  []string{"--"},
			blockComments: []blockComment{cComment},
			literals:      []literal{{open: "'", close: "'", lines: true}, {open: `"`, close: `"`}},
			foldsCase:     true,
			signs: []string{
				"SELECT ", "CREATE TABLE", "INSERT INTO", "ALTER TABLE", "DROP TABLE",
				"CREATE FUNCTION", " FROM ", "WHERE ", "select ", "create table", "insert into", "NOT NULL", "\n-- ",
				";\n",
			},
		}, `add all alter and any as asc begin between bigint boolean by case cascade char check column commit constraint create cross date
			decimal default delete desc distinct drop else end except exists false float foreign from full function grant group having if in
			index inner insert int integer intersect into is join key language left like limit not null numeric offset on or order outer
			over partition primary procedure references replace return returns right rollback row select set table text then timestamp to
			trigger true union unique update using values varchar view when where with`),
	}
})

// Language says how the code of a language is written.
type Language struct {
	Name string

	lineComments  []string
	blockComments []blockComment
	literals      []literal
	// nameMarks are the marks of ASCII that names may hold, in addition to the underscore.
	nameMarks string
	// foldsCase says that keywords may be written in any case.
	foldsCase bool
	special   special
	keywords  map[string]bool
	// bytes says what each byte of ASCII may be part of.
	bytes [utf8.RuneSelf]byteUse
	// signs are texts that stand in code of the language, and in code of few others.
	signs []string
}

type blockComment struct {
	open, close string
	nests       bool
	// ownLine says that both marks stand at the beginning of a line.
	ownLine bool
}

type literal struct {
	open, close string
	// escape is the byte that takes its meaning from the next one; 0 for none.
	escape byte
	// lines says that the literal may go over several lines. One that may not ends with its line at the latest.
	lines bool
}

// special says what a language has that literals and comments do not describe.
type special uint8

const (
	// regexps are /expressions/ where a value may stand.
	regexps special = 1 << iota
	// heredocs are texts up to a line with a word: <<WORD.
	heredocs
	// lifetimes are names after an apostrophe that nothing closes.
	lifetimes
	// rawStrings are R"word(text)word".
	rawStrings
	// hashedStrings are r#"text"#, with any number of #.
	hashedStrings
	// wordComments says that a line comment begins only where no word goes before.
	wordComments
)

type byteUse uint8

const (
	opens   byteUse = 1 << iota // the beginning of a comment or a literal
	letters                     // a name
	digits                      // a number, or a name behind its first letter
)

func (l *Language) has(s special) bool { return l.special&s != 0 }

// prepared returns the language, ready for use. The keywords have spaces between them.
func prepared(l Language, keywords string) *Language {
	l.keywords = map[string]bool{}
	for word := range strings.FieldsSeq(keywords) {
		l.keywords[word] = true
	}
	for b := range l.bytes {
		switch {
		case isLetter(byte(b)) || b == '_' || strings.IndexByte(l.nameMarks, byte(b)) >= 0:
			l.bytes[b] = letters
		case isDigit(byte(b)):
			l.bytes[b] = digits
		}
	}
	for _, open := range l.lineComments {
		l.bytes[open[0]] |= opens
	}
	for _, c := range l.blockComments {
		l.bytes[c.open[0]] |= opens
	}
	for _, q := range l.literals {
		l.bytes[q.open[0]] |= opens
	}
	if l.has(regexps) {
		l.bytes['/'] |= opens
	}
	if l.has(heredocs) {
		l.bytes['<'] |= opens
	}
	if l.has(lifetimes) {
		l.bytes['\''] |= opens
	}
	return &l
}

// Named returns the language of that name, or nil if there is none.
func Named(name string) *Language {
	for _, l := range languages() {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// Names returns the names of all languages, sorted.
func Names() []string {
	var names []string
	for _, l := range languages() {
		names = append(names, l.Name)
	}
	return slices.Sorted(slices.Values(names))
}
