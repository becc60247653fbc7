package command

import (
	"context"
	"log/slog"

	"github.com/talkback/talkback/web"
	"github.com/talkback/talkback/web/catalog"
	"github.com/talkback/talkback/web/product"
)

// SiteFlags say what product pages show beside comments.
type SiteFlags struct {
	ProductInfo       string `help:"Address of a product's name with {id} in place of its id, such as https://shop.example/products/{id}: JSON, or the shop's page with JSON-LD. Without it, pages show ids." placeholder:"URL"`
	ProductInfoInside bool   `help:"Let --product-info lead to this machine and to private networks, also by plain HTTP."`
	PageTemplate      string `help:"Template of Go's html/template for product pages, with places for their {{.Head}} and {{.Content}}." placeholder:"FILE"`
	ShowPlans         bool   `help:"Show on product pages how they were read, under a header of Talkback; on with --sample-data."`
	NoLivePages       bool   `help:"Do not tell on product pages how many comments came while they are open, which takes one of --max-subscriptions for each."`
}

// open prepares what the flags ask for. Fetching ends with the context.
func (f *SiteFlags) open(ctx context.Context, sample bool, log *slog.Logger) (options web.Options, err error) {
	options.Plans, options.Live = f.ShowPlans || sample, !f.NoLivePages
	if f.ProductInfoInside && f.ProductInfo == "" {
		return options, usagef("--product-info-inside is about --product-info: give both, or none")
	}
	if f.ProductInfo != "" {
		if options.Catalog, err = catalog.New(ctx, f.ProductInfo, f.ProductInfoInside, log); err != nil {
			return options, usage(err)
		}
	}
	if f.PageTemplate != "" {
		if options.Layout, err = product.ReadLayout(f.PageTemplate, log); err != nil {
			return options, usagef("--page-template: %w", err)
		}
	}
	return options, nil
}
