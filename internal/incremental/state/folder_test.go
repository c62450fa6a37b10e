package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
)

// TestOtherUsers: a state in which other users could put files of theirs is refused, and nothing is written there.
func TestOtherUsers(t *testing.T) {
	const nobody = 65534
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	give := func(path string) error { return os.Lchown(path, nobody, -1) }
	for _, test := range []struct {
		name string
		do   func(folder string) error
		want string
	}{
		{"the folder is another user's", func(folder string) error {
			return errors.Join(os.Mkdir(folder, 0o755), give(folder))
		}, "another user"},
		{"everybody may write there", func(folder string) error {
			return errors.Join(os.Mkdir(folder, 0o700), os.Chmod(folder, 0o777))
		}, "all users may write"},
		{"it is sticky", func(folder string) error {
			return errors.Join(os.Mkdir(folder, 0o700), os.Chmod(folder, fs.ModeSticky|0o777))
		}, "all users may write"},
		{"the segments are another user's", func(folder string) error {
			segments := filepath.Join(folder, segmentsName)
			return errors.Join(os.MkdirAll(segments, 0o755), give(segments))
		}, "another user"},
		{"it is another user's link", func(folder string) error {
			return errors.Join(os.Mkdir(folder+"-of-mine", 0o755), os.Symlink(folder+"-of-mine", folder), give(folder))
		}, "another user"},
		{"the folder above is another user's", func(folder string) error {
			return give(filepath.Dir(folder))
		}, "another user"},
		{"everybody may write to the folder above", func(folder string) error {
			return os.Chmod(filepath.Dir(folder), 0o777)
		}, "all users may write"},
		{"the folder above is sticky", func(folder string) error {
			return os.Chmod(filepath.Dir(folder), fs.ModeSticky|0o777)
		}, ""},
		{"it is a link of the user", func(folder string) error {
			return errors.Join(os.Mkdir(folder+"-of-mine", 0o755), os.Symlink(folder+"-of-mine", folder))
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "above", "state")
			if err := errors.Join(os.Mkdir(filepath.Dir(folder), 0o755), test.do(folder)); err != nil {
				t.Fatal(err)
			}
			s, err := Open(folder, "a test")
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			if err == nil {
				if err := errors.Join(s.Commit(holding(runName("A"))), s.Close()); err != nil {
					t.Error(err)
				}
				if again, err := Read(folder); err != nil || again.Number != 1 {
					t.Errorf("read %+v, %v", again, err)
				}
				return
			}
			if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("read: error %v, want %q", err, test.want)
			}
			if _, err := os.Lstat(filepath.Join(folder, lockName)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a lock is there: %v", err)
			}
		})
	}
}

// TestOlderGeneration: an older generation that is damaged hinders nobody, and Verify tells of it until it goes.
func TestOlderGeneration(t *testing.T) {
	for name, folder := range folders(t) {
		t.Run(name, func(t *testing.T) {
			s := open(t, folder)
			for _, content := range []Content{{}, {}} {
				if err := s.Commit(content); err != nil {
					t.Fatal(err)
				}
			}
			damage := func() {
				t.Helper()
				if err := storage.WriteFile(
					generationName(folder, s.Last.Number-1), []byte(magic+"damaged"),
				); err != nil {
					t.Fatal(err)
				}
				if _, err := Verify(t.Context(), folder); err == nil ||
					!strings.Contains(err.Error(), "'runjob state prune' removes it") {
					t.Errorf("Verify says %v", err)
				}
				if last, err := Read(folder); err != nil || last.Number != s.Last.Number {
					t.Errorf("read %+v, %v", last, err)
				}
			}
			checkGone := func() {
				t.Helper()
				if err := VerifyOlder(folder); err != nil || len(files(t, folder)) != 1 {
					t.Errorf("left %v: %v", files(t, folder), err)
				}
			}
			damage()
			if _, _, err := s.Prune(); err != nil {
				t.Fatal(err)
			}
			checkGone()
			if err := s.Commit(Content{}); err != nil {
				t.Fatal(err)
			}
			damage()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, folder)
			checkGone()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestDamagedNewest: if the newest generation is damaged, the error names what to remove. That helps.
func TestDamagedNewest(t *testing.T) {
	for name, folder := range folders(t) {
		t.Run(name, func(t *testing.T) {
			s := open(t, folder)
			if err := errors.Join(s.Commit(Content{Program: "first"}), s.Commit(Content{}), s.Close()); err != nil {
				t.Fatal(err)
			}
			newest := generationName(folder, 2)
			if err := storage.WriteFile(newest, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(folder, "a test"); err == nil ||
				!strings.Contains(err.Error(), "remove this file, and the state is as generation 1 left it") {
				t.Errorf("opened: %v", err)
			}
			if err := storage.Remove(newest); err != nil {
				t.Fatal(err)
			}
			if last, err := Read(folder); err != nil || last.Program != "first" {
				t.Errorf("read %+v, %v", last, err)
			}
			if err := storage.WriteFile(generationName(folder, 1), nil); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), "no generation is whole") {
				t.Errorf("read: %v", err)
			}
		})
	}
}

// TestAcknowledge: what is acknowledged leaves the queue of notifications in one step, and only that.
func TestAcknowledge(t *testing.T) {
	for name, folder := range folders(t) {
		t.Run(name, func(t *testing.T) {
			s := open(t, folder)
			_, first := Notifications(nil).Tell(
				[]output.Change{{Of: output.Suspects, Change: output.New, Lineage: "a"}}, 1, func(_, _ string) bool {
					return true
				})
			_, both := first.Tell([]output.Change{{Of: output.Suspects, Change: output.New, Lineage: "b"}}, 2,
				func(_, _ string) bool {
					return true
				})
			for _, o := range []Notifications{first, both} {
				file, err := s.WriteNotifications(o, NewNames())
				if err := errors.Join(err, s.Commit(Content{Notifications: file})); err != nil {
					t.Fatal(err)
				}
			}
			for _, step := range []struct {
				generation, number int
				except, left       []string
			}{
				{1, 3, nil, []string{"b"}},
				{1, 3, nil, []string{"b"}},
				{3, 3, []string{"c", "b"}, []string{"b"}},
				{3, 4, nil, nil},
				{4, 4, nil, nil},
			} {
				left, err := s.Acknowledge(step.generation, step.except...)
				if err != nil || s.Last.Number != step.number {
					t.Fatalf("generation %d: %v", s.Last.Number, err)
				}
				open, err := s.Last.Unacknowledged(folder)
				if err != nil || len(open) != len(left) {
					t.Errorf("%v is left, and %v is there: %v", left, open, err)
				}
				var lineages []string
				for _, c := range open {
					lineages = append(lineages, c.Lineage)
				}
				if !slices.Equal(lineages, step.left) {
					t.Errorf("left %v, want %v", lineages, step.left)
				}
			}
			if _, err := Verify(t.Context(), folder); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
