package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/talkback/talkback/dynamo/layout"
)

// object is a JSON object.
type object = map[string]any

// cloudFormation returns the template of the table.
func cloudFormation() ([]byte, error) {
	table, err := properties(layout.Definition(layout.DefaultTable))
	if err != nil {
		return nil, err
	}
	expiry, err := properties(layout.TimeToLive(""))
	if err != nil {
		return nil, err
	}
	table["TableName"] = ref("TableName")
	table["TimeToLiveSpecification"] = expiry["TimeToLiveSpecification"]
	// CloudFormation enables a stream if the specification is present.
	delete(table["StreamSpecification"].(object), "StreamEnabled")
	table["DeletionProtectionEnabled"] = ref("DeletionProtection")
	table["PointInTimeRecoverySpecification"] = object{"PointInTimeRecoveryEnabled": ref("PointInTimeRecovery")}
	return indented(object{
		"AWSTemplateFormatVersion": "2010-09-09",
		"Description":              "The table of Talkback, as layout.Definition has it. `make generate` writes this file.",
		"Parameters": object{
			"TableName":           object{"Type": "String", "Default": layout.DefaultTable},
			"DeletionProtection":  onByDefault("Whether DynamoDB refuses to delete the table. Set it to false before you delete it."),
			"PointInTimeRecovery": onByDefault("Whether the table can be restored as it was at any second of the last 35 days. It costs by the size of the table."),
			"AlarmTopic": object{
				"Type": "String", "Default": "", "AllowedPattern": "^$|^arn:[^:]+:sns:.+$",
				"Description": "The ARN of an SNS topic that is notified when an alarm goes off and when it is over. Without one, alarms show in CloudWatch only.",
			},
		},
		"Conditions": object{"HasAlarmTopic": object{"Fn::Not": []any{object{"Fn::Equals": []any{ref("AlarmTopic"), ""}}}}},
		"Resources": object{
			"Comments":            object{"Type": "AWS::DynamoDB::Table", "DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain", "Properties": table},
			"ThrottledReadAlarm":  throttled("Reads of the table or of an index are refused", "ReadThrottleEvents"),
			"ThrottledWriteAlarm": throttled("Writes of the table or of an index are refused", "WriteThrottleEvents"),
		},
		"Outputs": object{
			"TableName": object{"Value": ref("Comments")},
			"StreamArn": object{"Value": object{"Fn::GetAtt": []any{"Comments", "StreamArn"}}},
		},
	})
}

// throttled returns an alarm that fires when DynamoDB throttles calls of the table or an index for
// five minutes.
func throttled(what, metric string) object {
	const cause = ": raise their capacity, or look for a product that everyone reads or writes about."
	metrics := []any{object{"Id": "all", "Expression": "SUM(FILL(METRICS(), 0))", "Label": metric}}
	dimensions := [][]any{{dimension("TableName", ref("Comments"))}}
	for _, index := range indexNames() {
		dimensions = append(dimensions, []any{dimension("TableName", ref("Comments")), dimension("GlobalSecondaryIndexName", index)})
	}
	for i, of := range dimensions {
		metrics = append(metrics, object{"Id": fmt.Sprintf("m%d", i), "ReturnData": false, "MetricStat": object{
			"Metric": object{"Namespace": "AWS/DynamoDB", "MetricName": metric, "Dimensions": of}, "Period": 60, "Stat": "Sum",
		}})
	}
	notify := []any{object{"Fn::If": []any{"HasAlarmTopic", ref("AlarmTopic"), ref("AWS::NoValue")}}}
	return object{"Type": "AWS::CloudWatch::Alarm", "Properties": object{
		"AlarmDescription": what + cause, "Metrics": metrics,
		"Threshold": 0, "ComparisonOperator": "GreaterThanThreshold", "EvaluationPeriods": 5, "TreatMissingData": "notBreaching",
		"AlarmActions": notify, "OKActions": notify,
	}}
}

func dimension(name string, value any) object { return object{"Name": name, "Value": value} }

func ref(name string) object { return object{"Ref": name} }

func onByDefault(description string) object {
	return object{"Type": "String", "Default": "true", "AllowedValues": []string{"true", "false"}, "Description": description}
}

// indexNames returns the names of the table's indexes.
func indexNames() []string {
	var names []string
	for _, index := range layout.Definition("").GlobalSecondaryIndexes {
		names = append(names, aws.ToString(index.IndexName))
	}
	return names
}

// properties converts the input of an SDK call to CloudFormation: it has the same names, without
// unset fields.
func properties(input any) (object, error) {
	raw, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	var fields object
	err = json.Unmarshal(raw, &fields)
	return withoutUnset(fields).(object), err
}

func withoutUnset(value any) any {
	switch v := value.(type) {
	case object:
		for name, inner := range v {
			if inner = withoutUnset(inner); inner == nil || inner == "" {
				delete(v, name)
			}
		}
	case []any:
		for _, inner := range v {
			withoutUnset(inner)
		}
	}
	return value
}

// indented returns a value as indented JSON.
func indented(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(value)
	return out.Bytes(), err
}
