package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/incremental"
	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/mirrors"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/warnings"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/build"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

// found is what a run hands on to the next one.
type found struct {
	changes []output.Change
	// told are these changes and the changes of earlier runs that nobody has acknowledged. notifications are the
	// changes to be acknowledged.
	told          []output.Change
	notifications state.Notifications
	suspects      []finished.OpenSuspect
	// warnings say which protected sites could not be compared, and originals what the next run is to know of them.
	warnings  []warnings.Warning
	originals []state.Original
	unseen    int64
	// names are the files of the state that the next run needs.
	names state.Names
	// kept is the file of the state with what else the next run needs; "": none. It has shared ids if knowsIDs says so.
	kept     string
	knowsIDs bool
	// similar is the number of similar pairs that it is told of.
	similar int64
}

// publishScheduled publishes the results together with what has changed since the last run, and then commits the state.
// A run that dies in between has told of its changes, and the next one tells of them again.
func (r *run) publishScheduled(ctx context.Context, result *write.Result, summary *Summary) error {
	of, err := r.handOn(ctx, result)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return failure.Explain(&r.Config, failure.Storage, err)
	}
	summary.Warnings = append(append(summary.Warnings, of.warnings...), r.differing()...)
	summary.State = &finished.StateSummary{
		Generation:     r.state.Last.Number + 1,
		Files:          r.state.difference,
		Scratch:        r.plan().Why,
		Changes:        r.count(of.changes),
		Unacknowledged: r.count(of.notifications),
		Suspects:       of.suspects,
		Unseen:         of.unseen,
	}
	files, err := write.WriteChanges(write.Files{Partial: work.Path(r.results.Partial), Format: r.Config.OutputFormat},
		of.told)
	var next state.Content
	if err == nil {
		next, err = r.next(ctx, result, of)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		err = r.results.Publish(append(result.Files, files...), *summary)
	}
	if err != nil {
		return failure.Explain(&r.Config, failure.Storage, err)
	}
	if err := r.state.Commit(next); err != nil {
		return failure.Explain(&r.Config, failure.Storage,
			setting.Errorf("the results are published, but the {state} is as it was: %w", err))
	}
	return nil
}

func (r *run) differing() []warnings.Warning {
	var last job.Config
	if r.state.Last.Number == 0 || json.Unmarshal(r.state.Last.Config, &last) != nil {
		return nil
	}
	names := r.Config.Differing(&last)
	if len(names) == 0 {
		return nil
	}
	var told, flags []string
	now, before := r.Config.Settings(), last.Settings()
	for _, name := range names {
		told = append(told, fmt.Sprintf("%s %.60s, which was %.60s", name, cmp.Or(string(now[name]), "unset"),
			cmp.Or(string(before[name]), "unset")))
		flags = append(flags, "--"+strings.ReplaceAll(name, "_", "-"))
	}
	return []warnings.Warning{{
		Kind: warnings.OtherSettings,
		Text: "settings differ from the last run, and changes may follow from that: " + strings.Join(told, "; "),
		Flag: strings.Join(flags, " "),
	}}
}

// count counts changes by output and kind. Outputs that the run has found no groups for are left out.
func (r *run) count(changes []output.Change) map[string]map[string]int64 {
	counts := map[string]map[string]int64{output.Clusters: {}}
	if r.Config.HasSites() {
		counts[output.Mirrors] = map[string]int64{}
		counts[output.Suspects] = map[string]int64{}
		counts[output.Protected] = map[string]int64{}
	}
	for of, kinds := range state.Notifications(changes).Counts() {
		counts[of] = kinds
	}
	return counts
}

type past struct {
	clusters      []state.Group
	mirrors       []state.Group
	suspects      []state.Alert
	notifications state.Notifications
}

// past reads what the state knows of earlier runs. If a part of it is damaged or missing, a run with --rebuild starts
// from scratch: all that it finds is new, so nobody misses an alarm.
func (r *run) past() (p past, err error) {
	last, path := &r.state.Last, r.state.Path
	if last.Clusters != "" {
		p.clusters, err = state.ReadGroups(path(last.Clusters))
	}
	if err == nil && last.Mirrors != "" {
		p.mirrors, err = state.ReadGroups(path(last.Mirrors))
	}
	if err == nil && last.Suspects != "" {
		p.suspects, err = state.ReadAlerts(path(last.Suspects))
	}
	if err == nil {
		p.notifications, err = last.Unacknowledged(r.state.Folder)
	}
	_, isDamaged := errors.AsType[*storage.DamagedError](err)
	if r.Config.Rebuild && (isDamaged || errors.Is(err, fs.ErrNotExist)) {
		last.Mirrors, last.Suspects = "", ""
		return past{}, nil
	}
	return p, err
}

