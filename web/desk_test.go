package web

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/schematest"
)

// deskTexts are the texts of the page for moderators in a language.
func deskTexts(t *testing.T, lang string) map[string]string {
	t.Helper()
	words := map[string]string{}
	must.Do(t, json.Unmarshal([]byte(read(t, "desk/"+lang+".json")), &words))
	return words
}

// Every language has every text, with the same placeholders, and no text is left unused.
func TestTextsOfTheDesk(t *testing.T) {
	placeholders := func(text string) []string {
		return slices.Sorted(slices.Values(regexp.MustCompile(`\{\w+\}`).FindAllString(text, -1)))
	}
	english := deskTexts(t, "en")
	for _, lang := range deskLanguages {
		other := deskTexts(t, lang)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(english)), slices.Sorted(maps.Keys(other))); diff != "" {
			t.Errorf("%s has other texts than en: %s", lang, diff)
		}
		for key, text := range english {
			if diff := cmp.Diff(placeholders(text), placeholders(other[key])); diff != "" {
				t.Errorf("%s: %s has other placeholders than en: %s", lang, key, diff)
			}
		}
	}
	var uses strings.Builder
	entries := must.Get(os.ReadDir("desk"))(t)
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".json") {
			uses.WriteString(read(t, "desk/"+entry.Name()))
		}
	}
	uses.WriteString(read(t, "desk.go"))
	made := regexp.MustCompile(`\.(one|other|none)$|^(error|fault|status|state|reason|because)\..*`)
	for key := range english {
		if base := made.ReplaceAllString(key, "$2"); !strings.Contains(uses.String(), base) {
			t.Errorf("no file of the page uses the text %s", key)
		}
	}
}

// A server that runs only trusted documents accepts its pages' requests: each document fits the
// schema. The documents of the page for moderators are all there.
func TestOperationsOfPages(t *testing.T) {
	var manifest struct {
		Operations []struct{ ID, Name, Body string }
	}
	must.Do(t, json.Unmarshal(Operations(), &manifest))
	schema, listed := schematest.Load(t), map[string]bool{}
	for _, operation := range manifest.Operations {
		listed[operation.Name] = true
		if _, err := gqlparser.LoadQueryWithRules(schema, operation.Body, nil); err != nil {
			t.Errorf("%s: %v", operation.Name, err)
		}
	}
	for _, found := range regexp.MustCompile(`(?:query|mutation) (\w+)`).FindAllStringSubmatch(read(t, "desk/api.js"), -1) {
		if !listed[found[1]] {
			t.Errorf("component/dist/operations.json does not list %s: run make component", found[1])
		}
	}
}

// The page is in the language of the reader, and caches learn that it varies.
func TestLanguageOfTheDesk(t *testing.T) {
	for accept, want := range map[string]string{"de-AT,en;q=0.5": "de", "en": "en", "fr": "en"} {
		answer := ask("GET", "/moderation", "Accept-Language: "+accept)
		var page bytes.Buffer
		must.Get(page.ReadFrom(answer.Body))(t)
		if !strings.Contains(page.String(), `<html lang="`+want+`">`) {
			t.Errorf("Accept-Language %s: the page is not in %s", accept, want)
		}
		if !slices.Contains(answer.Header.Values("Vary"), "Accept-Language") {
			t.Errorf("Vary is %q, want Accept-Language in it", answer.Header.Values("Vary"))
		}
	}
}

// The page has exactly the reasons of the schema.
func TestReasonsOfTheDesk(t *testing.T) {
	schema, words := schematest.Load(t), deskTexts(t, "en")
	for prefix, enum := range map[string]string{"reason.": "HoldReason", "because.": "RejectionReason", "status.": "CommentStatus"} {
		var want []string
		for _, value := range schema.Types[enum].EnumValues {
			want = append(want, prefix+value.Name)
		}
		got := slices.DeleteFunc(slices.Sorted(maps.Keys(words)), func(key string) bool { return !strings.HasPrefix(key, prefix) })
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the texts of %s: %s", enum, diff)
		}
	}
	// The element says each but OTHER to the author. Its script makes the English words of the names:
	// web/component/src/texts.ts.
	for _, value := range schema.Types["RejectionReason"].EnumValues {
		said, spelled := englishTexts.words()["reason."+value.Name], strings.ReplaceAll(value.Name, "_", " ")
		if want := spelled[:1] + strings.ToLower(spelled[1:]); value.Name != "OTHER" && said != want {
			t.Errorf("the English text of %s is %q, want %q", value.Name, said, want)
		}
	}
	page := body(t, "/moderation")
	for enum, input := range map[string]string{"HoldReason": "checkbox", "RejectionReason": "radio"} {
		for _, value := range schema.Types[enum].EnumValues {
			if !regexp.MustCompile(`type="` + input + `"[^>]* value="` + value.Name + `"`).MatchString(page) {
				t.Errorf("the page has no %s for %s", input, value.Name)
			}
		}
	}
}
