package call_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/call"
)

// The SDK prints nothing, because programs read the log as lines of JSON. It used to print its own
// lines where the machine's metadata service refuses it.
func TestSDKPrintsNothing(t *testing.T) {
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer metadata.Close()
	for name, value := range map[string]string{
		"AWS_REGION": "eu-central-1", "AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata.URL, "AWS_EC2_METADATA_DISABLED": "false",
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
	} {
		t.Setenv(name, value)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = writer
	_, failed := call.NewAWSClient(t.Context())
	os.Stderr = stderr
	_ = writer.Close()
	printed, err := io.ReadAll(reader)
	if err != nil || len(printed) > 0 || failed == nil || !strings.Contains(failed.Error(), "no AWS credentials were found") {
		t.Errorf("it printed %q, %v, and failed with %v; want the error alone", printed, err, failed)
	}
}

// A region is damaged only if the SDK refuses it: engines beside AWS have regions of their own.
func TestSettingsOfRegions(t *testing.T) {
	for region, legal := range map[string]bool{
		"": true, "eu-central-1": true, "us-iso-east-1": true, "cn-north-1": true, "localhost": true, "LOCAL": true, "eu.shop.example": true,
		`"eu-central-1"`: false, "eu-central-1\n": false, "eu central 1": false, "eu_central_1": false, "-eu": false, "eu.": false,
	} {
		t.Setenv("AWS_REGION", region)
		client := call.NewLocalClient("http://127.0.0.1:1")
		_, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{}, call.NoRetries)
		if taken := !strings.Contains(err.Error(), "invalid input region"); taken != legal {
			t.Errorf("%q: the SDK says %v", region, err)
		}
		if err := call.CheckSettings(t.Context(), client); (err == nil) != legal {
			t.Errorf("%q: %v", region, err)
		}
	}
}
