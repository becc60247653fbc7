package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	goload "golang.org/x/tools/go/packages"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// TestTypesOfOtherSystems type-checks the program for the releases' other systems. It skips
// function bodies of other modules, so it takes seconds instead of minutes.
func TestTypesOfOtherSystems(t *testing.T) {
	for _, system := range []string{"windows/amd64", "darwin/arm64"} {
		t.Run(system, func(t *testing.T) {
			name, arch, _ := strings.Cut(system, "/")
			config := goload.Config{
				Dir:  "../..",
				Mode: goload.NeedName | goload.NeedImports | goload.NeedDeps,
				Env:  append(os.Environ(), "GOOS="+name, "GOARCH="+arch, "CGO_ENABLED=0"),
				ParseFile: func(files *token.FileSet, name string, source []byte) (*ast.File, error) {
					return parser.ParseFile(files, name, source, parser.SkipObjectResolution)
				},
			}
			var ours []string
			goload.Visit(must.Get(goload.Load(&config, "."))(t), nil, func(p *goload.Package) {
				if strings.HasPrefix(p.PkgPath, module) {
					ours = append(ours, p.PkgPath)
				}
			})
			config.Mode |= goload.NeedFiles | goload.NeedCompiledGoFiles | goload.NeedTypes | goload.NeedTypesSizes | goload.NeedSyntax
			goload.Visit(must.Get(goload.Load(&config, ours...))(t), nil, func(p *goload.Package) {
				for _, err := range p.Errors {
					t.Error(err)
				}
			})
		})
	}
}
