package workerpool

import (
	"testing"

	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/protobuf/proto"

	"mirrorbeam.dev/internal/util/build"
)

// TestCheckBuild: a pool refuses jobs of other builds, and knows those of earlier versions by their bare commit or
// none.
func TestCheckBuild(t *testing.T) {
	this, err := build.This()
	if err != nil {
		t.Fatal(err)
	}
	for job, refused := range map[string]bool{
		this.String():                   false,
		this.Content:                    false,
		"0123456789abcdef":              true,
		"0123456789abcdef of commit c1": true,
		"":                              true,
	} {
		if err := checkBuild(map[string]string{buildParameter: job}); (err != nil) != refused {
			t.Errorf("a job of build %q: %v", job, err)
		}
	}
	if err := checkBuild(nil); err != nil {
		t.Errorf("a job of somebody else: %v", err)
	}
}

// TestMark keeps the address of the pool.
func TestMark(t *testing.T) {
	payload, err := proto.Marshal(&pipepb.ExternalPayload{Endpoint: &pipepb.ApiServiceDescriptor{Url: "pool:50000"}})
	if err != nil {
		t.Fatal(err)
	}
	environment := &pipepb.Environment{Payload: payload}
	var marked pipepb.ExternalPayload
	if err := Mark(environment); err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(environment.GetPayload(), &marked); err != nil {
		t.Fatal(err)
	}
	this, err := build.This()
	if err != nil {
		t.Fatal(err)
	}
	if marked.GetParams()[buildParameter] != this.String() || marked.GetEndpoint().GetUrl() != "pool:50000" {
		t.Errorf("marked: %v", &marked)
	}
}
