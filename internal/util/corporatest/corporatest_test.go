package corporatest

import (
	"fmt"
	"strings"
	"testing"
)

// attempt is a test that asks for the corpora. It tells how that ends.
type attempt struct {
	testing.TB
	name string
}

func (a attempt) Name() string                     { return a.name }
func (a attempt) Skipf(format string, args ...any) { panic("skipped: " + fmt.Sprintf(format, args...)) }

func (a attempt) Fatalf(format string, args ...any) {
	panic("failed: " + fmt.Sprintf(format, args...))
}
func (a attempt) Fatal(args ...any) { panic("failed: " + fmt.Sprint(args...)) }

// ended returns how a test ends that asks for a file that is not there.
func (a attempt) ended() (how string) {
	defer func() { how = fmt.Sprint(recover()) }()
	return Path(a, "none/such.jsonl.zst")
}

// TestPath: a test without a corpus is skipped, or fails where the corpora must be there or .ci/run would not find it.
func TestPath(t *testing.T) {
	for _, c := range []struct{ name, required, want string }{
		{"TestOfCorpora/a row", "", "skipped: the corpora have no none/such.jsonl.zst here"},
		{"TestOfCorpora/a row", "1", "failed: stat "},
		{"TestOthers/of Corpora", "", "failed: TestOthers reads none/such.jsonl.zst: say Corpora in its name"},
		{"BenchmarkOthers", "", "skipped: "},
	} {
		t.Setenv(required, c.required)
		if got := (attempt{t, c.name}).ended(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
