# What there is to make. `make run` needs Go and npm, `make test` for some of its suites also Chromium, Java, Maven, Redis, nginx,
# PostgreSQL, a C compiler, shells and Python; as root on Debian these are installed.

.PHONY: run build lambda generate explorer component package provision-engine provision-s3 provision-packages provision-programs languages provision test run-tests compile-tests check-explorer check-component torture soak lint vuln bench bench-plans bench-pages overload picture docs release release-tool clean

# What waits for others, or runs once at the start, is not inlined, and functions begin at multiples of 16 bytes, as on arm64,
# in place of 32: so the program takes 2 MB less. Debug information, which no program here keeps, is not made: that takes a
# twelfth off compiling. The quotes are those of GOFLAGS.
aws = github.com/aws/aws-sdk-go-v2/service
not_inlined = github.com/redis/go-redis/... $(aws)/s3/... $(aws)/sts/... $(aws)/sso/... $(aws)/ssooidc/... $(aws)/signin/... \
	github.com/jackc/... google.golang.org/... github.com/alecthomas/... github.com/yuin/... github.com/talkback/talkback/command
export LEAN = -gcflags=all=-dwarf=false $(not_inlined:%='-gcflags=%=-l -dwarf=false')

# The compiler collects garbage less often: that takes a sixth off compiling, and a tenth off tests. It must not reach the
# server that `make run` starts, which decides for itself how large its heap grows unless GOGC is set.
RARELY = GOGC=$${GOGC:-400}

# The program with sample data, on http://127.0.0.1:8080; TALKBACK_* in the environment changes how. The program takes
# the place of the shell, so that a signal to this make reaches it, and Ctrl-C ends it as gracefully as it would by itself.
run:
	@$(MAKE) --no-print-directory -j2 provision-engine build
	@exec bin/talkback serve --sample-data

# The program alone, in bin/, as releases have it: static, and without debug information, which would be 24 MB more.
build:
	CGO_ENABLED=0 $(RARELY) go build $(LEAN) -ldflags '-s -w -funcalign=16' -o bin/talkback .

# The function for AWS Lambda, in bin/bootstrap, and in bin/talkback-lambda.zip for infra/. The tags leave out ways to run
# it that Lambda no longer uses, and gRPC's page of traces.
lambda:
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build $(LEAN) -trimpath -tags lambda.norpc,grpcnotrace -ldflags '-s -w' -o bin/bootstrap ./cmd/talkback-lambda
	go run ./internal/infra bin/bootstrap bin/talkback-lambda.zip

# graph/ again, and the Go client of the clients' tests, after a change of the schema; what describes the table in infra/.
generate:
	go run github.com/99designs/gqlgen generate
	go run ./internal/infra
	cd internal/clients/genqlient && go generate

# The explorer's bundle again, after a change of web/explorer.
explorer:
	cd web/explorer && npm ci --ignore-scripts --no-audit --no-fund && npm run build

# The element's script and style sheet again, after a change of web/component or of what it reads in web/product.
component:
	cd web/component && npm ci --ignore-scripts --no-audit --no-fund && npm run build

# The npm package of the element, in bin/, of the version of the program. It ships what `make component` built.
package: build
	web/package/build.sh bin/talkback bin/package
	rm -f bin/talkback-comments-*.tgz
	npm pack --silent ./bin/package --pack-destination bin

# The local engine, in bin/ beside the program, which looks for it there.
provision-engine:
	@internal/provision/dynoxide.sh

# The S3 server of tests, in bin/ too. It is built after the program, whose packages it has in part. What most of the rest comes
# from is not optimized: that takes longer than all its use in the tests.
provision-s3: build
	@internal/provision/go.sh s3server "the S3 suite" internal/provision/s3server $(foreach owner,gofiber nats-io segmentio valyala versity,'-gcflags=github.com/$(owner)/...=-N -l -dwarf=false')

# The program that tells the languages of reviews, in bin/ beside the program, for talkback import --detect-language. Its library
# is fetched for it alone: 123 MB, most of it models.
languages:
	@internal/provision/go.sh talkback-languages "languages of reviews" cmd/talkback-languages

# The program that makes releases, in bin/.
release-tool: build
	@internal/provision/go.sh talkback-release "releases" cmd/talkback-release

