package genqlient

import (
	"errors"
	"net/http"
	"os"
	"slices"
	"testing"

	"github.com/Khan/genqlient/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

const pageSize = 3

var titles = []string{"seven", "six", "five", "four", "three", "two", "one"}

// service is the service under test, and the product that this program has for itself there.
type service struct {
	t       *testing.T
	client  graphql.Client
	product string
}

func start(t *testing.T) service {
	t.Helper()
	url := os.Getenv("TALKBACK_URL")
	if url == "" {
		t.Skip("it is run by the tests of the folder above, which start the service")
	}
	return service{t, graphql.NewClient(url, http.DefaultClient), os.Getenv("TALKBACK_PRODUCT")}
}

// list reads the titles of all comments, and how many pages these were.
func (s service) list() (found []string, pages int) {
	s.t.Helper()
	var after *string
	for {
		answer, err := List(s.t.Context(), s.client, s.product, pageSize, after)
		if err != nil {
			s.t.Fatal(err)
		}
		page := answer.Product.Comments
		for _, node := range page.Nodes {
			found = append(found, *node.Title)
		}
		pages++
		if !page.PageInfo.HasNextPage {
			return found, pages
		}
		after = page.PageInfo.EndCursor
	}
}

func (s service) lists(want ...string) {
	s.t.Helper()
	if found, _ := s.list(); !slices.Equal(found, want) {
		s.t.Errorf("the list is %q, want %q", found, want)
	}
}

func TestPages(t *testing.T) {
	s := start(t)
	s.lists(titles...)
	if _, pages := s.list(); pages != 3 {
		t.Errorf("%d pages, want 3", pages)
	}
}

// numbered reads a page with its links: by number, or by cursor.
func (s service) numbered(page *int, after *string) (*NumberedProductCommentsCommentConnection, []string) {
	s.t.Helper()
	answer, err := Numbered(s.t.Context(), s.client, s.product, pageSize, page, after)
	if err != nil {
		s.t.Fatal(err)
	}
	var found []string
	for _, node := range answer.Product.Comments.Nodes {
		found = append(found, *node.Title)
	}
	return answer.Product.Comments, found
}

// The links of page 2 lead to their pages, page 1 included.
func TestNumberedLinks(t *testing.T) {
	s := start(t)
	two := 2
	second, found := s.numbered(&two, nil)
	links := second.PageCursors
	if *second.PageNumber != 2 || *second.PageCount != 3 || links.Previous.Page != 1 || links.Last.Page != 3 || len(links.Around) != 3 || !slices.Equal(found, titles[3:6]) {
		t.Fatalf("page 2 is %+v with %q", *second, found)
	}
	for i, link := range links.Around {
		linked, found := s.numbered(nil, &link.Cursor)
		if want := titles[i*pageSize : min((i+1)*pageSize, len(titles))]; !slices.Equal(found, want) {
			t.Errorf("link %d shows %q, want %q", link.Page, found, want)
		}
		if link.Page != i+1 || link.IsCurrent != (i == 1) || *linked.PageNumber != i+1 {
			t.Errorf("link %+v of page 2 leads to page %d", link, *linked.PageNumber)
		}
	}
}

func TestAddEditDelete(t *testing.T) {
	s := start(t)
	title := "eight"
	added, err := Add(t.Context(), s.client, AddCommentInput{
		ProductId: s.product, Rating: 4, Language: "en", Title: &title, Text: "Written by a client.",
		Author: AuthorInput{Id: s.product, Name: "Ada"},
	})
	if err != nil || len(added.AddComment.UserErrors) > 0 {
		t.Fatal(added, err)
	}
	s.lists(append([]string{"eight"}, titles...)...)

	s.edit(added.AddComment.Comment.Shown)
	s.lists(append([]string{"eight"}, titles...)...)

	deleted, err := Delete(t.Context(), s.client, DeleteCommentInput{Id: added.AddComment.Comment.Id})
	if err != nil || len(deleted.DeleteComment.UserErrors) > 0 {
		t.Fatal(deleted, err)
	}
	s.lists(titles...)
}

// edit changes the rating, which leaves the title as it is, and tries to do so twice from one
// version.
func (s service) edit(c Shown) {
	s.t.Helper()
	rating := 5
	input := EditCommentInput{Id: c.Id, Version: c.Version, Rating: &rating}
	edited, err := Edit(s.t.Context(), s.client, input)
	if err != nil || len(edited.EditComment.UserErrors) > 0 {
		s.t.Fatal(edited, err)
	}
	if now := edited.EditComment.Comment; now.Rating != 5 || now.Version != 2 || *now.Title != *c.Title || !now.CreatedAt.Equal(c.CreatedAt) {
		s.t.Errorf("edited to %+v", now.Shown)
	}
	late, err := Edit(s.t.Context(), s.client, input)
	if err != nil {
		s.t.Fatal(err)
	}
	if found := late.EditComment.UserErrors; len(found) != 1 || found[0].Code != UserErrorCodeConflict {
		s.t.Errorf("a late edit: %+v", found)
	}
}

func TestErrorsHaveTheirCodes(t *testing.T) {
	s := start(t)
	cursor := "no cursor"
	_, err := List(t.Context(), s.client, s.product, pageSize, &cursor)
	var list gqlerror.List
	if !errors.As(err, &list) || len(list) != 1 || list[0].Extensions["code"] != "BAD_CURSOR" {
		t.Errorf("a broken cursor: %v", err)
	}
}
