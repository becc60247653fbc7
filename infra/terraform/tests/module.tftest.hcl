# Run by `terraform test`, without an account: the provider is a mock.

mock_provider "aws" {
  override_during = plan

  mock_data "aws_partition" {
    defaults = { partition = "aws" }
  }

  mock_resource "aws_dynamodb_table" {
    defaults = {
      arn        = "arn:aws:dynamodb:eu-central-1:123456789012:table/comments"
      stream_arn = "arn:aws:dynamodb:eu-central-1:123456789012:table/comments/stream/2026-11-26T00:00:00.000"
    }
  }

  mock_resource "aws_iam_role" {
    defaults = { arn = "arn:aws:iam::123456789012:role/talkback" }
  }

  mock_resource "aws_sqs_queue" {
    defaults = { arn = "arn:aws:sqs:eu-central-1:123456789012:talkback-failures" }
  }

  mock_resource "aws_lambda_function" {
    defaults = {
      arn        = "arn:aws:lambda:eu-central-1:123456789012:function:talkback"
      invoke_arn = "arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/arn:aws:lambda:eu-central-1:123456789012:function:talkback/invocations"
    }
  }

  mock_resource "aws_apigatewayv2_api" {
    defaults = { execution_arn = "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5" }
  }
}

run "the_table_alone" {
  command = plan

  assert {
    condition     = aws_dynamodb_table.comments.deletion_protection_enabled && aws_dynamodb_table.comments.point_in_time_recovery[0].enabled
    error_message = "the table is not protected by default"
  }

  assert {
    condition     = length(aws_lambda_function.count) + length(aws_lambda_function.api) + length(aws_iam_role.function) + length(aws_sqs_queue.failures) == 0
    error_message = "there are functions without a package"
  }

  assert {
    condition     = length(aws_cloudwatch_metric_alarm.throttled) == 2 && length(aws_cloudwatch_metric_alarm.simple) + length(aws_cloudwatch_metric_alarm.errors) == 0
    error_message = "alarms are not those of the table"
  }
}

run "everything" {
  command = plan

  variables {
    package       = "tests/package.txt"
    alarm_topic   = "arn:aws:sns:eu-central-1:123456789012:alarms"
    tags          = { shop = "lamps" }
    otlp_endpoint = "https://otlp.example.com"
    api_environment = {
      TALKBACK_JWKS_URL          = "https://login.example.com/jwks.json"
      TALKBACK_PAGES             = "rediss://pages.example.com"
      OTEL_EXPORTER_OTLP_HEADERS = "key=value"
    }
  }

  assert {
    condition = (
      nonsensitive(aws_lambda_function.count[0].environment[0].variables["TALKBACK_FUNCTION"]) == "count" &&
      nonsensitive(aws_lambda_function.api[0].environment[0].variables["TALKBACK_FUNCTION"]) == "api" &&
      nonsensitive(aws_lambda_function.api[0].environment[0].variables["TALKBACK_JWKS_URL"]) == "https://login.example.com/jwks.json"
    )
    error_message = "functions are not told what they are"
  }

  assert {
    condition = nonsensitive(aws_lambda_function.count[0].environment[0].variables) == tomap({
      TALKBACK_FUNCTION           = "count"
      TALKBACK_TABLE              = "comments"
      TALKBACK_PAGES              = "rediss://pages.example.com"
      OTEL_EXPORTER_OTLP_ENDPOINT = "https://otlp.example.com"
      OTEL_EXPORTER_OTLP_HEADERS  = "key=value"
    })
    error_message = "the counting function feeds another store of page numbers than the API reads, or gets settings that it does not read"
  }

  assert {
    condition = alltrue([for resource in concat(
      values(aws_cloudwatch_log_group.function), values(aws_iam_role.function), aws_iam_role.schedule, aws_sqs_queue.failures,
      aws_lambda_function.count, aws_lambda_function.api, aws_lambda_event_source_mapping.stream, aws_apigatewayv2_api.api, aws_apigatewayv2_stage.api,
    ) : resource.tags == tomap({ shop = "lamps" })])
    error_message = "something that can have tags has none"
  }

  assert {
    condition     = jsondecode(aws_iam_role.schedule[0].assume_role_policy).Statement[0].Condition.StringEquals["aws:SourceAccount"] == "123456789012"
    error_message = "schedules of other accounts may write to the table"
  }

  assert {
    condition     = length(setintersection(flatten([for s in jsondecode(aws_iam_role_policy.api[0].policy).Statement : s.Action]), ["dynamodb:Scan", "dynamodb:DeleteTable", "dynamodb:*"])) == 0
    error_message = "the API may do more than it needs"
  }

  assert {
    condition     = alltrue([for s in jsondecode(aws_iam_role_policy.count[0].policy).Statement : s.Resource != "*" || s.Action == ["dynamodb:ListStreams"]])
    error_message = "the counting function may do something to every table"
  }

  assert {
    condition     = [for f in one(aws_lambda_event_source_mapping.stream[0].filter_criteria).filter : jsonencode(jsondecode(f.pattern).dynamodb.Keys.SK.S)] == [jsonencode(["C", "SCHEDULE", { prefix = "V#" }])]
    error_message = "the function does not get the records of comments, votes and the schedule alone"
  }

  assert {
    condition     = jsondecode(aws_scheduler_schedule.count[0].target[0].input).Item.SK.S == "SCHEDULE" && strcontains(aws_scheduler_schedule.count[0].target[0].input, "<aws.scheduler.scheduled-time>")
    error_message = "the schedule does not write the item that the filter lets through"
  }

  assert {
    condition = alltrue([
      for alarm in concat(values(aws_cloudwatch_metric_alarm.simple), aws_cloudwatch_metric_alarm.errors, values(aws_cloudwatch_metric_alarm.throttled)) :
      alarm.alarm_actions == toset([var.alarm_topic]) && alarm.ok_actions == toset([var.alarm_topic])
    ])
    error_message = "an alarm does not notify the topic"
  }

  assert {
    condition     = length(aws_cloudwatch_metric_alarm.simple) == 3 && length(aws_cloudwatch_metric_alarm.errors) == 1
    error_message = "alarms of the functions are missing"
  }
}

run "no_alarms_and_no_counting_if_not_wanted" {
  command = plan

  variables {
    package           = "tests/package.txt"
    count_by_function = false
    alarms            = false
  }

  assert {
    condition     = length(aws_lambda_function.count) + length(aws_scheduler_schedule.count) + length(aws_cloudwatch_metric_alarm.simple) + length(aws_cloudwatch_metric_alarm.throttled) == 0
    error_message = "there is more than is wanted"
  }
}

run "bad_names" {
  command = plan

  variables {
    name            = "talk back"
    table_name      = "x"
    alarm_topic     = "alarms"
    api_environment = { TALKBACK_TABLE = "another" }
    api_rate        = 0
  }

  expect_failures = [var.name, var.table_name, var.alarm_topic, var.api_environment, var.api_rate]
}
