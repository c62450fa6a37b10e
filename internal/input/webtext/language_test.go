package webtext

import "testing"

func TestLanguage(t *testing.T) {
	for page, want := range map[string]string{
		"":                              "",
		"<p>no head":                    "",
		"<!doctype html><html><body>":   "",
		"<!doctype html><html lang=en>": "en",
		"<HTML class=a\nLANG='en-GB' dir=ltr><body>":      "en",
		`<html xmlns="x" xml:lang="pt_BR">`:               "pt",
		`<html xml:lang="fr" lang="de-CH-1996">`:          "de",
		`<html lang="">`:                                  "",
		`<html lang="klingonese">`:                        "",
		`<html lang="und">`:                               "",
		"<html lang=":                                     "",
		"<a><html lang=eng>":                              "en",
		"<body><p lang=fr>Bonjour</p></body><htm lang=en": "",
	} {
		if got := Language([]byte(page)); got != want {
			t.Errorf("%s is in %q, want %q", page, got, want)
		}
	}
	for tag, want := range map[string]string{
		"eng,deu": "en",
		"gsw":     "gsw",
		"zho":     "zh",
		"English": "",
		"mul":     "",
		"zxx":     "",
		"\xff":    "",
		"EN":      "en",
		"":        "",
	} {
		if got := BaseLanguage([]byte(tag)); got != want {
			t.Errorf("%q is %q, want %q", tag, got, want)
		}
	}
}

func FuzzBaseLanguage(f *testing.F) {
	f.Add([]byte("en-GB"))
	f.Fuzz(func(t *testing.T, tag []byte) {
		code := BaseLanguage(tag)
		if len(code) > 3 || code != "" && BaseLanguage([]byte(code)) != code {
			t.Errorf("%q is %q, which is %q", tag, code, BaseLanguage([]byte(code)))
		}
	})
}
