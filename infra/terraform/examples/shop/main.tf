# A shop without servers: the table, counted and served by functions. Customers sign in elsewhere,
# at login.example.com, whose public keys the API reads.

provider "aws" {
  region = "eu-central-1"
}

module "talkback" {
  source = "../.."

  package     = "${path.module}/../../../../bin/talkback-lambda.zip"
  alarm_topic = aws_sns_topic.alarms.arn

  api_environment = {
    TALKBACK_JWT_ALGORITHM = "ES256"
    TALKBACK_JWKS_URL      = "https://login.example.com/jwks.json"
    TALKBACK_JWT_AUDIENCE  = "talkback"
    TALKBACK_CORS_ORIGIN   = "https://shop.example.com"
  }
}

resource "aws_sns_topic" "alarms" {
  name = "talkback-alarms"
}

# The recipient has to confirm the subscription, by a link in the first mail.
resource "aws_sns_topic_subscription" "alarms" {
  topic_arn = aws_sns_topic.alarms.arn
  protocol  = "email"
  endpoint  = "alarms@shop.example.com"
}

output "url" {
  description = "The address of the API and of product pages."
  value       = module.talkback.url
}
