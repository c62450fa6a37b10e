package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/internal/work"
)

// moments are stages at some times, as somebody sees who looks.
func moments() (looks [][]work.StageProgress, now []time.Time) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	first := work.StageProgress{
		Stage:    work.Fingerprint,
		Tasks:    4,
		Done:     1,
		Records:  1000,
		Bytes:    2e6,
		Written:  3e6,
		Resident: 50e6,
		Begun:    at(0),
		Ended:    at(10),
	}
	ended := first
	ended.Done, ended.Records, ended.Bytes, ended.Ended = 4, 4000, 8e6, at(40)
	key := work.StageProgress{Stage: work.Key, Tasks: 2, Begun: at(40)}
	done := key
	done.Done, done.Records, done.Resident, done.Ended = 2, 70, 60e6, at(45)
	expected := work.StageProgress{Stage: work.Group, Tasks: 9}
	return [][]work.StageProgress{nil, {first}, {ended, key, expected}, {ended, done, expected}},
		[]time.Time{at(0), at(10), at(41), at(50)}
}

// follow hands the moments to a printer, one after the other.
func follow(t *testing.T, p *progressPrinter) {
	t.Helper()
	looks, now := moments()
	seen := 0
	look := func() []work.StageProgress { return looks[min(seen, len(looks)-1)] }
	ticks := make(chan time.Time)
	end := p.follow(ticks, func() []work.StageProgress {
		s := look()
		seen++
		return s
	})
	for _, at := range now {
		ticks <- at
	}
	end()
}

func TestProgressOnTerminal(t *testing.T) {
	var b bytes.Buffer
	follow(t, &progressPrinter{out: &b, width: 200})
	const erase = "\r\x1b[K"
	want := erase +
		"  7 %  about 2m3s left  reading texts         25 %  1,000 documents  2.0 MB  200.0 kB/s  50.0 MB memory  " +
		"3.0 MB written  task 2 of 4" +
		erase + "reading texts         40.0 s  4,000 documents  8.0 MB  200.0 kB/s  50.0 MB memory  3.0 MB written  " +
		"4 tasks\n" +
		erase + " 49 %  about 43s left  making keys            0 %  50.0 MB memory  3.0 MB written  task 1 of 2" +
		erase + " 62 %  about 31s left  making keys          100 %  70 records  60.0 MB memory  3.0 MB written  " +
		"task 2 of 2" +
		erase + "making keys            5.0 s  70 records  60.0 MB memory  0 B written  2 tasks\n"
	if got := b.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.Reset()
	follow(t, &progressPrinter{out: &b, width: 20})
	for line := range strings.SplitSeq(b.String(), "\n") {
		for part := range strings.SplitSeq(line, erase) {
			if len(part) >= 20 {
				t.Errorf("%q is too long for the terminal", part)
			}
		}
	}
}

func TestProgressElsewhere(t *testing.T) {
	var b bytes.Buffer
	follow(t, &progressPrinter{out: &b})
	got := b.String()
	if strings.Count(got, "\n") != 3 || !strings.HasPrefix(got, "runjob:   7 %  about 2m3s left  reading texts") ||
		strings.ContainsAny(got, "\r\x1b") {
		t.Errorf("%q", got)
	}
	b.Reset()
	follow(t, &progressPrinter{out: &b, log: slog.New(slog.NewJSONHandler(&b, nil))})
	for line := range strings.SplitSeq(strings.TrimSpace(b.String()), "\n") {
		var record struct {
			Msg, Stage string
			TasksDone  *int64 `json:"tasks_done"`
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil || record.Msg != "progress" ||
			record.Stage == "" || record.TasksDone == nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestProgressOfNothing: a job that ends before anybody looks leaves no line.
func TestProgressOfNothing(t *testing.T) {
	var b bytes.Buffer
	looks, _ := moments()
	p := &progressPrinter{out: &b, width: 80}
	p.follow(nil, func() []work.StageProgress { return looks[3] })()
	if b.Len() > 0 {
		t.Errorf("%q", b.String())
	}
}
