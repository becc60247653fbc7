package reviewfile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/reviewfile"
)

// all returns every field of a row in the form that tests compare.
func all(row reviewfile.Row, err error) string {
	text := outcome(row, err)
	if err != nil {
		return text
	}
	c := row.Comment
	text += fmt.Sprintf(" %v", c.Status)
	if c.Moderation != nil && c.Moderation.Reason != nil {
		text += fmt.Sprintf(" for %v", *c.Moderation.Reason)
	}
	if c.Verified {
		text += " verified"
	}
	if c.Votes.Helpful > 0 {
		text += fmt.Sprintf(" votes=%d", c.Votes.Helpful)
	}
	for _, m := range c.Media {
		text += " " + m.Path
	}
	if r := c.Reply; r != nil {
		text += fmt.Sprintf(" reply=%s/%q/%s", r.Name, r.Text, r.CreatedAt.Format(time.RFC3339))
	}
	return text
}

// Each preset reads the columns of its system: the result of each row, and the ignored columns.
func TestPresets(t *testing.T) {
	const (
		judgeme = "title,body,rating,review_date,source,curated,reviewer_name,reviewer_email,product_id,product_handle,reply,reply_date,picture_urls,ip_address,location,metaobject_handle\n"
		shopify = "product_handle,state,rating,title,author,email,location,body,reply,created_at,replied_at\n"
		yotpo   = "appKey,Review ID,Review Creation Date,Review Type,Review Status,Review Score,Review Title,Review Content,Published Image Url,Comment Content,Comment Public,Thumbs Up,Reviewer Display Name,Reviewer Email,Reviewer Type,Product ID,Product Title\n"
		woo     = "comment_ID,comment_post_ID,comment_author,comment_author_email,comment_author_url,comment_author_IP,comment_date,comment_date_gmt,comment_content,comment_approved,comment_parent,user_id,rating,verified,title,product_SKU,product_title\n"
	)
	for _, test := range []struct {
		from, input string
		want        []string
		ignored     string
	}{
		{"judgeme", judgeme +
			"Nice,Good,5,2026-03-02 10:12:00 UTC,email,ok,Ann,a@mail.example,7,mug,Thanks,2026-03-03 08:00:00 UTC,\"https://m.example/a.jpg?auto=format&w=1024,https://m.example/b.png\",192.0.2.1,Rome,h1\n" +
			",Buy,5,2026-03-02,web,spam,,,7,mug,,,,,,h2\n,Hm,4,2026-03-02,web,not-yet,,,7,mug,,,,,,h3\n,Hm,4,2026-03-02,web,,,,7,mug,,,,,,h4\n", []string{
			`line 2: 7 5 de 2026-03-02T10:12:00Z title="Nice" text="Good" author=a@mail.example/Ann APPROVED a.jpg b.png reply=Shop/"Thanks"/2026-03-03T08:00:00Z`,
			`line 3: 7 5 de 2026-03-02T00:00:00Z text="Buy" author=anonymous/Anonymous REJECTED for SPAM`,
			`line 4: 7 4 de 2026-03-02T00:00:00Z text="Hm" author=anonymous/Anonymous PENDING`,
			`line 5: the status is missing: --map status= publishes all rows`,
		}, "source ip_address location"},
		{"shopify", shopify +
			"mug,published,4,Fine,Ines,i@mail.example,Rome,Good,Thanks,2023-06-01T10:00:00-04:00,2023-06-02 10:00:00 -0400\nmug,unpublished,1,No,Bo,,,Bad,,2023-06-01 10:00:00 UTC,\n", []string{
			`line 2: mug 4 de 2023-06-01T14:00:00Z title="Fine" text="Good" author=i@mail.example/Ines APPROVED reply=Shop/"Thanks"/2023-06-02T14:00:00Z`,
			`line 3: mug 1 de 2023-06-01T10:00:00Z title="No" text="Bad" author=Bo/Bo PENDING`,
		}, "location"},
		{"woocommerce", woo +
			"11,7,Ann,a@mail.example,,192.0.2.1,2024-05-01 12:00:00,2024-05-01 10:00:00,<p>Good</p>,1,0,0,5,1,,S-7,Mug\n12,7,Bo,,,,2024-05-01 12:00:00,2024-05-01 10:00:00,Hm,0,0,0,4,0,,S-7,Mug\n" +
			"13,7,Cy,,,,2024-05-01 12:00:00,2024-05-01 10:00:00,Buy,trash,0,0,4,0,,S-7,Mug\n14,7,Shop,,,,2024-05-01 12:00:00,2024-05-01 10:00:00,Thanks,1,11,1,,0,,S-7,Mug\n", []string{
			`line 2: 7 5 de 2024-05-01T10:00:00Z text="Good" author=a@mail.example/Ann APPROVED verified`,
			`line 3: 7 4 de 2024-05-01T10:00:00Z text="Hm" author=Bo/Bo PENDING`,
			`line 4: 7 4 de 2024-05-01T10:00:00Z text="Buy" author=Cy/Cy REJECTED for OTHER`,
			`line 5: the rating is missing`,
		}, "comment_author_url comment_author_IP comment_date comment_parent user_id product_title"},
		{"woocommerce", `{"id":22,"date_created":"2018-10-18T19:59:17","date_created_gmt":"2018-10-18T17:59:17","product_id":22,"status":"hold","reviewer":"Ann","reviewer_email":"","review":"<p>Good</p>\n","rating":5,"verified":true}` + "\n" +
			`{"id":23,"date_created_gmt":"2018-10-18T17:59:17","product_id":22,"status":null,"review":"Hm","rating":5}` + "\n" + `{"id":24,"date_created_gmt":"2018-10-18T17:59:17","product_id":22,"review":"Hm","rating":5}` + "\n", []string{
			`line 1: 22 5 de 2018-10-18T17:59:17Z text="Good" author=Ann/Ann PENDING verified`,
			`line 2: the status is missing: --map status= publishes all rows`,
			`line 3: the status is missing: --map status= publishes all rows`,
		}, "date_created"},
		{"bazaarvoice", `{"Id":"1","ProductId":"p","Rating":5,"ContentLocale":"fr_FR","Title":"T","ReviewText":"Bon","AuthorId":"u1","UserNickname":"Ann","SubmissionTime":"2011-06-22T12:41:21.000+00:00","ModerationStatus":"APPROVED","TotalPositiveFeedbackCount":18,"RatingRange":5,"Verified":true,"Photos":["https://m.example/a.jpg"],"Response":"Merci","ResponseName":"Ida","ResponseDate":"2011-06-23T00:00:00.000+00:00"}` + "\n", []string{
			`line 1: p 5 fr-FR 2011-06-22T12:41:21Z title="T" text="Bon" author=u1/Ann APPROVED verified votes=18 a.jpg reply=Ida/"Merci"/2011-06-23T00:00:00Z`,
		}, "RatingRange"},
		{"yotpo", `{"id":1,"title":"T","content":"It&#x27;s good","score":4,"votes_up":3,"votes_down":0,"created_at":"2021-04-22T02:18:31.000Z","sku":"S","name":"Ann","email":"a@mail.example","archived":false}` + "\n", []string{
			"refused: no column is known to hold the status: name it by --map status=COLUMN, or give --map status= if all of its reviews may be published; there are: archived, content, created_at, email, id, name, score, sku, title, votes_down, votes_up",
		}, ""},
		{"yotpo", yotpo + "k,1,2022-07-18 10:00:00 UTC,product,Published,5,T,Good,https://m.example/a.jpg,For us alone,No,3,Ann,a@mail.example,Verified Buyer,S,Mug\n" +
			"k,2,2022-07-18 10:00:00 UTC,product,Pending,5,T,Good,,,,0,Bo,b@mail.example,verified_reviewer,S,Mug\n", []string{
			`line 2: S 5 de 2022-07-18T10:00:00Z title="T" text="Good" author=a@mail.example/Ann APPROVED verified votes=3 a.jpg`,
			`line 3: S 5 de 2022-07-18T10:00:00Z title="T" text="Good" author=b@mail.example/Bo PENDING`,
		}, "appKey Review Type Comment Content Comment Public Product Title"},
		{"amazon", "marketplace\tcustomer_id\treview_id\tproduct_id\tproduct_parent\tproduct_title\tproduct_category\tstar_rating\thelpful_votes\ttotal_votes\tvine\tverified_purchase\treview_headline\treview_body\treview_date\n" +
			"US\t9\tR1\tB1\t2\tMug\tHome\t5\t3\t4\tN\tY\tNice\tGood<br />cup\t2015-08-31\n", []string{
			`line 2: B1 5 de 2015-08-31T00:00:00Z title="Nice" text="Good\ncup" author=9/Anonymous APPROVED verified votes=3`,
		}, "marketplace product_parent product_title product_category total_votes vine"},
	} {
		options := reviewfile.Options{From: test.from, MediaBase: "https://m.example/", AuthorsAsTheyAre: true}
		if test.from != "bazaarvoice" {
			options.Language = "de"
		}
		reader, err := reviewfile.NewReader(strings.NewReader(test.input), options)
		var got []string
		if err != nil {
			got = append(got, "refused: "+err.Error())
		}
		for range test.want[len(got):] {
			got = append(got, all(reader.Next()))
		}
		check.Equal(t, test.want, got, test.from)
		if err == nil {
			if ignored := strings.Join(reader.Mapping().Ignored, " "); ignored != test.ignored {
				t.Errorf("%s ignores %s", test.from, ignored)
			}
		}
	}
}

