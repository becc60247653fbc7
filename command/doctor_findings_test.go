package command

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Clocks, certificates, free space and folders are well or not, and what is not has a cure.
func TestFindings(t *testing.T) {
	const day = 24 * time.Hour
	clock := func(ahead time.Duration) finding { return checkClock(noon, noon.Add(ahead)) }
	certificate := func(from, until time.Duration) finding {
		return checkCertificate(&x509.Certificate{NotBefore: noon.Add(from), NotAfter: noon.Add(until)}, noon)
	}
	for _, row := range []struct {
		why  string
		got  finding
		want checkResult
	}{
		{"in the second that the answer names", clock(999 * time.Millisecond), resultOK},
		{"counts allow two seconds ahead", clock(3 * time.Second), resultOK},
		{"and two behind", clock(-2 * time.Second), resultOK},
		{"more ahead", clock(3*time.Second + time.Millisecond), resultWarning},
		{"more behind", clock(-2*time.Second - time.Millisecond), resultWarning},
		{"signatures last five minutes", clock(-5 * time.Minute), resultWarning},
		{"no longer", clock(6 * time.Minute), resultProblem},
		{"a machine without a clock", clock(noon.Sub(time.Unix(0, 0))), resultProblem},
		{"made yesterday, for three months", certificate(-day, 89*day), resultOK},
		{"nobody renewed it in time", certificate(-80*day, 10*day), resultWarning},
		{"over", certificate(-90*day, -time.Second), resultProblem},
		{"for later, or the clock is behind", certificate(day, 90*day), resultProblem},
		{"a full disk", checkSpace("data", 0), resultProblem},
		{"nearly full", checkSpace("data", 64<<20-1), resultProblem},
		{"little space", checkSpace("data", 64<<20), resultWarning},
		{"space", checkSpace("data", 1<<30), resultOK},
		{"a folder that is missing", checkFolder(t.TempDir() + "/none"), resultWarning},
		{"a file in its place", checkFolder("doctor_test.go"), resultProblem},
	} {
		if row.got.Result != row.want || (row.got.Result == resultOK) != (row.got.Cure == "") {
			t.Errorf("%s: %+v, want %s", row.why, row.got, row.want)
		}
	}
}

func TestState(t *testing.T) {
	index := func(status types.IndexStatus) []types.GlobalSecondaryIndexDescription {
		return []types.GlobalSecondaryIndexDescription{{IndexName: aws.String("all"), IndexStatus: status}}
	}
	for _, row := range []struct {
		why   string
		table types.TableDescription
		want  int // number of problems
	}{
		{"ready", types.TableDescription{TableStatus: types.TableStatusActive, GlobalSecondaryIndexes: index(types.IndexStatusActive)}, 0},
		{"its capacity is being changed", types.TableDescription{TableStatus: types.TableStatusUpdating, GlobalSecondaryIndexes: index(types.IndexStatusUpdating)}, 0},
		{"being made", types.TableDescription{TableStatus: types.TableStatusCreating, GlobalSecondaryIndexes: index(types.IndexStatusCreating)}, 2},
		{"an index is filled", types.TableDescription{TableStatus: types.TableStatusActive, GlobalSecondaryIndexes: index(types.IndexStatusCreating)}, 1},
		{"KMS key is away", types.TableDescription{TableStatus: types.TableStatusInaccessibleEncryptionCredentials}, 1},
	} {
		if got := checkState(&row.table); countFindings(got, resultProblem) != row.want {
			t.Errorf("%s: %+v, want %d problems", row.why, got, row.want)
		}
	}
}
