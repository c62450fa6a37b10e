package build

import (
	"regexp"
	"runtime/debug"
	"testing"
)

// TestThis: a build has an identity where no clone was next to its sources, as in a test.
func TestThis(t *testing.T) {
	this, err := This()
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(this.Content) {
		t.Errorf("the content is %q", this.Content)
	}
	if got := Parse(this.String()); got != this || !got.Matches(this) {
		t.Errorf("%v was read as %v", this, got)
	}
}

// TestMatches: one file or one commit makes two builds alike, and what is unknown makes none.
func TestMatches(t *testing.T) {
	linux, mac := Build{Commit: "c1", Content: "aa"}, Build{Commit: "c1", Content: "bb"}
	for _, test := range []struct {
		a, b Build
		want bool
	}{
		{linux, mac, true},
		{linux, Build{Commit: "c2", Content: "cc"}, false},
		{linux, Build{Content: "aa"}, true},
		{linux, Build{Content: "cc"}, false},
		{Build{Content: "cc"}, Build{Content: "dd"}, false},
		{Build{}, Build{}, false},
	} {
		if test.a.Matches(test.b) != test.want || test.b.Matches(test.a) != test.want {
			t.Errorf("%q matches %q: want %v", test.a, test.b, test.want)
		}
		if Parse(test.a.String()) != test.a {
			t.Errorf("%#v was read as %#v", test.a, Parse(test.a.String()))
		}
	}
}

// TestCleanCommit: a modified tree has no commit.
func TestCleanCommit(t *testing.T) {
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "c1"}, {
		Key:   "vcs.modified",
		Value: "false",
	}}}
	if got := cleanCommit(info); got != "c1" {
		t.Errorf("a clean tree is of commit %q", got)
	}
	info.Settings[1].Value = "true"
	if got := cleanCommit(info); got != "" {
		t.Errorf("a modified tree is of commit %q", got)
	}
	if got := cleanCommit(nil); got != "" {
		t.Errorf("an unknown build is of commit %q", got)
	}
}
