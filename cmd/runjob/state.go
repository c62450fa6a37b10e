package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
)

type stateCommand struct {
	Show        stateShow        `cmd:""`
	Acknowledge stateAcknowledge `cmd:""`
	Verify      stateVerify      `cmd:""`
	Prune       statePrune       `cmd:""`
	Compact     stateCompact     `cmd:""`
}

type stateFolder struct {
	Folder string `arg:"" name:"dir"`
}

func (c *stateFolder) Validate() error { return checkArgument("dir", c.Folder) }

// fault returns an error about the state. A folder without a state is a fault of what was named, as it is to a query. A
// state that cannot be read whole is a fault of the storage.
func (c *stateFolder) fault(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, state.ErrNone):
		return failure.Errorf(failure.Input, "there is no state in %s: name the --state of an earlier 'runjob run'",
			c.Folder)
	}
	if remedy := state.Remedy(c.Folder, err); remedy != nil {
		return failure.New(failure.Storage, remedy)
	}
	return failure.Errorf(failure.Storage, "the state %s: %w", c.Folder, err)
}

type stateShow struct{ stateFolder }

func (c *stateShow) Run(_ context.Context, out io.Writer) error {
	content, err := state.Read(c.Folder)
	if err != nil {
		return c.fault(err)
	}
	references, unstable := 0, 0
	for i := range content.Files {
		if content.Files[i].Reference {
			references++
		}
		if !content.Files[i].Stable {
			unstable++
		}
	}
	say(out, "generation %d, written %s by version %s\n%s in %s", content.Number, content.Made.Format(time.RFC3339),
		content.Program,
		counted(content.Documents, "document"), counted(len(content.Files), "file"))
	sayIf(out, references > 0, ", %s of them of the reference", count(references))
	sayIf(out, unstable > 0, "\n%s to be read again: written just before the run", counted(unstable, "file"))
	say(out, "\nsettings: %s\n", content.Config)
	open, err := content.Unacknowledged(c.Folder)
	if err != nil {
		return c.fault(err)
	}
	showUnacknowledged(out, open)
	if err := state.VerifyOlder(c.Folder); err != nil {
		say(out, "note: %v\n", err)
	}
	return nil
}

const mostShown = 50

func showUnacknowledged(out io.Writer, open state.Notifications) {
	if len(open) == 0 {
		say(out, "all changes are acknowledged\n")
		return
	}
	say(out, "not acknowledged:%s\n", strings.TrimPrefix(changesText(open.Counts()), ";"))
	for _, of := range changed {
		shown := 0
		for _, c := range open {
			if c.Of != of.output || c.Lineage == "" {
				continue
			}
			if shown++; shown > mostShown {
				say(out, "  …\n")
				break
			}
			say(out, "  %s %s: %s, since generation %d\n", of.name, c.Name, c.Change, c.Since)
		}
	}
}

type stateAcknowledge struct {
	stateFolder
	Generation *int   `arg:"" optional:""`
	Except     string `placeholder:"FILE"`
}

func (c *stateAcknowledge) Run(_ context.Context, out io.Writer) error {
	var except []string
	if c.Except != "" {
		list, err := storage.ReadFile(c.Except)
		if err != nil {
			return failure.Errorf(failure.Input, "--except: %w", err)
		}
		except = strings.Fields(string(list))
	}
	return c.alter(func(s *state.State) error {
		generation := s.Last.Number
		if c.Generation != nil {
			generation = *c.Generation
		}
		if generation < 1 || generation > s.Last.Number {
			return failure.Errorf(failure.Input, "the state %s has no generation %d: the newest one is %d", c.Folder,
				generation, s.Last.Number)
		}
		left, err := s.Acknowledge(generation, except...)
		if err != nil {
			return c.fault(err)
		}
		showUnacknowledged(out, left)
		return nil
	})
}

type stateVerify struct{ stateFolder }

func (c *stateVerify) Run(ctx context.Context, out io.Writer) error {
	bytes, err := state.Verify(ctx, c.Folder)
	if err != nil {
		return c.fault(err)
	}
	say(out, "%s: complete, %s of sketches\n", strings.TrimRight(c.Folder, "/"), size(bytes))
	return nil
}

type statePrune struct{ stateFolder }

func (c *statePrune) Run(_ context.Context, out io.Writer) error {
	return c.tidy(out, (*state.State).Prune)
}

type stateCompact struct{ stateFolder }

func (c *stateCompact) Run(ctx context.Context, out io.Writer) error {
	return c.tidy(out, func(s *state.State) (before, after int64, err error) { return s.Compact(ctx) })
}

func (c *stateFolder) tidy(out io.Writer, do func(*state.State) (before, after int64, err error)) error {
	return c.alter(func(s *state.State) error {
		before, after, err := do(s)
		if err != nil {
			return c.fault(err)
		}
		say(out, "%s before, %s now\n", size(before), size(after))
		return nil
	})
}

func (c *stateFolder) alter(do func(*state.State) error) (err error) {
	if _, err := state.Read(c.Folder); err != nil {
		return c.fault(err)
	}
	s, err := state.Open(c.Folder, "runjob state")
	if held, is := errors.AsType[*storage.HeldError](err); is {
		return c.fault(setting.Errorf("a run is at work with it (%s): wait for it", held.Holder))
	}
	if err != nil {
		return c.fault(err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return do(s)
}
