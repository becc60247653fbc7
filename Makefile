# `make run` needs Go and npm. Some suites of `make test` also need Chromium, Java, Maven, Redis,
# nginx, PostgreSQL, a C compiler, shells and Python; as root on Debian it installs them.

.PHONY: run build lambda generate explorer component package provision-engine provision-s3 provision-packages provision-programs languages provision test run-tests compile-tests check-explorer check-component torture soak lint vuln bench bench-plans bench-pages overload picture docs release release-tool clean

# Flags that make the program smaller and quicker to build. Packages that wait for the network, or
# run once at the start, are not inlined, and functions begin at multiples of 16 bytes, as on arm64,
# instead of 32: together 2 MB less. Without debug information, which no program here keeps, the
# compiler takes a twelfth less time. The quotes are those of GOFLAGS.
aws = github.com/aws/aws-sdk-go-v2/service
not_inlined = github.com/redis/go-redis/... $(aws)/s3/... $(aws)/sts/... $(aws)/sso/... $(aws)/ssooidc/... $(aws)/signin/... \
	github.com/jackc/... google.golang.org/... github.com/alecthomas/... github.com/yuin/... github.com/talkback/talkback/command
export LEAN = -gcflags=all=-dwarf=false $(not_inlined:%='-gcflags=%=-l -dwarf=false')

# Compilers and tests collect garbage less often, which takes a sixth off compiling and a tenth off
# tests. The server of `make run` must not get this variable: without GOGC it chooses the size of
# its heap by itself.
RARELY = GOGC=$${GOGC:-400}

# Serves sample data on http://127.0.0.1:8080. TALKBACK_* in the environment changes settings. The
# program replaces the shell, so it gets the signals that are sent to make, and Ctrl-C stops it
# gracefully.
run:
	@$(MAKE) --no-print-directory -j2 provision-engine build
	@exec bin/talkback serve --sample-data

# The program, in bin/, as releases have it: static, and without 24 MB of debug information.
build:
	CGO_ENABLED=0 $(RARELY) go build $(LEAN) -ldflags '-s -w -funcalign=16' -o bin/talkback .

# The function for AWS Lambda, in bin/bootstrap, and in bin/talkback-lambda.zip for infra/. The tags
# leave out a protocol that Lambda no longer uses, and gRPC's trace pages.
lambda:
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build $(LEAN) -trimpath -tags lambda.norpc,grpcnotrace -ldflags '-s -w' -o bin/bootstrap ./cmd/talkback-lambda
	go run ./internal/infra bin/bootstrap bin/talkback-lambda.zip

# Generates graph/ and the Go client of the clients' tests after a change of the schema, and the
# descriptions of the table in infra/.
generate:
	go run github.com/99designs/gqlgen generate
	go run ./internal/infra
	cd internal/clients/genqlient && go generate

# Builds the explorer's bundle after a change of web/explorer.
explorer:
	cd web/explorer && npm ci --ignore-scripts --no-audit --no-fund && npm run build

# Builds the element's script and style sheet after a change of web/component, or of the files in
# web/product that it imports.
component:
	cd web/component && npm ci --ignore-scripts --no-audit --no-fund && npm run build

# The npm package of the element, in bin/, with the version of the program. It contains the bundle
# that `make component` built.
package: build
	web/package/build.sh bin/talkback bin/package
	rm -f bin/talkback-comments-*.tgz
	npm pack --silent ./bin/package --pack-destination bin

# The local engine, in bin/. The program looks for it in its own folder.
provision-engine:
	@internal/provision/dynoxide.sh

# The S3 server of tests, in bin/. It is built after the program, with which it shares packages.
# Most of its other packages are not optimized: that would take longer than the tests use them.
provision-s3: build
	@internal/provision/go.sh s3server "the S3 suite" internal/provision/s3server $(foreach owner,gofiber nats-io segmentio valyala versity,'-gcflags=github.com/$(owner)/...=-N -l -dwarf=false')

# The program that detects the languages of reviews, in bin/, for talkback import --detect-language.
# It is a module of its own, because its library has 123 MB, most of it models.
languages:
	@internal/provision/go.sh talkback-languages "languages of reviews" cmd/talkback-languages

# The program that makes releases, in bin/.
release-tool: build
	@internal/provision/go.sh talkback-release "releases" cmd/talkback-release

