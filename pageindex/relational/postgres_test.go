package relational

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/postgrestest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
	"github.com/talkback/talkback/stream"
)

func open(t *testing.T, target, table string) *Store {
	t.Helper()
	return closing(t, must.Get(OpenPostgres(t.Context(), target, table))(t))
}

// closing closes a store when the test ends.
func closing(t *testing.T, s *Store) *Store {
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// entry returns the entry of the n-th comment of a product, after a record.
func entry(product string, n, record int) pageindex.Entry {
	return pageindex.Entry{
		Product:  product,
		Position: comment.PositionAt(time.Date(2026, 1, 1, n, 0, 0, 0, time.UTC), [10]byte{byte(n)}),
		Cell:     &comment.Cell{Language: "de", Rating: record%comment.MaxRating + 1},
		Follows:  stream.PositionOf("label", fmt.Sprint(record)),
	}
}

func total(ctx context.Context, s *Store, product string) (int, error) {
	found, err := s.Find(ctx, pageindex.List{Product: product, Order: comment.NewestFirst}, []pageindex.Target{{Rank: 1}})
	return found.Counts.Total(), err
}

func checkTotal(t *testing.T, s *Store, product string, want int) {
	t.Helper()
	if got, err := total(t.Context(), s, product); err != nil || got != want {
		t.Errorf("%s has %d comments (%v), want %d", product, got, err, want)
	}
}

// Stores of several tables in one database do not mix, whatever their names. Long names with the
// same beginning are different.
func TestTablesDoNotMix(t *testing.T) {
	target := postgrestest.Database(t)
	long := strings.Repeat("x", 250)
	for i, table := range []string{"comments", "Comments", "shop.eu-1_comments", long + "1", long + "2"} {
		s := open(t, target, table)
		if err := s.Apply(t.Context(), []pageindex.Entry{entry("p", i, 1)}); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		checkTotal(t, s, "p", 1)
	}
}

// A user who may not create schemas needs a ready one. Without it, the error has PostgreSQL's code.
func TestSchemaMadeBefore(t *testing.T) {
	target := postgrestest.Database(t)
	admin := must.Get(pgx.Connect(t.Context(), target))(t)
	defer admin.Close(context.WithoutCancel(t.Context()))
	clerk := "clerk_" + strings.ToLower(rand.Text()) // roles belong to the server, and the test may run again
	must.Get(admin.Exec(t.Context(), fmt.Sprintf(`CREATE ROLE %[1]s LOGIN; CREATE SCHEMA talkback_comments AUTHORIZATION %[1]s`, clerk)))(t)
	asClerk := strings.Replace(target, "talkback:", clerk+":", 1)
	checkTotal(t, open(t, asClerk, "comments"), "p", 0)
	err := open(t, asClerk, "other").Apply(t.Context(), []pageindex.Entry{entry("p", 1, 1)})
	if comment.KindOf(err) != comment.Unavailable || !strings.Contains(err.Error(), "SQLSTATE 42501") {
		t.Errorf("without the right to create a schema, a change ends with %v", err)
	}
}

// A table or view of another program in the schema, of the name of one of ours, is left as it is.
func TestTablesOfAnotherProgram(t *testing.T) {
	for _, made := range []string{
		"TABLE talkback_comments.store (id INTEGER, version INTEGER, name TEXT)", "TABLE talkback_comments.entries (product TEXT)",
		"VIEW talkback_comments.blocks AS SELECT 1 AS n",
	} {
		target := postgrestest.Database(t)
		admin := must.Get(pgx.Connect(t.Context(), target))(t)
		defer admin.Close(context.WithoutCancel(t.Context()))
		must.Get(admin.Exec(t.Context(), "CREATE SCHEMA talkback_comments; CREATE TABLE talkback_comments.other (); CREATE "+made))(t)
		_, err := OpenPostgres(t.Context(), target, "comments")
		if comment.KindOf(err) != comment.BadInput || !strings.Contains(err.Error(), ` has a table of another program, "talkback_comments.`) {
			t.Errorf("%s: it is opened: %v", made, err)
		}
		var left int
		must.Do(t, admin.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_class WHERE relnamespace = 'talkback_comments'::regnamespace`).Scan(&left))
		if left != 2 {
			t.Errorf("%s: there are %d tables, want 2", made, left)
		}
	}
}

// If a server is down when the store is opened, or goes down later, calls fail until it is back.
// Whatever it acknowledged before a crash is there again.
func TestServerDownAndBack(t *testing.T) {
	server := postgrestest.Durable(t)
	target := server.Database(t)
	early := open(t, target, "comments")
	must.Do(t, server.Stop())
	late := open(t, target, "comments")
	for _, s := range []*Store{early, late} {
		_, err := total(t.Context(), s, "p")
		if comment.KindOf(err) != comment.Unavailable || !strings.Contains(err.Error(), "postgres://127.0.0.1:") {
			t.Errorf("a lookup without a server ends with %v", err)
		}
		if strings.Contains(fmt.Sprintf("%v %+v", err, errors.Unwrap(err)), postgrestest.Password) {
			t.Errorf("the error holds the password: %v", err)
		}
		if err := s.Apply(t.Context(), []pageindex.Entry{entry("p", 0, 1)}); comment.KindOf(err) != comment.Unavailable {
			t.Errorf("a change without a server ends with %v", err)
		}
	}
	must.Do(t, server.Start())
	for n := range 3 {
		for _, s := range []*Store{early, late} {
			checkTotal(t, s, "p", n)
		}
		must.Do(t, early.Apply(t.Context(), []pageindex.Entry{entry("p", n, 1)}))
		must.Do(t, errors.Join(server.Crash(), server.Start()))
	}
}

// A comment that comes back while its old deletion is being forgotten stays.
func TestForgottenDeletionComesBack(t *testing.T) {
	target := postgrestest.Database(t)
	s, now := open(t, target, "comments"), time.Now()
	s.now = func() time.Time { return now }
	gone := entry("p", 1, 1)
	gone.Cell = nil
	must.Do(t, s.Apply(t.Context(), []pageindex.Entry{gone}))
	now = now.Add(pageindex.Remember + time.Hour)
	sweeper, removed := open(t, target, "comments"), make(chan error, 1)
	sweeper.now = s.now
	err := s.change(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		if err := s.bringIn(ctx, tx, []pageindex.Entry{entry("p", 1, 2)}, 1); err != nil {
			return err
		}
		go func() {
			_, err := sweeper.remove(t.Context(), sweepEntries, now.Add(-pageindex.Remember).UnixMilli())
			removed <- err
		}()
		for waiting := false; !waiting; { // the test's own timeout ends the wait
			if err := sweeper.db.Read.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waiting); err != nil {
				return err
			}
		}
		return nil
	})
	must.Do(t, errors.Join(err, <-removed))
	var left int
	must.Do(t, s.db.Read.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM talkback_comments.entries`).Scan(&left))
	if left != 1 {
		t.Errorf("%d entries are left of a comment that came back", left)
	}
}

// If the schema is dropped while servers have it open, the first server that needs it creates it
// anew.
func TestEmptied(t *testing.T) {
	target := postgrestest.Database(t)
	one, other := open(t, target, "comments"), open(t, target, "comments")
	conformance.Build(t, one, []pageindex.Entry{entry("p", 1, 1)}, "token")
	checkTotal(t, other, "p", 1)
	must.Get(one.db.Write.ExecContext(t.Context(), `DROP SCHEMA talkback_comments CASCADE`))(t)
	for _, s := range []*Store{one, other} {
		conformance.CheckCovers(t, s, "")
		checkTotal(t, s, "p", 0)
	}
}

// A lookup that waits too long ends, by the limit of its caller, of the URL, or the default.
func TestSlow(t *testing.T) {
	target := postgrestest.Database(t)
	patient, hasty := open(t, target, "comments"), open(t, target+"&statement_timeout=1s", "comments")
	checkTotal(t, hasty, "p", 0)
	other := must.Get(pgx.Connect(t.Context(), target))(t)
	defer other.Close(context.WithoutCancel(t.Context()))
	must.Get(other.Exec(t.Context(), `BEGIN; LOCK TABLE talkback_comments.store IN ACCESS EXCLUSIVE MODE`))(t)
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, byCaller := total(soon, patient, "p")
	_, byServer := total(t.Context(), hasty, "p")
	for _, err := range []error{byCaller, byServer} {
		if comment.KindOf(err) != comment.Timeout || !strings.Contains(err.Error(), "did not answer in time") {
			t.Errorf("a slow lookup ends with %v", err)
		}
	}
	must.Get(other.Exec(t.Context(), `ROLLBACK`))(t)
	checkTotal(t, patient, "p", 0)
	checkTotal(t, hasty, "p", 0)
}

// A connection is not used for so long that a server which became a standby is asked on and on:
// after a failover, the name of the database leads to another one. What the URL says counts.
func TestConnectionsAreRenewed(t *testing.T) {
	for settings, want := range map[string]time.Duration{"": 30 * time.Second, "?pool_max_conn_lifetime=1h": time.Hour, "?pool_max_conns=2": 30 * time.Second} {
		for _, hosts := range []string{"db.internal", "one:5432,two:5433", "[::1]:5432,[::2]:5433"} {
			config := must.Get(postgresConfig("postgres://talkback@" + hosts + "/shop" + settings))(t)
			if config.MaxConnLifetime != want {
				t.Errorf("at %s, with %q, a connection is used for %v, want %v", hosts, settings, config.MaxConnLifetime, want)
			}
		}
	}
}

// No error shows the password, whatever is wrong with the URL or with the user.
func TestPasswordsAreNotShown(t *testing.T) {
	target := postgrestest.Database(t)
	for _, row := range []struct {
		why, target string
		want        comment.Kind
	}{
		{"no such database", strings.Replace(target, "/test_", "/other_", 1), comment.Unavailable},
		{"no such user", strings.Replace(target, "talkback:", "stranger:", 1), comment.Unavailable},
		{"nothing listens", "postgres://u:" + postgrestest.Password + "@127.0.0.1:1/db", comment.Unavailable},
		{"a port that is no number", "postgres://u:" + postgrestest.Password + "@127.0.0.1:x/db", comment.BadInput},
		{"a broken escape", "postgres://u:" + postgrestest.Password + "%zz@127.0.0.1:1/db", comment.BadInput},
		{"a bad setting", target + "&pool_max_conns=" + postgrestest.Password, comment.BadInput},
	} {
		s, err := OpenPostgres(t.Context(), row.target, "comments")
		if err == nil {
			_, err = total(t.Context(), s, "p")
			s.Close()
		}
		if comment.KindOf(err) != row.want || strings.Contains(fmt.Sprintf("%v %#v", err, err), postgrestest.Password) {
			t.Errorf("%s: %v", row.why, err)
		}
	}
}

// Errors that operators meet say what to do.
func TestCures(t *testing.T) {
	target := postgrestest.Database(t)
	admin := must.Get(pgx.Connect(t.Context(), target))(t)
	defer admin.Close(context.WithoutCancel(t.Context()))
	clerk := "clerk_" + strings.ToLower(rand.Text()) // roles belong to the server, and the test may run again
	must.Get(admin.Exec(t.Context(), `CREATE ROLE `+clerk+` LOGIN CONNECTION LIMIT 0`))(t)
	for _, row := range []struct{ target, want string }{
		{strings.Replace(target, "talkback:", clerk+":", 1), "SQLSTATE 53300, it has no connection left: raise its limit, or lower pool_max_conns in the URL"},
		{strings.Replace(target, "/test_", "/other_", 1), "SQLSTATE 3D000, there is no such database"},
		{strings.Replace(target, "sslmode=disable", "sslmode=require", 1), "cannot be reached: it takes no TLS: switch it on there, or set sslmode=disable in the URL"},
		{target + "&default_transaction_read_only=on", "SQLSTATE 25006, it takes no writes, like a standby: name the primary, or add target_session_attrs=read-write to the URL"},
	} {
		if _, err := total(t.Context(), open(t, row.target, "comments"), "p"); comment.KindOf(err) != comment.Unavailable || !strings.HasSuffix(err.Error(), row.want) {
			t.Errorf("%v, want %s", err, row.want)
		}
	}
	s := &Store{db: database{Name: "postgres://db/shop", Explain: explainPostgres}}
	for code, want := range map[string]string{
		"55000": "failed: SQLSTATE 55000, it takes no writes, like a standby: name the primary, or add target_session_attrs=read-write to the URL; on the primary, see that the database allows connections",
		"53100": "failed: SQLSTATE 53100, its disk is full: make room there",
		"08P01": "cannot be reached: SQLSTATE 08P01, if that is PgBouncer, see its log: it may lack ignore_startup_parameters",
		"26000": "failed: SQLSTATE 26000, PgBouncer needs max_prepared_statements, or default_query_exec_mode=exec in the URL",
	} {
		if err := s.explain(t.Context(), &pgconn.PgError{Code: code}); err.Error() != "the page index in postgres://db/shop "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A server whose certificate is refused is said to have one, with the cure, however it is verified,
// and also if its host has a further address where nobody listens.
func TestCertificates(t *testing.T) {
	web := httptest.NewUnstartedServer(nil) // for its certificate, of 127.0.0.1 and example.com
	web.StartTLS()
	defer web.Close()
	authority := filepath.Join(t.TempDir(), "authority.pem")
	must.Do(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600))
	server := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer server.Close()
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			if _, err := io.ReadFull(conn, make([]byte, 8)); err == nil { // the request of TLS
				_, _ = conn.Write([]byte("S"))
				_ = tls.Server(conn, web.TLS).Handshake() // the client ends it
			}
			_ = conn.Close()
		}
	}()
	port := server.Addr().(*net.TCPAddr).Port
	closed := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	must.Do(t, closed.Close())
	for _, row := range []struct{ host, options, want string }{
		{"127.0.0.1", "sslmode=verify-full", ": name its authority by sslrootcert in the URL"},
		{"127.0.0.1", "sslmode=verify-ca", ": name its authority by sslrootcert in the URL"},
		{"localhost", "sslmode=verify-full&sslrootcert=" + authority, ": name the server in the URL as its certificate does"},
	} {
		hosts := fmt.Sprintf("%s:%d,%s", row.host, port, closed.Addr())
		_, err := total(t.Context(), open(t, "postgres://clerk:hidden@"+hosts+"/shop?"+row.options, "comments"), "p")
		if comment.KindOf(err) != comment.Unavailable || !strings.Contains(err.Error(), "cannot be reached: x509: ") || !strings.HasSuffix(err.Error(), row.want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", row.options, err)
		}
	}
	s := &Store{db: database{Name: "postgres://db/shop", Explain: explainPostgres}}
	for reason, want := range map[x509.InvalidReason]string{x509.Expired: ": renew it, or correct the clock of this machine", x509.NotAuthorizedToSign: ": the server needs another"} {
		if err := s.explain(t.Context(), x509.CertificateInvalidError{Reason: reason}); !strings.HasSuffix(err.Error(), want) {
			t.Error(err)
		}
	}
}

