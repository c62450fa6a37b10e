package main

import (
	"io"
	"reflect"
	"testing"

	"mirrorbeam.dev/internal/input/webtext"
)

// TestDefaultsOfMirrors: the command has the flags of a job, with defaults of its own that are not given.
func TestDefaultsOfMirrors(t *testing.T) {
	parsed, err := parse([]string{"mirrors", "--input", "in", "--output", "out", "--site", "domain"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := newMirrorsCommand().Config
	want.Input = []string{"in"}
	want.Output = "out"
	want.Site = "domain"
	want.Given = []string{"input", "output", "site"}
	if got := parsed.(*mirrorsCommand).Config; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if err := want.Validate(); err != nil {
		t.Error(err)
	}
	if want.HTMLText != webtext.Main || !want.Normalize.Skeleton {
		t.Errorf("text %s, normalization %+v", want.HTMLText, want.Normalize)
	}
	if parsed, err = parse([]string{"mirrors", "--input", "in", "--output", "out", "--features", "f"},
		io.Discard); err != nil {
		t.Errorf("features: %v", err)
	} else if parsed.(*mirrorsCommand).Normalize.Skeleton {
		t.Error("features are normalized")
	}
}
