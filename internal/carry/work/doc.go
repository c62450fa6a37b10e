// Package work holds what the tasks of all stages work with. A task is a shard or a split, and the pieces of run files
// for it. It gets a [Desk], turns the pieces into one run file, and emits a small [Outcome]. A step between two stages
// gets a [Planning], and turns the outcomes of the first stage into the tasks of the second.
//
// Files have random names and are never changed, so a task may run twice.
package work
