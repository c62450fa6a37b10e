package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/storage"
)

const schedules = "../../scripts/schedule"

// unit is a unit of systemd whose commands a test runs in a scene.
type unit struct {
	scene *scene
	text  string
}

// readUnit reads a unit. Paths of the local disk become paths of the scene.
func readUnit(s *scene, name string) unit {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(schedules, name))
	if err != nil {
		s.t.Fatal(err)
	}
	text := strings.ReplaceAll(string(b), "\\\n", "")
	for _, folder := range []string{"/etc/runjob", "/srv/runjob", "/var/lib/node_exporter"} {
		text = strings.ReplaceAll(text, folder, s.dir+folder)
	}
	return unit{s, text}
}

// setting returns the value of a setting.
func (u unit) setting(name string) string {
	u.scene.t.Helper()
	for line := range strings.Lines(u.text) {
		if value, is := strings.CutPrefix(line, name+"="); is {
			return strings.TrimSpace(value)
		}
	}
	u.scene.t.Fatalf("the unit has no %s", name)
	return ""
}

// start runs the command of the unit and returns its exit code. What it says goes to the log of the test.
func (u unit) start() int {
	u.scene.t.Helper()
	words := strings.Fields(u.setting("ExecStart"))
	job := u.scene.command(filepath.Base(words[0]), words[1:]...)
	err := job.Run()
	u.scene.t.Log(job.stderr.String())
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		return exit.ExitCode()
	}
	if err != nil {
		u.scene.t.Fatal(err)
	}
	return 0
}