# What is published of a version, in bin/release, from the commit that is checked out: archives and packages for each
# system, the container image, the function, the npm package, and the documents as a site if they were built.
release: build provision-engine release-tool lambda package
	@bin/talkback-release -flags "$(LEAN)" -engine linux/amd64=bin/dynoxide -function bin/bootstrap -with bin/talkback-comments-*.tgz -with bin/docs

# Everything that any test needs. What cannot be had here is said in a line that begins with "left out:".
provision: provision-engine provision-s3 languages release-tool provision-packages provision-programs

# What npm has for tests. It is fetched beside what else is, for it needs nothing from apt-get, which runs one at a time. The rules
# of axe-core and html-validate are no development dependencies of a page: those packages are installed anew while the tests run.
provision-packages:
	@internal/provision/npm.sh "the rules of accessibility and of HTML" internal/provision/axe .cache/axe
	@internal/provision/npm.sh $(site)
	@internal/provision/npm.sh "the audit of GraphQL over HTTP" internal/provision/graphql-http .cache/graphql-http
	@internal/provision/npm.sh "the clients' tests" internal/clients
	@internal/provision/npm.sh "the gateways' tests" internal/clients/gateway
	@internal/provision/npm.sh "the lint of the schema" internal/contract
	@internal/provision/npm.sh "the frameworks' tests" internal/frameworks .cache/frameworks

# VitePress, which builds the documents into a site, and Mermaid, which draws their diagrams.
site = "the documents as a site" internal/docsite .cache/docs

# All else that tests need, one after the other: Debian's packages, jars, what Python runs, and programs that are built of modules of
# their own. cfn-lint also transforms the template of SAM as the SAM command line does, whose own check is this one again, and takes
# 340 MB and a minute of processor time to install.
provision-programs:
	@internal/provision/debian.sh
	@internal/provision/jars.sh "the DynamoDB Local suite" .cache/dynamodb-local internal/provision/pom.xml internal/provision/dynamodb-local.sha256
	@internal/provision/jars.sh "the test of Apollo Kotlin" .cache/apollo-kotlin internal/provision/apollo-kotlin.xml internal/provision/apollo-kotlin.sha256 jdk.compiler
	@internal/provision/pip.sh "the check of templates for CloudFormation" .cache/cfn-lint internal/provision/cfn-lint.txt --require-hashes
	@internal/provision/pip.sh "the check of Kubernetes' resources" .cache/kubernetes internal/provision/kubernetes.txt
	@internal/provision/go.sh compose "the check of compose.yml" internal/provision/compose
	@internal/provision/go.sh aws-lambda-rie "the function of AWS Lambda in its emulator" internal/provision/emulator github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie

# Every test there is, what linters find, and whether what was generated and bundled is up to date. With CI set, a test
# that cannot be run fails, and the race detector watches the tests; RACE=1 has it watch them anywhere. What is fetched,
# compiled, tested and linted waits only for what it needs.
test:
	@$(RARELY) $(MAKE) --no-print-directory -j8 run-tests lint check-explorer check-component

# The tests alone, without that of the architecture.
run-tests: provision compile-tests build
	@internal/provision/test.sh

# What the tests are made of, while what they need is being fetched. The program first, whose packages theirs are.
compile-tests: build
	@internal/provision/test.sh --compile

# Whether the explorer's bundle is what web/explorer makes.
check-explorer:
	web/check.sh explorer

# Whether the element is well-typed, and dist is what web/component makes.
check-component:
	web/check.sh component

# Random tests for much longer: thousands of seeds of the simulated stream, hundreds of killed processes, every call of a
# counter and of a rebuild spoiled in every way, minutes of a table in trouble, and both engines where `make test` asks one. It runs
# these packages whole, so that no test can be missing here. The race detector is off.
torture: provision
	TALKBACK_TORTURE=1 go test -count 1 -timeout 90m ./stream ./dynamo/... ./pageindex/... ./resolvers ./command ./internal/planbench ./internal/safety

# Two servers behind nginx in use for DURATION, while parts of their table are in trouble and servers are killed and restarted.
# In the end every page, count and cursor is recounted. Prints what a server held meanwhile.
soak: DURATION ?= 5m
soak: provision-engine
	@internal/provision/debian.sh "the nginx suite"
	TALKBACK_SOAK=$(DURATION) go test ./command -v -count 1 -timeout 0 -run 'TestSoak$$'

