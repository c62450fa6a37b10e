package webtext

import "testing"

func TestHasPasswordInput(t *testing.T) {
	for page, want := range map[string]bool{
		`<form><input type="password" name=p></form>`:     true,
		`<INPUT name='p' TYPE='Password'/>`:               true,
		"<input\n\ttype=password>":                        true,
		`<p><b></b><input type=text><input type=password`: true,
		`<input type=text value="password">`:              false,
		`<input name=type>password`:                       false,
		`<textarea>type=password</textarea>`:              false,
		`type="password"`:                                 false,
		`<inpu`:                                           false,
		``:                                                false,
	} {
		if got := HasPasswordInput([]byte(page)); got != want {
			t.Errorf("%s: %v", page, got)
		}
	}
}