// handOn compares what the run has found with what the last one did, and writes files of the state for the next one. A
// run that is not about sites hands on what an earlier one has found of them.
func (r *run) handOn(ctx context.Context, result *write.Result) (f found, err error) {
	now, err := write.ReadForNext(ctx, result.Written)
	if err != nil {
		return f, err
	}
	before, err := r.past()
	if err != nil {
		return f, err
	}
	last, names := &r.state.Last, state.NewNames()
	f.names = state.Names{Clusters: names.Clusters, Mirrors: last.Mirrors, Suspects: last.Suspects}
	f.originals = last.Originals
	if err = r.follow(&f, output.Clusters, before.clusters, now.Clusters, names.Clusters); err != nil {
		return f, err
	}
	before.clusters, now.Clusters = nil, nil // they are large, and of no more use
	if r.Config.HasSites() {
		f.names.Mirrors, f.names.Suspects = names.Mirrors, names.Suspects
		if err = r.follow(&f, output.Mirrors, before.mirrors, now.Mirrors, names.Mirrors); err != nil {
			return f, err
		}
		if err = r.followAlerts(ctx, &f, before.suspects, now.Suspects, result); err != nil {
			return f, err
		}
	}
	f.told, f.notifications = before.notifications.Tell(f.changes, last.Number+1, r.isAwaited)
	if f.names.Notifications, err = r.state.WriteNotifications(f.notifications, names); err != nil {
		return f, err
	}
	if hasComparedAll(*result) && r.Config.Scorer().HasClusters {
		f.names.Pairs = names.Pairs
		f.similar = int64(len(now.CachedPairs) / state.CachedPairSize)
		err = state.WriteCachedPairs(r.state.Path(f.names.Pairs), now.CachedPairs, ctx.Err)
	}
	f.knowsIDs = result.SharedIDs > 0
	if err == nil && (f.knowsIDs || r.Config.Protected != "" || incremental.KeepsPassages(&r.Config)) {
		f.kept, err = r.state.Keep(ctx, append(result.GroupedKeys, result.Written...))
	}
	return f, err
}

// isAwaited reports whether changes of an output and of a kind are repeated until somebody acknowledges them. Clusters
// change all the time, so theirs are repeated only if the user wants to hear of them.
func (r *run) isAwaited(of, change string) bool {
	return of != output.Clusters || slices.Contains(r.Config.FailOn, job.FailCondition(change, of))
}

func (r *run) follow(f *found, of string, last, now []state.Group, name string) error {
	f.changes = append(f.changes, state.Follow(of, last, now, r.state.Last.Number+1)...)
	return state.WriteGroups(r.state.Path(name), now)
}

// followAlerts does the same for suspects, and tells which protected sites it could not compare.
func (r *run) followAlerts(ctx context.Context, f *found, known, now []state.Alert, result *write.Result) error {
	last := mirrors.LastRun{
		Known:     known,
		Originals: r.state.Last.Originals,
		Pages:     result.Fingerprinted,
	}
	if r.Config.Rebuild {
		last.Originals, last.Pages = nil, nil
	}
	watch, err := mirrors.NewWatch(ctx, result.Written, r.inputs.Sites.Protected, now, last)
	if err != nil {
		return err
	}
	f.originals = watch.Originals
	for _, site := range watch.Changed {
		f.warnings = append(f.warnings, warnings.Warning{
			Kind: warnings.ProtectedChanged,
			Text: site.String(),
			Flag: "--rebuild",
		})
	}
	sighting := state.Sighting{Generation: int64(r.state.Last.Number) + 1, Seconds: r.Begun.Unix()}
	changes, all := state.FollowAlerts(output.Suspects, known, now, watch.IsUnseen, sighting)
	f.suspects = openSuspects(all)
	for _, a := range all {
		if a.Unseen && a.Campaign == 0 {
			f.unseen++
		}
	}
	f.changes = append(append(f.changes, changes...), watch.Changes()...)
	return state.WriteAlerts(r.state.Path(f.names.Suspects), all)
}

func (r *run) next(ctx context.Context, result *write.Result, of found) (state.Content, error) {
	config, err := json.Marshal(r.Config)
	if err != nil {
		return state.Content{}, err
	}
	made := map[int]string{}
	for split, run := range result.Kept {
		made[split] = string(run)
	}
	s, names := r.state, of.names
	common, err := r.common()
	if err != nil {
		return state.Content{}, err
	}
	grouped := documentsOf(*result)
	if r.hasPruned() {
		grouped = s.Last.Grouped
	}
	return s.Compacted(ctx, state.Content{
		Made:           time.Now(),
		Program:        build.Version(),
		Sketches:       s.sketches,
		Config:         config,
		Fields:         r.inputs.Fields,
		Files:          s.Files(r.inputs, made, r.Begun, result.Cramped, r.Config.DocumentBytes()),
		Order:          r.inputs.Order,
		Documents:      documentsOf(*result),
		Grouped:        grouped,
		OversizedPairs: r.oversizedPairs(result),
		SharedIDs:      result.SharedIDs,
		IntegerNames:   result.Counts.HasIntegerNames(),
		SimilarPairs:   of.similar,
		Results:        r.ConfigHash,
		Lists:          r.listsHash(),
		Clusters:       names.Clusters,
		Pairs:          names.Pairs,
		Mirrors:        names.Mirrors,
		Suspects:       names.Suspects,
		Notifications:  names.Notifications,
		Kept:           of.kept,
		KnowsIDs:       of.knowsIDs,
		Originals:      of.originals,
		StopWords:      r.inputs.StopWords,
		Ignored:        r.inputs.Ignored,
		Common:         common,
		Sketch:         sketch.Version,
		Unicode:        sketch.UnicodeVersion,
		MainText:       webtext.MainVersion,
	})
}
