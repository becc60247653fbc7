package relational

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"hash/fnv"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
)

const (
	// connectWithin bounds the time to connect, unless the URL sets connect_timeout.
	connectWithin = 5 * time.Second
	// usedFor is how long a connection is used, unless the URL sets pool_max_conn_lifetime. After a
	// failover, the name of the server belongs to another one, while connections to the one before,
	// which has become a standby, still work.
	usedFor = 30 * time.Second
	// closeWithin bounds the wait for the server to end the connections. pgx waits 15 s for one that
	// hangs.
	closeWithin = time.Second
)

// postgresSettings are the settings of each connection, unless the URL sets them. The first two end
// slow statements, waits for locks, and transactions whose client fell silent. The others restrict
// the planner to indexes: all our statements are made for these, and while a new index is filled,
// statistics claim for a minute that its tables are empty.
var postgresSettings = map[string]string{
	"statement_timeout":                   "30s",
	"idle_in_transaction_session_timeout": "30s",
	"enable_seqscan":                      "off",
	"enable_bitmapscan":                   "off",
	"jit":                                 "off", // compiling takes 100 times as long as what it would speed up
	"synchronous_commit":                  "on",
}

// OpenPostgres returns the index of a table of comments in the database at a PostgreSQL URL, such
// as postgres://talkback:secret@db.internal/shop?sslmode=verify-full. Several servers may share it.
// Each table of comments has its own schema, so several shops do not mix. The pool has 4
// connections, or as many as there are processors if that is more, unless the URL sets
// pool_max_conns.
//
// It does not fail if the database is down; calls fail until it is back. It fails if a newer
// version of this program made the index, or another program has tables in its place.
func OpenPostgres(ctx context.Context, target, table string) (*Store, error) {
	config, err := postgresConfig(target)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, comment.Errorf(comment.BadInput, "the page index in %s cannot be used as its URL says", postgresName(config.ConnConfig))
	}
	db := stdlib.OpenDBFromPool(pool)
	s := newStore(postgresDatabase(db, postgresName(config.ConnConfig), schemaOf(table)))
	s.close = func() error {
		err := db.Close()
		ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
		defer cancel()
		_, _ = task.Await(ctx, func() (any, error) { pool.Close(); return nil, nil })
		return err
	}
	if _, err := s.Covers(ctx); errors.Is(err, ErrNewer) || comment.KindOf(err) == comment.BadInput {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// postgresConfig returns what the URL says, and our own settings where it says nothing.
func postgresConfig(target string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(target)
	if err != nil { // its text may hold parts of the URL
		return nil, comment.Errorf(comment.BadInput,
			"the URL of the page index cannot be read; give it as postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	// Only the settings tell whether it is given: pgx knows addresses that net/url does not.
	if given, err := pgx.ParseConfig(target); err == nil && given.RuntimeParams["pool_max_conn_lifetime"] == "" {
		config.MaxConnLifetime = usedFor
	}
	connection := config.ConnConfig
	if connection.ConnectTimeout == 0 {
		connection.ConnectTimeout = connectWithin
	}
	for name, value := range postgresSettings {
		if _, set := connection.RuntimeParams[name]; !set {
			connection.RuntimeParams[name] = value
		}
	}
	return config, nil
}

// postgresName names a database, without user and password.
func postgresName(c *pgx.ConnConfig) string {
	host := net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	if strings.HasPrefix(c.Host, "/") {
		host = c.Host
	}
	return "postgres://" + host + "/" + c.Database
}

// longestName is PostgreSQL's limit for names, in bytes.
const longestName = 63

// schemaOf returns the schema for a table of comments. It cuts a long name, and appends its hash to
// keep it unique.
func schemaOf(table string) string {
	schema := "talkback_" + table
	if len(schema) <= longestName {
		return schema
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(table)) // never fails
	sum := hex.EncodeToString(hash.Sum(nil))
	return schema[:longestName-1-len(sum)] + "_" + sum
}

func postgresDatabase(db *sql.DB, name, schema string) database {
	quoted, literal := pgx.Identifier{schema}.Sanitize(), "'"+strings.ReplaceAll(schema, "'", "''")+"'"
	class := int32(hashOf(schema))
	return database{
		Name: name, Read: db, Write: db,
		ReadOnce: &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
		// The locks keep the rows that a statement reads unchanged until the transaction ends.
		WriteOnce: &sql.TxOptions{Isolation: sql.LevelReadCommitted},
		Frame:     2,
		Prefix:    quoted + ".",
		Parameter: "$",
		Words: []string{
			"{bytes}", "BYTEA", "{text}", `TEXT COLLATE "C"`, "{small}", "SMALLINT", "{covering}", "INCLUDE (language, rating)",
			// Counts change often: with free space on their pages, an update needs no new index
			// entry.
			"{clustered}", "", "{updated}", "WITH (fillfactor = 70)", "{incoming}", postgresIncoming, "{server}", postgresServer,
		},
		// CREATE SCHEMA IF NOT EXISTS needs the right to create schemas even if this one exists.
		Before: []string{`DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = ` + literal + `) THEN
			CREATE SCHEMA ` + quoted + `; END IF; END $$`},
		Tables: `SELECT COUNT(*) FROM pg_catalog.pg_tables WHERE tablename IN ('store', 'entries', 'blocks') AND schemaname = ` + literal,
		Others: `SELECT nspname || '.' || name FROM (SELECT nspname, relname AS name, (SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_catalog.pg_attribute
				WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns
			FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = relnamespace AND nspname = ` + literal + `) AS t
			WHERE name IN ('store', 'entries', 'blocks') AND ` + ours + ` IS NOT TRUE`,
		// Until a vacuum, lookups skip old versions of counts, and check the visibility of each
		// comment.
		Settle: `VACUUM (ANALYZE) {entries}, {blocks}`,
		// It takes the schema's locks until the transaction ends.
		Lock: func(ctx context.Context, tx *sql.Tx, buckets []int) error {
			_, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1::integer, bucket) FROM unnest($2::integer[]) AS bucket`, class, buckets)
			return err
		},
		Explain: explainPostgres,
	}
}

// postgresServer names the server and its timeline. A standby or a restored backup that takes its
// place begins a new timeline, and may lack acknowledged changes.
const postgresServer = `(SELECT system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) FROM pg_control_system())`

// postgresIncoming turns a batch into rows.
const postgresIncoming = `(
	SELECT number, product COLLATE "C" AS product, decode(position, 'hex') AS position, language COLLATE "C" AS language, rating,
		follows COLLATE "C" AS follows, block, n
	FROM json_to_recordset($1::json) AS rows(number integer, product text, position text, language text, rating smallint,
		follows text, block integer, n integer))`

// postgresFaults maps error codes to faults, by the code or its first two characters, the class.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
var postgresFaults = map[string]fault{
	"08":    faultAway,    // connection exceptions
	"28":    faultAway,    // authorization failed
	"3D":    faultAway,    // no such database
	"53":    faultAway,    // too many connections, memory full
	"53100": faultOther,   // disk full
	"57":    faultAway,    // shutting down, or starting
	"57014": faultSlow,    // statement_timeout
	"25P03": faultSlow,    // idle_in_transaction_session_timeout
	"40":    faultCrossed, // deadlocks, serialization failures
	"55P03": faultCrossed, // a lock that is not available
	"23505": faultCrossed, // a schema that another process creates at the same time
	"3F000": faultMissing, // no such schema
	"42P01": faultMissing, // no such table
	"42703": faultMissing, // no such column: another schema came meanwhile
	"XX000": faultCrossed, // a table that is dropped meanwhile: cache lookup failed, tuple concurrently updated
}

// ofStandby is the cure of errors of a server that takes no writes.
const ofStandby = "it takes no writes, like a standby: name the primary, or add target_session_attrs=read-write to the URL"

// ofPooler is the cure of errors of statements that were prepared on another connection of a
// pooler.
const ofPooler = "PgBouncer needs max_prepared_statements, or default_query_exec_mode=exec in the URL"

// postgresCures are the cures of error codes that operators meet.
var postgresCures = map[string]string{
	"08P01": "if that is PgBouncer, see its log: it may lack ignore_startup_parameters",
	"26000": ofPooler,
	"42P05": ofPooler,
	"25006": ofStandby,
	"55000": ofStandby + "; on the primary, see that the database allows connections", // a function that a standby refuses
	"28000": "it refuses this user, or connections without TLS: see its pg_hba.conf",
	"28P01": "user or password are wrong",
	"3D000": "there is no such database",
	"42501": "the user lacks a right: see its GRANTs",
	"53100": "its disk is full: make room there",
	"53300": "it has no connection left: raise its limit, or lower pool_max_conns in the URL",
}

// refusedTLS is the text of pgconn's error, which has no type, about a server that takes no TLS.
const refusedTLS = "server refused TLS connection"

// explainCertificate says what is wrong with the certificate of a server, and its cure; nothing if
// the error is another. With sslmode=verify-ca, pgconn verifies it, and not crypto/tls.
func explainCertificate(err error) string {
	if wrong, ok := errors.AsType[x509.HostnameError](err); ok {
		return wrong.Error() + ": name the server in the URL as its certificate does"
	}
	if wrong, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return wrong.Error() + ": name its authority by sslrootcert in the URL"
	}
	if wrong, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if wrong.Reason == x509.Expired {
			return wrong.Error() + ": renew it, or correct the clock of this machine"
		}
		return wrong.Error() + ": the server needs another"
	}
	if wrong, ok := errors.AsType[*tls.CertificateVerificationError](err); ok { // an authority of the system
		return wrong.Error() + ": see the server's certificate, and sslrootcert in the URL"
	}
	return ""
}

// explainPostgres classifies an error. It returns only the code and its cure: the server's message
// may contain values.
func explainPostgres(err error) (fault, string) {
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
		fault, known := postgresFaults[failed.Code]
		if !known && len(failed.Code) == 5 {
			fault = postgresFaults[failed.Code[:2]]
		}
		text := "SQLSTATE " + failed.Code
		if cure := postgresCures[failed.Code]; cure != "" {
			text += ", " + cure
		}
		return fault, text
	}
	var network net.Error
	var connecting *pgconn.ConnectError
	certificate := explainCertificate(err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return faultSlow, ""
	case certificate != "": // before others, since a host may have further addresses that do not answer
		return faultAway, certificate
	case errors.As(err, &connecting) && strings.Contains(connecting.Error(), refusedTLS):
		return faultAway, "it takes no TLS: switch it on there, or set sslmode=disable in the URL"
	case errors.As(err, &network):
		return faultAway, network.Error()
	case errors.As(err, &connecting), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, driver.ErrBadConn), pgconn.SafeToRetry(err): // a safe retry means that nothing was sent
		return faultAway, ""
	}
	return faultOther, ""
}
