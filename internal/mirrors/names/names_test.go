package names

import (
	"fmt"
	"strings"
	"testing"
)

// finder returns a finder whose rows, and lines without a name, are the lines of what it returns.
func finder(t *testing.T, state string) (*Finder, *strings.Builder) {
	t.Helper()
	rows := new(strings.Builder)
	f, err := NewFinder([]string{"ourbank.com", "paypal.com"}, []byte(state), func(c *Campaign) error {
		fmt.Fprintf(rows, "%s %s %s %s %s %d\n", c.Domain, c.Protected, c.Kind, c.Name, c.First, c.Names)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Rejects = func(r Reject) error {
		fmt.Fprintf(rows, "%d %q: %s\n", r.Line, r.Text, r.Reason)
		return nil
	}
	return f, rows
}

func read(t *testing.T, f *Finder, list string) {
	t.Helper()
	if err := f.Read(strings.NewReader(list)); err != nil {
		t.Fatal(err)
	}
	if err := f.Finish(); err != nil {
		t.Fatal(err)
	}
}

// TestRead shows what lines of lists are names.
func TestRead(t *testing.T) {
	for _, row := range []struct{ name, list, want string }{
		{"plain", "paypa1.com\n", "paypa1.com paypal.com homoglyph paypa1.com paypa1.com 1\n"},
		{"no end of the line", "paypa1.com", "paypa1.com paypal.com homoglyph paypa1.com paypa1.com 1\n"},
		{
			"a log of certificates", "\ufeff*.PAYPA1.com,2026-01-02\r\n",
			"paypa1.com paypal.com homoglyph paypa1.com paypa1.com 1\n",
		},
		{
			"a zone", "; zone\npaypa1.com.\t3600 in ns ns1.example.com.\n",
			"paypa1.com paypal.com homoglyph paypa1.com paypa1.com 1\n",
		},
		{"comments", "# paypa1.com\n\n \n", ""},
		{"of the owner", "login.paypal.com\nexample.com\n", ""},
		{
			"one domain", "a.ourbank-x.top\nourbank.com.ourbank-x.top\nb.ourbank-x.top\n",
			"ourbank-x.top ourbank.com subdomain ourbank.com.ourbank-x.top a.ourbank-x.top 3\n",
		},
		{"an address", "10.0.0.1\n", "1 \"10.0.0.1\": it is an address of the internet protocol\n"},
		{"no domain", "paypal\n", "1 \"paypal\": it is no name below a top-level domain\n"},
		{"another character", "pay/pal.com\n", "1 \"pay/pal.com\": it has a character that is in no name\n"},
		{"an empty label", "a..com\n", "1 \"a..com\": it has a label without characters, or of more than 63\n"},
		{
			"a long name", strings.Repeat("a.", 127) + "com\n",
			"1 \"" + strings.Repeat("a.", 40) + "\": it is too long\n",
		},
		{
			"a long line", strings.Repeat("a", 70_000) + "\npaypa1.com\n",
			"1 \"" + strings.Repeat("a", 80) + "\": the line is longer than 64 KiB\n" +
				"paypa1.com paypal.com homoglyph paypa1.com paypa1.com 1\n",
		},
		{"bytes that are no text", "p\xff.com\n", "1 \"p\ufffd.com\": it is not UTF-8\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, rows := finder(t, "")
			if read(t, f, row.list); rows.String() != row.want {
				t.Errorf("%q, want %q", rows, row.want)
			}
		})
	}
}

// TestState shows that what has been written is not written again, and that a state which is none is refused.
func TestState(t *testing.T) {
	f, _ := finder(t, "")
	read(t, f, "paypa1.com\n")
	next, rows := finder(t, string(f.State()))
	read(t, next, "www.paypa1.com\nourbank.top\n")
	if want := "ourbank.top ourbank.com other_domain ourbank.top ourbank.top 1\n"; rows.String() != want ||
		next.Known != 1 || next.New != 1 {
		t.Errorf("%q, %+v", rows, next.Counts)
	}
	last, rows := finder(t, string(next.State()))
	if read(t, last, "paypa1.com\nourbank.top\n"); rows.Len() > 0 {
		t.Errorf("%q", rows)
	}
	for _, state := range []string{"{}", "# runjob names 2\n", stateHead + "\npaypa1.com\n", stateHead + "\na\tb"} {
		if _, err := NewFinder(nil, []byte(state), nil); err == nil {
			t.Errorf("%q is taken for a state", state)
		}
	}
}

// TestAllows shows that lawful names are no campaign.
func TestAllows(t *testing.T) {
	f, rows := finder(t, "")
	f.Allows = func(protected, name string) bool { return protected == "paypal.com" && name == "paypal.de" }
	if read(t, f, "paypal.de\nourbank.de\n"); strings.Contains(rows.String(), "paypal") || f.New != 1 {
		t.Errorf("%q, %+v", rows, f.Counts)
	}
}
