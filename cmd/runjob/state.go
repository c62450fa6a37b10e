package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"mirrorbeam/internal/setting"
	"mirrorbeam/internal/state"
	"mirrorbeam/internal/storage"
)

// stateCommand looks after the state of a scheduled job.
type stateCommand struct {
	Show    stateShow    `cmd:"" help:"Tell what a state holds."`
	Verify  stateVerify  `cmd:"" help:"Read all that a state holds and check it."`
	Prune   statePrune   `cmd:"" help:"Remove what only the last run but one has needed."`
	Compact stateCompact `cmd:"" help:"Prune, and join small files of a state to large ones."`
}

// stateFolder is the argument of the commands.
type stateFolder struct {
	Folder string `arg:"" name:"dir" help:"Folder of the state, on the disk or in a bucket."`
}

// Validate checks the argument.
func (c *stateFolder) Validate() error { return checkArgument("dir", c.Folder) }

// fault returns an error about the state. A folder without a state is a fault of what was named, as it is to a query. A
// state that cannot be read whole is a fault of the storage.
func (c *stateFolder) fault(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, state.ErrNone):
		return unusable{fmt.Errorf("there is no state in %s: name the --state of an earlier 'runjob run'", c.Folder)}
	case errors.Is(err, fs.ErrNotExist):
		return unwritable{fmt.Errorf("%s: a part of the state is missing: %w", c.Folder, err)}
	}
	return unwritable{fmt.Errorf("the state %s: %w", c.Folder, err)}
}

type stateShow struct{ stateFolder }

// Run prints what the state holds.
func (c *stateShow) Run(_ context.Context, out io.Writer) error {
	content, err := state.Read(c.Folder)
	if err != nil {
		return c.fault(err)
	}
	references, unsettled := 0, 0
	for i := range content.Files {
		if content.Files[i].Reference {
			references++
		}
		if !content.Files[i].Settled {
			unsettled++
		}
	}
	say(out, "generation %d, written %s by version %s\n%s in %s", content.Number, content.Made.Format(time.RFC3339), content.Program,
		counted(content.Documents, "document"), counted(int64(len(content.Files)), "file"))
	if references > 0 {
		say(out, ", %s of them of the reference", count(int64(references)))
	}
	if unsettled > 0 {
		say(out, "\n%s to be read again: written just before the run", counted(int64(unsettled), "file"))
	}
	say(out, "\nsettings: %s\n", content.Config)
	return nil
}

type stateVerify struct{ stateFolder }

// Run checks the state.
func (c *stateVerify) Run(ctx context.Context, out io.Writer) error {
	bytes, err := state.Verify(ctx, c.Folder)
	if err != nil {
		return c.fault(err)
	}
	say(out, "%s: whole, %s of sketches\n", strings.TrimRight(c.Folder, "/"), size(bytes))
	return nil
}

type statePrune struct{ stateFolder }

// Run prunes the state.
func (c *statePrune) Run(_ context.Context, out io.Writer) error {
	return c.tidy(out, (*state.State).Prune)
}

type stateCompact struct{ stateFolder }

// Run compacts the state.
func (c *stateCompact) Run(ctx context.Context, out io.Writer) error {
	return c.tidy(out, func(s *state.State) (before, after int64, err error) { return s.Compact(ctx) })
}

// tidy opens the state, has it tidied, and prints what it takes before and after.
func (c *stateFolder) tidy(out io.Writer, do func(*state.State) (before, after int64, err error)) (err error) {
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
	before, after, err := do(s)
	if err != nil {
		return c.fault(err)
	}
	say(out, "%s before, %s now\n", size(before), size(after))
	return nil
}
