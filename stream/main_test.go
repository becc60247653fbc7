package stream_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/talkback/talkback/internal/dynamotest"
)

func TestMain(m *testing.M) {
	status := dynamotest.Run(m)
	if err := goleak.Find(); status == 0 && err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		status = 1
	}
	os.Exit(status)
}
