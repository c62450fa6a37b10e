package dataflow

import (
	"context"
	"slices"
	"strings"

	df "google.golang.org/api/dataflow/v1b3"
)

// The importance of messages: about the workers' life and stages, and about failures.
const (
	basic   = "JOB_MESSAGE_BASIC"
	serious = "JOB_MESSAGE_ERROR"
)

// mostErrors is how many errors of a job are told. A task that fails is tried four times, and says the same each time.
const mostErrors = 10

// messages follows what the service says about a job.
type messages struct {
	service *service
	id      string

	seen   map[string]bool // by id
	latest string          // the time of the latest one, from which on the service is asked
	faults []string        // distinct errors
}

// next returns the texts that are new. The messages are a comfort: if they cannot be had, there are none.
func (m *messages) next(ctx context.Context) (texts []string) {
	var found []*df.JobMessage
	err := m.service.try(ctx, fewTries, func(request context.Context) error {
		found = nil
		call := m.service.client.Projects.Locations.Jobs.Messages.List(m.service.project, m.service.region, m.id).MinimumImportance(basic)
		if m.latest != "" {
			call.StartTime(m.latest)
		}
		return call.Pages(request, func(page *df.ListJobMessagesResponse) error {
			found = append(found, page.JobMessages...)
			return nil
		})
	})
	if err != nil {
		return nil
	}
	for _, message := range found {
		if m.seen[message.Id] {
			continue
		}
		m.seen[message.Id], m.latest = true, max(m.latest, message.Time)
		texts = append(texts, message.MessageText)
		if message.MessageImportance == serious && !slices.Contains(m.faults, message.MessageText) {
			m.faults = append(m.faults, message.MessageText)
		}
	}
	return texts
}

// errors returns the errors so far. The last one, which says why the job ended, comes first.
func (m *messages) errors() string {
	last := slices.Clone(m.faults[max(0, len(m.faults)-mostErrors):])
	slices.Reverse(last)
	return strings.Join(last, "\n")
}