// A standby that takes over may lack acknowledged entries, so the store is no longer complete.
func TestFailover(t *testing.T) {
	server := postgrestest.Durable(t)
	s := open(t, server.Database(t), "comments")
	conformance.Build(t, s, nil, "all")
	must.Do(t, errors.Join(s.Apply(t.Context(), []pageindex.Entry{entry("p", 1, 1)}), server.Standby()))
	must.Do(t, errors.Join(s.Apply(t.Context(), []pageindex.Entry{entry("p", 2, 2)}), server.FailOver(t.Context())))
	checkTotal(t, s, "p", 1)
	conformance.CheckCovers(t, s, "")
	conformance.Build(t, s, nil, "all again")
	conformance.CheckCovers(t, s, "all again")
	must.Do(t, errors.Join(server.Crash(), server.Start()))
	conformance.CheckCovers(t, s, "all again")
}

// A server that hangs does not delay the end of a process.
func TestCloseWhileTheServerHangs(t *testing.T) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	asked, left := make(chan struct{}), make(chan struct{})
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Read(make([]byte, 1024))
		_, _ = conn.Write([]byte("R\x00\x00\x00\x08\x00\x00\x00\x00" + "Z\x00\x00\x00\x05I")) // it takes the user, and is ready
		_, _ = conn.Read(make([]byte, 1024))
		close(asked)
		_, _ = io.Copy(io.Discard, conn)
		close(left)
	}()
	ctx, hurry := context.WithCancel(t.Context())
	go func() {
		<-asked
		hurry()
	}()
	s := must.Get(OpenPostgres(ctx, "postgres://talkback@"+listener.Addr().String()+"/shop?sslmode=disable", "comments"))(t)
	must.Do(t, s.Close())
	select {
	case <-left:
		t.Error("Close has waited until pgx gave the server up")
	default:
	}
}