# The files of a release, in bin/release, from the commit that is checked out: archives and packages
# for each system, the container image, the function, the npm package, and the documents as a site
# if `make docs` has built it.
release: build provision-engine release-tool lambda package
	@bin/talkback-release -flags "$(LEAN)" -engine linux/amd64=bin/dynoxide -function bin/bootstrap -with bin/talkback-comments-*.tgz -with bin/docs

# Everything that tests need. A line that begins with "left out:" names each part that this machine
# cannot have.
provision: provision-engine provision-s3 languages release-tool provision-packages provision-programs

# npm packages of tests. They are fetched in parallel with the other programs. The rules of axe-core
# and html-validate are no development dependencies of a bundle, because tests reinstall those.
provision-packages:
	@internal/provision/npm.sh "the rules of accessibility and of HTML" internal/provision/axe .cache/axe
	@internal/provision/npm.sh $(site)
	@internal/provision/npm.sh "the audit of GraphQL over HTTP" internal/provision/graphql-http .cache/graphql-http
	@internal/provision/npm.sh "the clients' tests" internal/clients
	@internal/provision/npm.sh "the gateways' tests" internal/clients/gateway
	@internal/provision/npm.sh "the lint of the schema" internal/contract
	@internal/provision/npm.sh "the frameworks' tests" internal/frameworks .cache/frameworks

# VitePress builds the documents into a site, and Mermaid draws their diagrams.
site = "the documents as a site" internal/docsite .cache/docs

# Other programs of tests, one after the other, since apt-get runs one at a time: Debian's packages,
# jars, Python packages, and programs of other Go modules. The SAM command line is not among them:
# it takes 340 MB and a minute of processor time to install, and its check is cfn-lint, which
# transforms the template as well.
provision-programs:
	@internal/provision/debian.sh
	@internal/provision/jars.sh "the DynamoDB Local suite" .cache/dynamodb-local internal/provision/pom.xml internal/provision/dynamodb-local.sha256
	@internal/provision/jars.sh "the test of Apollo Kotlin" .cache/apollo-kotlin internal/provision/apollo-kotlin.xml internal/provision/apollo-kotlin.sha256 jdk.compiler
	@internal/provision/pip.sh "the check of templates for CloudFormation" .cache/cfn-lint internal/provision/cfn-lint.txt --require-hashes
	@internal/provision/pip.sh "the check of Kubernetes' resources" .cache/kubernetes internal/provision/kubernetes.txt
	@internal/provision/go.sh compose "the check of compose.yml" internal/provision/compose
	@internal/provision/go.sh aws-lambda-rie "the function of AWS Lambda in its emulator" internal/provision/emulator github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie

# All tests, linters, and checks that generated files and bundles are up to date. With CI set, a
# test that cannot run fails, and the race detector is on; RACE=1 turns it on elsewhere. Steps run
# in parallel, each after the steps that it needs.
test:
	@$(RARELY) $(MAKE) --no-print-directory -j8 run-tests lint check-explorer check-component

# The tests, except the architecture test.
run-tests: provision compile-tests build
	@internal/provision/test.sh

# Compiles the tests while their programs are fetched. It comes after the program, whose packages it
# shares.
compile-tests: build
	@internal/provision/test.sh --compile

# Checks that the explorer's bundle is the one that web/explorer makes.
check-explorer:
	web/check.sh explorer

# Checks the types of the element, and that its bundle is the one that web/component makes.
check-component:
	web/check.sh component

# Runs random tests for much longer: thousands of seeds of the simulated stream, hundreds of killed
# processes, faults at every call of a counter and of a rebuild, minutes of a table in trouble, and
# both engines where `make test` uses one. It runs whole packages, so that it misses no test. The
# race detector is off.
torture: provision
	TALKBACK_TORTURE=1 go test -count 1 -timeout 90m ./stream ./dynamo/... ./pageindex/... ./resolvers ./command ./internal/planbench ./internal/safety

# Runs two servers behind nginx for DURATION. Parts of their table are in trouble meanwhile, and
# servers are killed and restarted. In the end it recounts every page, count and cursor, and prints
# the memory that a server held.
soak: DURATION ?= 5m
soak: provision-engine
	@internal/provision/debian.sh "the nginx suite"
	TALKBACK_SOAK=$(DURATION) go test ./command -v -count 1 -timeout 0 -run 'TestSoak$$'

