package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/inspect/explore"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
)

type exploreCommand struct {
	Folder string `arg:"" name:"dir"`
	Port   uint16 `default:"0" placeholder:"N"`
	Open   bool
}

func (c *exploreCommand) Validate() error { return checkArgument("dir", c.Folder) }

// Run serves the results until a signal ends it, which is how it is meant to end.
func (c *exploreCommand) Run(ctx context.Context, out io.Writer) error {
	folder, err := finished.Open(c.Folder)
	if err == nil {
		err = folder.Need(output.Clusters, output.Pairs)
	}
	if err != nil {
		return failure.New(failure.Input, err)
	}
	recut := "runjob recut " + shellName(c.Folder) + " --output ANOTHER --threshold"
	server, err := explore.Listen(folder, int(c.Port), recut)
	if err != nil {
		return failure.New(failure.Usage, err)
	}
	say(out, "%s\n", server.Address())
	say(os.Stderr, "this machine alone can open it; Ctrl-C ends it\n")
	if c.Open {
		if err := openPage(server.Address()); err != nil {
			say(os.Stderr, "no browser opens: %v: open the address yourself\n", err)
		}
	}
	if err := server.Serve(ctx); err != nil {
		return failure.New(failure.Input, err)
	}
	return nil
}

// openPage opens an address in the browser of the user.
func openPage(address string) error {
	opener := map[string]string{"linux": "xdg-open", "darwin": "open"}[runtime.GOOS]
	if opener == "" {
		return fmt.Errorf("not known how on %s", runtime.GOOS)
	}
	return exec.Command(opener, address).Run()
}
