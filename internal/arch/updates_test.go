package arch

import (
	"go/ast"
	"go/token"
	"testing"
)

// An update without a condition would bring back part of a comment deleted meanwhile. So every one
// has a condition: UpdateItem, and updates within a transaction. Most are made by call.UpdateIf.
func TestEveryUpdateHasACondition(t *testing.T) {
	found := 0
	eachSource(t, func(_ string, file *ast.File, fset *token.FileSet) {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if of, ok := call.Fun.(*ast.SelectorExpr); ok && of.Sel.Name == "UpdateIf" {
					found++
					if text, ok := call.Args[3].(*ast.BasicLit); ok && text.Value == `""` {
						t.Errorf("%s: an update without a condition", fset.Position(call.Pos()))
					}
				}
			}
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			of, ok := literal.Type.(*ast.SelectorExpr)
			if !ok || of.Sel.Name != "UpdateItemInput" && of.Sel.Name != "Update" {
				return true
			}
			found++
			for _, element := range literal.Elts {
				pair, _ := element.(*ast.KeyValueExpr)
				if key, _ := pair.Key.(*ast.Ident); key != nil && key.Name == "ConditionExpression" {
					return true
				}
			}
			t.Errorf("%s: an update without a ConditionExpression", fset.Position(literal.Pos()))
			return true
		})
	})
	if found < 10 {
		t.Errorf("%d updates were found; this test looks for them in vain", found)
	}
}
