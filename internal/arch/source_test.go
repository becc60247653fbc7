package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// eachSource goes through every file of shipped, hand-written code.
func eachSource(t *testing.T, look func(folder string, file *ast.File, fset *token.FileSet)) {
	t.Helper()
	for _, p := range loadModule(t) {
		for _, file := range p.Syntax {
			if !ast.IsGenerated(file) {
				look(pkg{ImportPath: p.PkgPath}.local(), file, p.Fset)
			}
		}
	}
}

// environment lists the files that may read environment variables, with those they read. Flags in
// command are read by kong.
var environment = map[string]string{
	"dynamo/call/client.go":                   "AWS's own variables, for engines that look at credentials",
	"command/admin.go":                        "OpenTelemetry's own variables, which its exporters read too",
	"command/serve.go":                        "GOGC and GOMEMLIMIT, which Go reads in every program",
	"command/parse.go":                        "variables of flags that are set but empty, which kong does not tell from those that are not",
	"internal/output/screen.go":               "NO_COLOR, which every program knows, and TERM, which says what a terminal understands",
	"internal/engine/child_environment.go":    "what a child gets of it",
	"internal/provisiontest/provisiontest.go": "tests only",
	"command/hooks.go":                        "secrets of hooks, each in a variable that its hook names",
	"cmd/talkback-lambda/main.go":             "a function has no command line",
	"internal/browsertest/browsertest.go":     "tests only",
	"internal/commenttest/seed.go":            "tests only",
	"internal/servertest/lambdatest/suite.go": "tests only",
}

func TestEnvironmentIsReadInOnePlace(t *testing.T) {
	eachSource(t, func(folder string, file *ast.File, fset *token.FileSet) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := call.X.(*ast.Ident)
			where := filepath.Join(folder, filepath.Base(fset.Position(call.Pos()).Filename))
			if ok && x.Name == "os" && (call.Sel.Name == "Getenv" || call.Sel.Name == "LookupEnv") && environment[where] == "" {
				t.Errorf("%s reads the environment; settings are flags of the package command", fset.Position(call.Pos()))
			}
			return true
		})
	})
}

func TestExportedNamesAreDescribed(t *testing.T) {
	eachSource(t, func(_ string, file *ast.File, fset *token.FileSet) {
		for _, declaration := range file.Decls {
			for _, name := range undescribed(declaration) {
				t.Errorf("%s: %s has no comment", fset.Position(declaration.Pos()), name)
			}
		}
	})
}

// undescribed lists the exported names of a declaration that no comment describes.
func undescribed(declaration ast.Decl) []string {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		var names []string
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
					names = append(names, s.Name.Name)
				}
			case *ast.ValueSpec:
				if s.Names[0].IsExported() && d.Doc == nil && s.Doc == nil {
					names = append(names, s.Names[0].Name)
				}
			}
		}
		return names
	}
	return nil
}

// generatedModels are the only models that the generator may invent. Any other means that it
// silently did not find a type in comment.
var generatedModels = "AddCommentInput AddCommentPayload ApproveCommentInput AuthorInput CommentConnection CommentEdge DecideCommentsInput DecideCommentsPayload DecisionInput DeleteCommentInput DeleteCommentPayload DeleteReplyInput DeleteReplyPayload EditCommentInput EditCommentPayload EraseAuthorInput EraseAuthorPayload LeaderboardEntry MediaInput ModerateCommentPayload PageCursor PageCursors PageInfo QueueConnection QueueEdge RejectCommentInput ReplyToCommentInput ReplyToCommentPayload ReportCommentInput ReportCommentPayload ViewerCommentConnection VoteOnCommentInput VoteOnCommentPayload WithdrawCommentInput"

func TestGeneratedModels(t *testing.T) {
	file := must.Get(parser.ParseFile(token.NewFileSet(), "../../graph/models_gen.go", nil, 0))(t)
	var names []string
	for _, declaration := range file.Decls {
		if d, ok := declaration.(*ast.GenDecl); ok && d.Tok == token.TYPE {
			names = append(names, d.Specs[0].(*ast.TypeSpec).Name.Name)
		}
	}
	check.Equal(t, generatedModels, strings.Join(names, " "), "graph/models_gen.go holds other types than expected")
}

// Generated code is up to date with the schema.
func TestGeneratedCodeIsFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: generating the code again, with -short")
	}
	dir := t.TempDir()
	copyModule(t, dir)
	generate := exec.Command("go", "run", "github.com/99designs/gqlgen", "generate")
	generate.Dir = dir
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"graph/generated.go", "graph/models_gen.go", "graph/federation.go"} {
		committed := must.Get(os.ReadFile(filepath.Join("../..", name)))(t)
		made := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
		if string(committed) != string(made) {
			t.Errorf("%s is not what the schema makes: run `make generate`", name)
		}
	}
}

// copyModule copies the input of the generator: the schema, its configuration, and the packages
// that it is bound to.
func copyModule(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"go.mod", "go.sum", "gqlgen.yml", "schema.graphqls", "federation.graphqls", "tools.go"} {
		raw := must.Get(os.ReadFile(filepath.Join("../..", name)))(t)
		must.Do(t, os.WriteFile(filepath.Join(dir, name), raw, 0o600))
	}
	for _, name := range []string{"comment", "graph"} {
		must.Do(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join("../..", name))))
	}
}
