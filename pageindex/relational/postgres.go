package relational

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"hash/fnv"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/talkback/talkback/comment"
)

// connectWithin bounds how long it takes to connect, unless the URL says connect_timeout.
const connectWithin = 5 * time.Second

// postgresSettings are those of each connection, unless the URL says otherwise. The first two end
// statements, waits for locks, and transactions whose client fell silent. The others let the planner
// use nothing but indexes: all our statements are made for that, and while a new index is filled,
// statistics say for a minute that its tables are empty.
var postgresSettings = map[string]string{
	"statement_timeout":                   "30s",
	"idle_in_transaction_session_timeout": "30s",
	"enable_seqscan":                      "off",
	"enable_bitmapscan":                   "off",
	"jit":                                 "off", // compiling takes 100 times as long as what it would speed up
	"synchronous_commit":                  "on",
}

// OpenPostgres returns the index of a table of comments in the database of a URL as PostgreSQL's tools
// understand it, such as postgres://talkback:secret@db.internal/shop?sslmode=verify-full. Several servers
// may share it. Each table of comments has a schema of its own, so that several shops do not mix. The pool
// has 4 connections, or as many as there are processors, unless the URL says pool_max_conns.
//
// It does not fail if the database is away: calls do until it is back. It fails if the index was
// made by a newer version of this program.
func OpenPostgres(ctx context.Context, target, table string) (*Store, error) {
	config, err := pgxpool.ParseConfig(target)
	if err != nil { // its text may hold parts of the URL
		return nil, comment.Errorf(comment.BadInput,
			"the URL of the page index cannot be read; give it as postgres://USER:PASSWORD@HOST:PORT/DATABASE")
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
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, comment.Errorf(comment.BadInput, "the page index in %s cannot be used as its URL says", postgresName(connection))
	}
	db := stdlib.OpenDBFromPool(pool)
	s := newStore(postgresDatabase(db, postgresName(connection), schemaOf(table)))
	s.close = func() error {
		defer pool.Close()
		return db.Close()
	}
	if _, err := s.Covers(ctx); errors.Is(err, ErrNewer) {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// postgresName names a database without its user and password.
func postgresName(c *pgx.ConnConfig) string {
	host := net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	if strings.HasPrefix(c.Host, "/") {
		host = c.Host
	}
	return "postgres://" + host + "/" + c.Database
}

// longestName is how many bytes of a name PostgreSQL keeps.
const longestName = 63

// schemaOf returns the schema of a table of comments. A long name is cut, and made unique again by
// its hash.
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
	return database{
		Name: name, Read: db, Write: db,
		ReadOnce: &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
		// The locks make what a statement reads stay as it is until the transaction ends.
		WriteOnce: &sql.TxOptions{Isolation: sql.LevelReadCommitted},
		Frame:     2,
		Prefix:    quoted + ".",
		Parameter: "$",
		Words: []string{
			"{bytes}", "BYTEA", "{text}", `TEXT COLLATE "C"`, "{small}", "SMALLINT", "{covering}", "INCLUDE (language, rating)",
			// Counts change often: with room on their pages, that needs no new entry in the index.
			"{clustered}", "", "{updated}", "WITH (fillfactor = 70)", "{incoming}", postgresIncoming, "{server}", postgresServer,
		},
		// CREATE SCHEMA IF NOT EXISTS asks for the right to create one also where it exists.
		Before: []string{`DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = ` + literal + `) THEN
			CREATE SCHEMA ` + quoted + `; END IF; END $$`},
		Tables: `SELECT COUNT(*) FROM pg_catalog.pg_tables WHERE tablename IN ('store', 'entries', 'blocks') AND schemaname = ` + literal,
		// Until a vacuum, lookups pass all earlier counts of a block, and see whether each comment is there.
		Settle:  `VACUUM (ANALYZE) {entries}, {blocks}`,
		Lock:    postgresLock(schema),
		Explain: explainPostgres,
	}
}

// postgresServer names the server and its timeline, which another one begins that takes its place: a
// standby, or a backup with logs. It may lack what was acknowledged.
const postgresServer = `(SELECT system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) FROM pg_control_system())`

// postgresIncoming reads a batch.
const postgresIncoming = `(
	SELECT number, product COLLATE "C" AS product, decode(position, 'hex') AS position, language COLLATE "C" AS language, rating,
		follows COLLATE "C" AS follows, block, n
	FROM json_to_recordset($1::json) AS rows(number integer, product text, position text, language text, rating smallint,
		follows text, block integer, n integer))`

// postgresLock takes locks that end with the transaction. They are the schema's.
func postgresLock(schema string) func(context.Context, *sql.Tx, []int) error {
	class := int32(hashOf(schema))
	return func(ctx context.Context, tx *sql.Tx, buckets []int) error {
		texts := make([]string, len(buckets))
		for i, bucket := range buckets {
			texts[i] = strconv.Itoa(bucket)
		}
		_, err := tx.ExecContext(ctx,
			`SELECT pg_advisory_xact_lock($1::integer, bucket::integer) FROM unnest(string_to_array($2, ',')) AS bucket`,
			class, strings.Join(texts, ","))
		return err
	}
}
