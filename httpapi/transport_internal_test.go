package httpapi

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/internal/buffer"
)

// Data may be written to memory that served other answers. No answer gets what is another's, and none
// keeps its data once it is written.
func TestDataIsLentOnce(t *testing.T) {
	var group sync.WaitGroup
	for client := range 8 {
		group.Go(func() {
			for round := range 500 {
				data := fmt.Sprintf(`{"client":%d,"round":%d}`, client, round)
				response := answered{Response: &graphql.Response{Data: append(buffer.Get(len(data)), data...)}}
				var out bytes.Buffer
				write(&out, response)
				if want := `{"data":` + data + `}`; out.String() != want || response.Data != nil {
					t.Errorf("%s, want %s; %d bytes of data are kept", out.String(), want, len(response.Data))
				}
			}
		})
	}
	group.Wait()
}
