package doctor_test

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/internal/doctor"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// Clocks, certificates, free space and folders are well or not, and what is not has a cure.
func TestFindings(t *testing.T) {
	const day = 24 * time.Hour
	clock := func(ahead time.Duration) doctor.Finding { return doctor.Clock(noon, noon.Add(ahead)) }
	certificate := func(from, until time.Duration) doctor.Finding {
		return doctor.Certificate(&x509.Certificate{NotBefore: noon.Add(from), NotAfter: noon.Add(until)}, noon)
	}
	for _, row := range []struct {
		why  string
		got  doctor.Finding
		want doctor.Result
	}{
		{"in the second that the answer names", clock(999 * time.Millisecond), doctor.OK},
		{"counts allow two seconds ahead", clock(3 * time.Second), doctor.OK},
		{"and two behind", clock(-2 * time.Second), doctor.OK},
		{"more ahead", clock(3*time.Second + time.Millisecond), doctor.Warning},
		{"more behind", clock(-2*time.Second - time.Millisecond), doctor.Warning},
		{"signatures last five minutes", clock(-5 * time.Minute), doctor.Warning},
		{"no longer", clock(6 * time.Minute), doctor.Problem},
		{"a machine without a clock", clock(noon.Sub(time.Unix(0, 0))), doctor.Problem},
		{"made yesterday, for three months", certificate(-day, 89*day), doctor.OK},
		{"nobody renewed it in time", certificate(-80*day, 10*day), doctor.Warning},
		{"over", certificate(-90*day, -time.Second), doctor.Problem},
		{"for later, or the clock is behind", certificate(day, 90*day), doctor.Problem},
		{"a full disk", doctor.Space("data", 0), doctor.Problem},
		{"nearly full", doctor.Space("data", 64<<20-1), doctor.Problem},
		{"little space", doctor.Space("data", 64<<20), doctor.Warning},
		{"space", doctor.Space("data", 1<<30), doctor.OK},
		{"a folder that is missing", doctor.Folder(t.TempDir() + "/none"), doctor.Warning},
		{"a file in its place", doctor.Folder("doctor_test.go"), doctor.Problem},
	} {
		if row.got.Result != row.want || (row.got.Result == doctor.OK) != (row.got.Cure == "") {
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
		if got := doctor.State(&row.table); doctor.Count(got, doctor.Problem) != row.want {
			t.Errorf("%s: %+v, want %d problems", row.why, got, row.want)
		}
	}
}
