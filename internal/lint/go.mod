module github.com/talkback/talkback/internal/lint

go 1.26.0

tool golang.org/x/vuln/cmd/govulncheck

require (
	golang.org/x/tools v0.51.0
	honnef.co/go/tools v0.6.1
)

require (
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/telemetry v0.0.0-20260924152758-ed294f943157 // indirect
	golang.org/x/vuln v1.1.4 // indirect
)