// Columns for the same field are reported, and so are columns of pictures that are left out.
func TestMapping(t *testing.T) {
	const file = "product_id,product_handle,rating,body,review_date,curated,picture_urls,what\n"
	reader := must.Get(reviewfile.NewReader(strings.NewReader(file), reviewfile.Options{From: "judgeme", Language: "en"}))(t)
	want := reviewfile.Mapping{Fields: []reviewfile.MappedField{
		{Field: reviewfile.Product, Column: "product_id", Others: []string{"product_handle"}}, {Field: reviewfile.Rating, Column: "rating"},
		{Field: reviewfile.Text, Column: "body"}, {Field: reviewfile.CreatedAt, Column: "review_date"}, {Field: reviewfile.Status, Column: "curated"},
	}, Ignored: []string{"what"}, Media: "picture_urls"}
	check.Equal(t, want, reader.Mapping())
}

// If a file has no IDs, a later export, in which the shop has replied or decided, gives the same
// comments.
func TestIDsOfPresets(t *testing.T) {
	id := func(row string) comment.ID {
		got, reason := first(t, "product_handle,state,rating,title,author,email,location,body,reply,created_at,replied_at\n"+row, reviewfile.Options{From: "shopify", Language: "en"})
		if reason != "" {
			t.Fatal(reason)
		}
		return got.ID
	}
	first := id("mug,unpublished,4,T,Ann,,,Good,,2023-06-01,")
	if again := id("mug,published,4,T,Ann,,Rome,Good,Thanks,2023-06-01,2023-06-02"); again != first {
		t.Errorf("%s is %s after a reply", first, again)
	}
	if other := id("mug,unpublished,4,T,Ann,,,Good!,,2023-06-01,"); other == first {
		t.Error("another text has the same id")
	}
}

