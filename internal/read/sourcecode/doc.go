// Package sourcecode cuts program code into names, keywords, numbers, strings, marks and comments.
//
// It is no compiler. It knows of each language how its comments and strings begin and end, and which words are its
// keywords; that is all that code without comments, or without names, needs. What looks like none of these in broken code
// becomes marks and names, so every text can be cut.
//
//	language.go   what a language is
//	languages.go  the languages
//	scanner.go    the tokens of a text
//	literals.go   strings, comments and numbers, which a few languages write in ways of their own
//	detect.go     the language of a text, by what stands in it
//
// The time goes with the length of the text, whatever stands in it. Everything is a pure function of the text.
package sourcecode
