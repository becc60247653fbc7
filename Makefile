# What there is to make. `make run` needs Go and npm, `make test` also Java and Maven for one of its suites; as root on
# Debian the latter are installed.

.PHONY: run build provision-engine provision test clean

# The program with sample data, on http://127.0.0.1:8080; TALKBACK_* in the environment changes how. The program takes
# the place of the shell, so that a signal to this make reaches it, and Ctrl-C ends it as gracefully as it would by itself.
run: provision-engine build
	@exec bin/talkback serve --sample-data

# The program alone, in bin/.
build:
	go build -o bin/talkback .

# The local engine, in bin/ beside the program, which looks for it there.
provision-engine:
	@internal/provision/dynoxide.sh

# Everything that any test needs. What cannot be had here is said in a line that begins with "left out:".
provision: provision-engine
	@internal/provision/dynamodb-local.sh
	@internal/provision/chromium.sh

# Every test there is. With CI set, a test that cannot be run fails.
test: provision
	go vet ./...
	@internal/provision/test.sh

# What was built and fetched. The data stays.
clean:
	rm -rf bin .cache