// mails runs the unit that follows a good end of this one, which has ended with a code, and returns all mails so far. If
// the mail is broken, none can be sent, and the unit fails.
func (u unit) mails(code int, isBroken bool) string {
	u.scene.t.Helper()
	next := readUnit(u.scene, u.setting("OnSuccess"))
	scripts, err := filepath.Abs(schedules)
	if err != nil {
		u.scene.t.Fatal(err)
	}
	u.scene.write("bin/mail", fmt.Appendf(nil, "#!/bin/sh\n! %v && cat >>mail\n", isBroken))
	if err := os.Chmod(filepath.Join(u.scene.dir, "bin/mail"), 0o755); err != nil {
		u.scene.t.Fatal(err)
	}
	if code == exitDone || fmt.Sprint(code) == u.setting("SuccessExitStatus") {
		after := u.scene.command("sh", "-c", next.setting("ExecStart"))
		after.Env = append(after.Env, "PATH="+filepath.Join(u.scene.dir, "bin")+":"+scripts+":"+os.Getenv("PATH"))
		if err := after.Run(); (err != nil) != (isBroken && code == exitCondition) {
			u.scene.t.Fatalf("%v: %s", err, &after.stderr)
		}
	}
	mail, err := os.ReadFile(filepath.Join(u.scene.dir, "mail"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		u.scene.t.Fatal(err)
	}
	return string(mail)
}

// webPage is a page of an archive.
type webPage struct{ address, date, title, text string }

// html returns the page. One of the title "Log in" asks for a password.
func (p webPage) html() string {
	form := ""
	if p.title == "Log in" {
		form = "<form action=in><input name=user><input type=password name=p><button>Go</button></form>"
	}
	return fmt.Sprintf(
		"<!doctype html><html lang=en><head><title>%s</title></head><body><h1>%[1]s</h1><p>%s</p>%s</body></html>",
		p.title, p.text, form)
}

// archive returns a web archive of pages, each in a gzip member of its own.
func archive(t *testing.T, pages ...webPage) []byte {
	t.Helper()
	var b bytes.Buffer
	for i, p := range pages {
		block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + p.html()
		w := gzip.NewWriter(&b)
		_, err := fmt.Fprintf(w,
			"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:page:%d>\r\nWARC-Target-URI: %s\r\nWARC-Date: %s\r\n"+
				"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i,
			p.address, p.date, len(block), block)
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// TestWatch runs the watch for copies as its timer does, from web archives in a bucket to a mail: a copy of a protected
// site appears in the second run, in which no mail can be sent, and has gone in the third, which sends the mail. It
// comes again, its site is not in the crawl of the fifth run, and it has gone in the sixth.
func TestWatch(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("jq, which alerts need, is missing")
	}
	const bucket = "gs://example-watch"
	newDeadlyBucket(t, "example-watch")
	s := newScene(t)
	u := readUnit(s, "watch.service")
	s.write("etc/runjob/our-sites.txt", []byte("example.org\n"))
	s.write("etc/runjob/partners.txt", []byte("example.org partner.example\n"))
	for _, folder := range []string{"srv/runjob", "var/lib/node_exporter/textfile"} {
		if err := os.MkdirAll(filepath.Join(s.dir, folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	put := func(name string, pages ...webPage) {
		t.Helper()
		if err := storage.WriteFile(bucket+"/"+name, archive(t, pages...)); err != nil {
			t.Fatal(err)
		}
	}
	const loginText = "Enter the name and the password of your account to see what you have sent and received, and never tell them to anybody."
	const aboutText = "We have kept the books of small shops on this coast for thirty years, and we still answer the telephone ourselves."
	put("ours.warc.gz", webPage{"https://www.example.org/", "2026-11-01T00:00:00Z", "About us", aboutText},
		webPage{"https://www.example.org/login", "2026-11-01T00:00:00Z", "Log in", loginText})
	honest := []webPage{
		{"https://partner.example/about", "2026-11-02T00:00:00Z", "About us", aboutText},
		{
			"http://harbour.example/tides", "2026-11-02T00:00:00Z", "Tides",
			"High water comes an hour later each day, and the ferry waits for it in winter when the wind is from the north.",
		},
	}
	other := webPage{
		"http://examp1e.org/login", "2026-11-05T00:00:00Z", "For sale",
		"This name is for sale: ask the registrar for the price of a year, and for that of ten years at once.",
	}
	copied := webPage{"http://examp1e.org/login", "2026-11-03T00:00:00Z", "Log in", loginText}
	mails := ""
	for i, run := range []struct {
		suspicious []webPage
		code       int
		isBroken   bool
		changes    []string // of the suspect
		suspects   string
		mails      int // so far
	}{
		{honest, 0, false, nil, "0", 0},
		{append(slices.Clone(honest), copied), exitCondition, true, []string{"new"}, "1", 0},
		{append(slices.Clone(honest), other), exitCondition, false, []string{"gone", "new"}, "0", 1},
		{append(slices.Clone(honest), copied), exitCondition, false, []string{"new"}, "1", 2},
		{honest, 0, false, []string{"unseen"}, "0", 2},
		{append(slices.Clone(honest), other), 0, false, []string{"gone"}, "0", 2},
		{honest, 0, false, nil, "0", 2},
	} {
		put("suspicious.warc.gz", run.suspicious...)
		code := u.start()
		if code != run.code {
			t.Errorf("run %d: exit code %d, want %d", i, code, run.code)
		}
		mails = u.mails(code, run.isBroken)
		if sent := strings.Count(mails, "\n"); sent != run.mails {
			t.Errorf("run %d: %d mails so far, want %d", i, sent, run.mails)
		}
		if _, err := state.Verify(t.Context(), bucket+"/state"); err != nil {
			t.Errorf("run %d: %v", i, err)
		}
		rows := read(t, filepath.Join(s.dir, "srv/runjob/watch/suspects-00000-of-00001.jsonl"))
		if has := strings.Contains(rows, `"severity":"high"`) && strings.Contains(rows, `"site":"examp1e.org"`); has !=
			(run.suspects == "1") {
			t.Errorf("run %d: suspects %q", i, rows)
		}
		changes := read(t, filepath.Join(s.dir, "srv/runjob/watch/changes-00000-of-00001.jsonl"))
		for _, change := range run.changes {
			if want := fmt.Sprintf(`{"of":"suspects","change":%q,`, change); strings.Count(changes, want) != 1 {
				t.Errorf("run %d: changes %q, want one that is %q", i, changes, change)
			}
		}
		if told := strings.Count(changes, `"of":"suspects"`); told != len(run.changes) {
			t.Errorf("run %d: changes %q, want %d of suspects", i, changes, len(run.changes))
		}
		metrics := read(t, filepath.Join(s.dir, "var/lib/node_exporter/textfile/watch.prom"))
		for _, line := range []string{
			fmt.Sprint("runjob_last_exit_code ", run.code),
			"runjob_suspects " + run.suspects,
		} {
			if !strings.Contains(metrics, "\n"+line+"\n") {
				t.Errorf("run %d: the metrics lack %s:\n%s", i, line, metrics)
			}
		}
	}
	gone, there, _ := strings.Cut(mails, "\n")
	if !strings.Contains(gone, `"of":"suspects","change":"new"`) ||
		!strings.Contains(there, `"site":"examp1e.org","protected":"example.org"`) {
		t.Errorf("mails %q, want one of a suspect that had gone, and one of a suspect that was there", mails)
	}
}

// read returns the content of a file.
func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestFloodedMail: a mail about a flood of suspects stays small, and says how many it leaves out, which stay open.
func TestFloodedMail(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("jq, which alerts need, is missing")
	}
	const suspects, mostBytes = 5000, 200_000
	s := newScene(t)
	var rows, changes bytes.Buffer
	for i := range suspects {
		fmt.Fprintf(&rows, "{\"id\":\"%d\",\"site\":\"s%[1]d.example\",\"passage\":%q}\n", i,
			strings.Repeat("x", 200))
		fmt.Fprintf(&changes, "{\"of\":\"suspects\",\"change\":\"new\",\"lineage\":\"%d\"}\n", i)
	}
	s.write("out/suspects-00000-of-00001.jsonl", rows.Bytes())
	s.write("out/changes-00000-of-00001.jsonl", changes.Bytes())
	s.write("out/summary.json", []byte(`{"state":{"generation":3}}`))
	for name, does := range map[string]string{"mail": "cat >mail", "runjob": `echo "$@" >acknowledged; cp "$6" left`} {
		s.write("bin/"+name, []byte("#!/bin/sh\n"+does+"\n"))
		if err := os.Chmod(filepath.Join(s.dir, "bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	scripts, err := filepath.Abs(schedules)
	if err != nil {
		t.Fatal(err)
	}
	sent := s.command("sh", filepath.Join(scripts, "watch-mail"), "out", "state", "security@example.org")
	sent.Env = append(sent.Env, "PATH="+filepath.Join(s.dir, "bin")+":"+scripts+":"+os.Getenv("PATH"))
	if err := sent.Run(); err != nil {
		t.Fatalf("%v: %s", err, &sent.stderr)
	}
	mail := read(t, filepath.Join(s.dir, "mail"))
	lines := strings.Split(strings.TrimSuffix(mail, "\n"), "\n")
	want := fmt.Sprintf("and %d more: see suspects and changes in out", suspects-len(lines)+1)
	if len(mail) > mostBytes || lines[len(lines)-1] != want {
		t.Errorf("a mail of %d bytes that ends with %q, want %q", len(mail), lines[len(lines)-1], want)
	}
	if got := read(t, filepath.Join(s.dir, "acknowledged")); !strings.HasPrefix(got, "state acknowledge state 3 --except ") {
		t.Errorf("acknowledged: %q", got)
	}
	listed := len(lines) - 1
	if left := strings.Fields(read(t, filepath.Join(s.dir, "left"))); len(left) != suspects-listed ||
		left[0] != fmt.Sprint(listed) {
		t.Errorf("%d listed, %d left: %.20q", listed, len(left), left)
	}
}

// TestStix: suspects become indicators of STIX 2.1 with ids that stay, or lines of CSV.
func TestStix(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("jq, which the script needs, is missing")
	}
	s := newScene(t)
	s.write("out/suspects-00000-of-00001.jsonl", []byte(
		`{"id":"0123456789abcdef","severity":"high","reasons":["page"],"class":"page","site":"o'copy.test:8080",`+
			`"protected":"example.org","score":0.5,`+
			`"examples":[{"page":"http://copy.test/","passage":"a \"word\""}]}`+"\n"+
			`{"id":"fedcba9876543210","severity":"low","reasons":[],"class":"quotes","site":"news.test",`+
			`"protected":"example.org","score":1,"examples":[{"page":"http://news.test/","passage":"b"}]}`+"\n"))
	script, err := filepath.Abs(filepath.Join(schedules, "watch-stix"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		c := exec.Command("sh", append([]string{script}, args...)...)
		c.Dir = s.dir
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	var bundle struct {
		Type, ID string
		Objects  []struct {
			Type, ID, Pattern string
			Confidence        int
		}
	}
	if err := json.Unmarshal([]byte(run("out")), &bundle); err != nil {
		t.Fatal(err)
	}
	if len(bundle.Objects) != 1 || bundle.Type != "bundle" {
		t.Fatalf("%+v, want a bundle of one indicator", bundle)
	}
	const id = "indicator--01234567-89ab-4def-a123-456789abcdef"
	if o := bundle.Objects[0]; o.ID != id || o.Pattern != `[domain-name:value = 'o\'copy.test']` || o.Confidence != 50 {
		t.Errorf("%+v, want the id %s", o, id)
	}
	const want = `"site","protected","severity","class","score","page","passage"` + "\n" +
		`"o'copy.test:8080","example.org","high","page",0.5,"http://copy.test/","a ""word"""` + "\n"
	if got := run("--csv", "out"); got != want {
		t.Errorf("CSV %q, want %q", got, want)
	}
}