// E-mail addresses are never published unless an option says so.
func TestAuthorsThatAreAddresses(t *testing.T) {
	const refused = "the author is an e-mail address"
	const hashed = "2d059420ca02c7384a8db5fe3462e3a82a8f99e9c40a64c988b392bfa55c1af7"
	for _, test := range []struct {
		why, author, name string
		options           reviewfile.Options
		want              string // ID and name
	}{
		{"an id", "a@mail.example", "Ann", reviewfile.Options{}, refused},
		{"a name", "", "a@mail.example", reviewfile.Options{}, refused},
		{"a name with an address", "7", "Ann <a@mail.example>", reviewfile.Options{}, refused},
		{"no address", "a@b", "@ann", reviewfile.Options{}, "a@b/@ann"},
		{"as they are", "a@mail.example", "Ann", reviewfile.Options{AuthorsAsTheyAre: true}, "a@mail.example/Ann"},
		{"hashed", "a@mail.example", "Ann", reviewfile.Options{AuthorKey: []byte("key")}, hashed + "/Ann"},
		{"in capitals", "A@Mail.Example", "Ann", reviewfile.Options{AuthorKey: []byte("key")}, hashed + "/Ann"},
		{"a name alone, hashed", "", "a@mail.example", reviewfile.Options{AuthorKey: []byte("key")}, hashed + "/Anonymous"},
		{"a name that is none", "", "Anonymous", reviewfile.Options{}, "anonymous/Anonymous"},
	} {
		test.options.Format = reviewfile.TSV
		file := "product\trating\tlang\ttext\tdate\tauthor\tauthor_name\np\t5\ten\tx\t2024-05-01\t" + test.author + "\t" + test.name + "\n"
		reader := must.Get(reviewfile.NewReader(strings.NewReader(file), test.options))(t)
		row, err := reader.Next()
		got := distinct.ReplaceAllString(row.Comment.Author.ID, "anonymous") + "/" + row.Comment.Author.Name
		if err != nil {
			got = err.Error()
		}
		if test.want == refused && !strings.Contains(got, refused) || test.want != refused && got != test.want {
			t.Errorf("%s: got %s, want %s", test.why, got, test.want)
		}
		if strings.Contains(got, "mail.example") && !test.options.AuthorsAsTheyAre {
			t.Errorf("%s: %s reveals the address", test.why, got)
		}
	}
}