# What gofmt, go vet, the architecture test and staticcheck find. What they read of packages is compiled first, so that nothing is
# compiled by two at once. The tests go first where the processor is short.
lint: build compile-tests
	@nice internal/lint/lint.sh

# Known vulnerabilities that the program reaches. Not part of test, for it asks https://vuln.go.dev, which is not to be
# reached from everywhere, and what it finds changes without a change here.
vuln:
	go tool -modfile=internal/lint/go.mod govulncheck ./...

# Time, allocations, calls and read units, side by side with simpler ways to do the same.
bench: provision-engine
	@internal/provision/npm.sh "Apollo Server in the benchmarks" internal/bench/apollo
	@. internal/provision/tmp.sh && go test -run '^$$' -bench . -benchmem -timeout 60m ./...

# What plans cost beside perfect foresight: by default of generated comments, whose table and plot go to docs/. Of reviews
# of your own with DATA=file, and as import has them: LANGUAGE=en, MAP="rating=stars language=country", LANGUAGE_OF="UK=en
# DE=de", FORMAT=tsv; LEAST=20 leaves out products of fewer comments. PRODUCTS=2000 says how many products to generate as a
# catalogue, COUNTS=1000,1000000 how many comments on one product; one of the two alone leaves out the other. OUT=name is
# where table and plot go.
bench-plans: OUT ?= $(if $(DATA)$(COUNTS)$(PRODUCTS),,docs/plans)
bench-plans:
	@. internal/provision/tmp.sh && go run ./internal/planbench/run $(if $(DATA),-data "$(DATA)") $(if $(FORMAT),-format $(FORMAT)) \
		$(if $(LANGUAGE),-language $(LANGUAGE)) $(foreach pair,$(MAP),-map "$(pair)") \
		$(foreach pair,$(LANGUAGE_OF),-language-of "$(pair)") $(if $(LEAST),-least $(LEAST)) \
		$(if $(COUNTS)$(PRODUCTS),-counts "$(COUNTS)" -products $(or $(PRODUCTS),0)) $(if $(OUT),-out $(OUT))

# What a jump to a page by its number takes in each store of page numbers, beside walking by cursor and beside OFFSET over
# whole rows in PostgreSQL; what inserts, deletes, builds and storage take. Figures, plot and tables go to docs/.
# COUNTS=1000,100000 says how many comments, STORE=redis that this store is measured alone (or STORE=rivals), and OUT=name
# where all goes, with a NAME.md that has room for tables; else, with one of the two, it goes nowhere.
bench-pages: OUT ?= $(if $(COUNTS)$(STORE),,docs/page-stores)
bench-pages: provision
	@. internal/provision/tmp.sh && go test -v ./internal/pagesbench -count 1 -run TestMeasure -timeout 60m -args -counts $(if $(COUNTS),$(COUNTS),1000,100000,1000000) \
		$(if $(STORE),-store $(STORE)) $(if $(OUT),-out $(abspath $(OUT)))

# What becomes of requests when more come than the server can answer, beside a fixed limit and none, and how quickly it
# recovers: six minutes on a quiet machine. Tables are printed; figures and plot go to docs/, or elsewhere with OUT=name.
# FIRST=20 asks for pages of 20 comments in place of 100; then the generator needs the more.
overload: OUT ?= docs/overload
overload: provision-engine build
	@. internal/provision/tmp.sh && go test -v ./internal/overload -count 1 -run 'TestMeasure|TestCrowds' -timeout 20m -args -program $(abspath bin/talkback) $(if $(FIRST),-first $(FIRST)) -out $(abspath $(OUT))

# The pictures of a product page and its form in README, and of a theme in the guide, of the sample data. Japanese and Chinese need fonts, such as
# fonts-noto-cjk of Debian.
picture: provision
	@go test ./internal/endtoend -count 1 -run TestPicture -args -picture $(abspath docs)

# The documents as a static site with search, in bin/docs, to be served at the root of a host.
docs:
	@internal/provision/npm.sh $(site)
	node internal/docsite/build.mjs bin/docs

# What was built and fetched. The data stays.
clean:
	rm -rf bin .cache internal/clients/node_modules internal/clients/gateway/node_modules internal/contract/node_modules internal/bench/apollo/node_modules web/component/node_modules web/explorer/node_modules