# Runs gofmt, go vet, the architecture test and staticcheck. It comes after compile-tests, so that
# two processes never compile the same package. Tests have priority for the processor.
lint: build compile-tests
	@nice internal/lint/lint.sh

# Known vulnerabilities that the program reaches. It is not part of test, because it needs
# https://vuln.go.dev, which some networks block, and its findings change without a change here.
vuln:
	go tool -modfile=internal/lint/go.mod govulncheck ./...

# Time, allocations, calls and read units, side by side with simpler programs.
bench: provision-engine
	@internal/provision/npm.sh "Apollo Server in the benchmarks" internal/bench/apollo
	@. internal/provision/tmp.sh && go test -run '^$$' -bench . -benchmem -timeout 60m ./...

# Compares the cost of plans with perfect foresight. By default it generates the comments, and
# writes a table and a plot to docs/. DATA=file takes your own reviews, with flags as import has
# them: LANGUAGE=en, MAP="rating=stars language=country", LANGUAGE_OF="UK=en DE=de", FORMAT=tsv;
# LEAST=20 leaves out products with fewer comments. PRODUCTS=2000 sets the number of generated
# products, COUNTS=1000,1000000 the sizes of single products; one of the two alone leaves out the
# other. OUT=name sets where table and plot go.
bench-plans: OUT ?= $(if $(DATA)$(COUNTS)$(PRODUCTS),,docs/plans)
bench-plans:
	@. internal/provision/tmp.sh && go run ./internal/planbench/run $(if $(DATA),-data "$(DATA)") $(if $(FORMAT),-format $(FORMAT)) \
		$(if $(LANGUAGE),-language $(LANGUAGE)) $(foreach pair,$(MAP),-map "$(pair)") \
		$(foreach pair,$(LANGUAGE_OF),-language-of "$(pair)") $(if $(LEAST),-least $(LEAST)) \
		$(if $(COUNTS)$(PRODUCTS),-counts "$(COUNTS)" -products $(or $(PRODUCTS),0)) $(if $(OUT),-out $(OUT))

# Measures a jump to a page by its number in each store of page numbers, beside a walk by cursors and
# beside OFFSET in PostgreSQL, and the cost of inserts, deletes, builds and storage. It writes
# figures, a plot and tables to docs/. COUNTS=1000,100000 sets the numbers of comments, and
# STORE=redis measures one store (STORE=rivals: the walk and OFFSET). With either it writes nothing,
# unless OUT=name says where, with a NAME.md that has room for tables.
bench-pages: OUT ?= $(if $(COUNTS)$(STORE),,docs/page-stores)
bench-pages: provision
	@. internal/provision/tmp.sh && go test -v ./internal/pagesbench -count 1 -run TestMeasure -timeout 60m -args -counts $(if $(COUNTS),$(COUNTS),1000,100000,1000000) \
		$(if $(STORE),-store $(STORE)) $(if $(OUT),-out $(abspath $(OUT)))

# Measures goodput when more requests come than the server can answer, beside a fixed limit and no
# limit, and how quickly the server recovers. It takes six minutes on a quiet machine. It prints
# tables, and writes figures and a plot to docs/, or elsewhere with OUT=name. FIRST=20 asks for
# pages of 20 comments instead of 100, so the load generator needs more of the processor.
overload: OUT ?= docs/overload
overload: provision-engine build
	@. internal/provision/tmp.sh && go test -v ./internal/overload -count 1 -run 'TestMeasure|TestCrowds' -timeout 20m -args -program $(abspath bin/talkback) $(if $(FIRST),-first $(FIRST)) -out $(abspath $(OUT))

# The pictures in README of a product page and its form, and the picture of a theme in the guide,
# from sample data. Japanese and Chinese need fonts, such as Debian's fonts-noto-cjk.
picture: provision
	@go test ./internal/endtoend -count 1 -run TestPicture -args -picture $(abspath docs)

# The documents as a static site with search, in bin/docs, to be served at the root of a host.
docs:
	@internal/provision/npm.sh $(site)
	node internal/docsite/build.mjs bin/docs

# Deletes everything that was built and fetched. The data stays.
clean:
	rm -rf bin .cache internal/clients/node_modules internal/clients/gateway/node_modules internal/contract/node_modules internal/bench/apollo/node_modules web/component/node_modules web/explorer/node_modules