// Authors without a name are different people, and the same people each time.
func TestMissingAuthorsAreDifferent(t *testing.T) {
	read := func() (ids []string) {
		reader := must.Get(reviewfile.NewReader(strings.NewReader(csvHeader+"1,p,5,en,x,2024-05-01\n2,p,5,en,x,2024-05-01\n"), reviewfile.Options{Format: reviewfile.CSV}))(t)
		for range 2 {
			row := must.Get(reader.Next())(t)
			ids = append(ids, row.Comment.Author.ID)
		}
		return ids
	}
	if first, again := read(), read(); first[0] == first[1] || cmp.Diff(first, again) != "" {
		t.Errorf("%v, then %v", first, again)
	}
}

// Dates without a zone are in the given zone, unless their column is in GMT.
func TestTimeZones(t *testing.T) {
	zone := must.Get(time.LoadLocation("Europe/Berlin"))(t)
	for written, want := range map[string]string{
		"2024-07-01 12:00:00":       "2024-07-01T10:00:00Z",
		"2024-01-01 12:00:00":       "2024-01-01T11:00:00Z",
		"2024-07-01 12:00:00 UTC":   "2024-07-01T12:00:00Z",
		"2024-07-01T12:00:00Z":      "2024-07-01T12:00:00Z",
		"2024-07-01T12:00:00+01:00": "2024-07-01T11:00:00Z",
		"1719835200":                "2024-07-01T12:00:00Z",
	} {
		got := readAll(strings.NewReader(csvHeader+"1,p,5,en,x,"+written+"\n"), reviewfile.Options{Format: reviewfile.CSV, Zone: zone})
		if len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s: %v, want %s", written, got, want)
		}
	}
	got := readAll(strings.NewReader("id,product_id,rating,review,status,date_created,date_created_gmt\n1,p,5,x,approved,2024-07-01T12:00:00,2024-07-01T10:00:00\n"),
		reviewfile.Options{Format: reviewfile.CSV, From: "woocommerce", Language: "en", Zone: zone})
	if len(got) != 1 || !strings.Contains(got[0], "2024-07-01T10:00:00Z") {
		t.Errorf("in GMT: %v", got)
	}
}
