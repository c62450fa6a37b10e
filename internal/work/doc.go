// Package work is what the tasks of all stages work with. A task is a shard or a split and
// the pieces of run files for it. It has a [Place] at hand, turns the pieces into one run
// file, and puts out a small [Outcome]. A step between two stages, with a [Planning] at
// hand, makes the tasks of the next stage of the outcomes of the one before.
//
// Files have random names and are never changed, so a task may run twice.
package work
