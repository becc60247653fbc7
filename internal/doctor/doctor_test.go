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

func TestClock(t *testing.T) {
	for _, row := range []struct {
		why  string
		came time.Duration // after the time in the answer
		want doctor.Result
	}{
		{"in the second that the answer names", 999 * time.Millisecond, doctor.OK},
		{"counts allow two seconds ahead", 3 * time.Second, doctor.OK},
		{"and two behind", -2 * time.Second, doctor.OK},
		{"more ahead", 3*time.Second + time.Millisecond, doctor.Warning},
		{"more behind", -2*time.Second - time.Millisecond, doctor.Warning},
		{"signatures last five minutes", -5 * time.Minute, doctor.Warning},
		{"no longer", 6 * time.Minute, doctor.Problem},
		{"a machine without a clock", noon.Sub(time.Unix(0, 0)), doctor.Problem},
	} {
		if got := doctor.Clock(noon, noon.Add(row.came)); got.Result != row.want || (got.Result == doctor.OK) != (got.Cure == "") {
			t.Errorf("%s: %+v, want %s", row.why, got, row.want)
		}
	}
}

func TestCertificate(t *testing.T) {
	const day = 24 * time.Hour
	for _, row := range []struct {
		why         string
		from, until time.Duration // from noon on
		want        doctor.Result
	}{
		{"made yesterday, for three months", -day, 89 * day, doctor.OK},
		{"nobody renewed it in time", -80 * day, 10 * day, doctor.Warning},
		{"over", -90 * day, -time.Second, doctor.Problem},
		{"for later, or the clock is behind", day, 90 * day, doctor.Problem},
	} {
		leaf := &x509.Certificate{NotBefore: noon.Add(row.from), NotAfter: noon.Add(row.until)}
		if got := doctor.Certificate(leaf, noon); got.Result != row.want || (got.Result == doctor.OK) != (got.Cure == "") {
			t.Errorf("%s: %+v, want %s", row.why, got, row.want)
		}
	}
}

func TestSpace(t *testing.T) {
	for free, want := range map[uint64]doctor.Result{0: doctor.Problem, 64<<20 - 1: doctor.Problem, 64 << 20: doctor.Warning, 1 << 30: doctor.OK} {
		if got := doctor.Space("data", free); got.Result != want {
			t.Errorf("%d bytes: %+v, want %s", free, got, want)
		}
	}
}

func TestFolder(t *testing.T) {
	for folder, want := range map[string]doctor.Result{t.TempDir() + "/none": doctor.Warning, "doctor_test.go": doctor.Problem} {
		if got := doctor.Folder(folder); got.Result != want || got.Cure == "" {
			t.Errorf("%s: %+v, want %s", folder, got, want)
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
