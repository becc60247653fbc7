package dynamo_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/dynamo/layout"
)

// infra/table.json defines the same table that the program creates.
func TestInfrastructureIsTheDefinition(t *testing.T) {
	raw, err := os.ReadFile("../infra/table.json")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Parameters map[string]struct{ Default string }
		Resources  map[string]struct {
			DeletionPolicy, UpdateReplacePolicy string
			Properties                          map[string]any
		}
	}
	if err := json.Unmarshal(raw, &template); err != nil {
		t.Fatal(err)
	}
	for _, protection := range []string{"DeletionProtection", "PointInTimeRecovery"} {
		if given := template.Parameters[protection].Default; given != "true" {
			t.Errorf("%s is %q unless it is asked for, want true", protection, given)
		}
	}
	if c := template.Resources["Comments"]; c.DeletionPolicy != "Retain" || c.UpdateReplacePolicy != "Retain" {
		t.Errorf("the table goes with its stack: DeletionPolicy %q, UpdateReplacePolicy %q", c.DeletionPolicy, c.UpdateReplacePolicy)
	}
	got := template.Resources["Comments"].Properties
	want := propertiesOf(t, layout.Definition(layout.DefaultTable))
	want["TableName"] = map[string]any{"Ref": "TableName"}
	want["TimeToLiveSpecification"] = propertiesOf(t, layout.TimeToLive("")).get("TimeToLiveSpecification")
	// CloudFormation has another name for this property, and switches a stream on by its presence.
	want["StreamSpecification"] = map[string]any{"StreamViewType": want.get("StreamSpecification").(map[string]any)["StreamViewType"]}
	want["DeletionProtectionEnabled"] = map[string]any{"Ref": "DeletionProtection"}
	want["PointInTimeRecoverySpecification"] = map[string]any{"PointInTimeRecoveryEnabled": map[string]any{"Ref": "PointInTimeRecovery"}}
	if diff := cmp.Diff(map[string]any(want), got); diff != "" {
		t.Errorf("infra/table.json is another table than layout.Definition: %s", diff)
	}
}

type properties map[string]any

func (p properties) get(name string) any { return p[name] }

// propertiesOf returns the input of an SDK call in CloudFormation's form, without unset fields.
func propertiesOf(t *testing.T, input any) properties {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	return dropUnset(fields).(map[string]any)
}

func dropUnset(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			if inner = dropUnset(inner); inner == nil || inner == "" {
				delete(v, name)
			} else {
				v[name] = inner
			}
		}
	case []any:
		for i := range v {
			v[i] = dropUnset(v[i])
		}
	}
	return value
}
