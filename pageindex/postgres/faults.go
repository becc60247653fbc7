package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/talkback/talkback/pageindex/relational"
)

// faults are the meanings of errors by their code, or by its first two characters, the class.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
var faults = map[string]relational.Fault{
	"08":    relational.Away,    // connection exceptions
	"28":    relational.Away,    // who connects is refused
	"3D":    relational.Away,    // no such database
	"53":    relational.Away,    // too many connections, disk or memory full
	"57":    relational.Away,    // shutting down, or starting
	"57014": relational.Slow,    // statement_timeout
	"25P03": relational.Slow,    // idle_in_transaction_session_timeout
	"40":    relational.Crossed, // deadlocks, transactions that cannot be put into an order
	"55P03": relational.Crossed, // a lock that is not available
	"23505": relational.Crossed, // a schema that another process creates at the same time
	"3F000": relational.Missing, // no such schema
	"42P01": relational.Missing, // no such table
	"42703": relational.Missing, // no such column: another schema came meanwhile
	"XX000": relational.Crossed, // a table that is dropped meanwhile: cache lookup failed, tuple concurrently updated
}

// explain says what an error means. Texts of the server can hold values, so only codes are told.
func explain(err error) (relational.Fault, string) {
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		fault, known := faults[failed.Code]
		if !known && len(failed.Code) == 5 {
			fault = faults[failed.Code[:2]]
		}
		return fault, "SQLSTATE " + failed.Code
	}
	var network net.Error
	var refused *pgconn.ConnectError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return relational.Slow, ""
	case pgconn.Timeout(err):
		return relational.Slow, ""
	case errors.As(err, &network):
		return relational.Away, network.Error()
	case errors.As(err, &refused), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, driver.ErrBadConn), pgconn.SafeToRetry(err): // what can be retried was not sent
		return relational.Away, ""
	}
	return relational.Failed, ""
}
