package pipeline

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"mirrorbeam/internal/carry/output"
)

// answered is what a server answers, as a record of a web archive.
func answered(address, head, body string) []byte {
	block := "HTTP/1.1 " + head + "\r\nContent-Type: text/html\r\n\r\n" + body
	return fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", address, len(block), block)
}

// TestRedirects: of two mirrors without rank and dates, the one to which the other redirects is the original, in each night and in
// every cut. Strangers, a site's own pages and answers that are no redirects do not vote.
func TestRedirects(t *testing.T) {
	n := newNight(t, 29)
	var a, b, z, strangers, moved bytes.Buffer
	for i := range 4 {
		page := fmt.Sprintf("<p>%s</p>", n.text())
		a.Write(answered(fmt.Sprintf("http://a.example/%d", i), "200 OK", page))
		b.Write(answered(fmt.Sprintf("https://b.example/%d", i), "200 OK", page))
		if i == 0 {
			z.Write(answered("http://z.example/quoted", "200 OK", page))
		}
		z.Write(answered(fmt.Sprintf("http://z.example/%d", i), "200 OK", "<p>"+n.text()+"</p>"))
	}
	n.put(t, "a.warc", a.Bytes())
	n.put(t, "b.warc", b.Bytes())
	n.put(t, "z.warc", z.Bytes())
	for i := range 20 {
		for _, site := range []string{"y", "z"} {
			strangers.Write(answered(fmt.Sprintf("http://%s.example/old/%d", site, i), "301 Moved\r\nLocation: http://a.example/", ""))
		}
		strangers.Write(answered(fmt.Sprintf("http://b.example/gone/%d", i), "404 Not Found\r\nLocation: http://a.example/", ""))
		strangers.Write(answered(fmt.Sprintf("http://a.example/old/%d", i), "301 Moved\r\nLocation: /", ""))
	}
	n.put(t, "strangers.warc", strangers.Bytes())

	config := testConfig(t, n.folder)
	config.Emit, config.Threshold = []string{output.Mirrors, output.Sites}, 0.5
	config.State, config.AllowRemoval = filepath.Join(t.TempDir(), "state"), true
	check := func(primary string, passed int64) {
		t.Helper()
		s := n.run(t, config)
		rows := decodeLoose[output.Mirror](t, readOutput(t, s.Config.Output, output.Mirrors))
		if len(rows) != 1 || rows[0].A != "a.example" || rows[0].B != "b.example" || rows[0].Group != primary {
			t.Errorf("mirrors %+v, want the group of %s", rows, primary)
		}
		if s.PassedOver["other status"] != passed || s.Counts.Documents != 13 {
			t.Errorf("%d documents, passed over %v, want %d", s.Counts.Documents, s.PassedOver, passed)
		}
		other := config
		other.State, other.Output, other.Lanes, other.Memory = "", filepath.Join(t.TempDir(), "out"), 3, 128<<20
		other.AllowRemoval = false
		runJob(t, other)
		for _, name := range config.Emit {
			if !bytes.Equal(readOutput(t, other.Output, name), readOutput(t, s.Config.Output, name)) {
				t.Errorf("in other parts the job has other %s", name)
			}
		}
	}
	check("a.example", 80) // by its name
	moved.Write(answered("http://a.example/moved/1", "301 Moved\r\nLocation: https://b.example/1", ""))
	moved.Write(answered("http://a.example/moved/2", "302 Found\r\nLocation: //www.b.example/2", ""))
	moved.Write(answered("http://b.example/moved", "308 Permanent Redirect\r\nLocation: http://a.example/", ""))
	n.put(t, "moved.warc", moved.Bytes())
	check("b.example", 83)
	check("b.example", 83) // all files are unchanged
}
