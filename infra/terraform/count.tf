# The function that counts comments, from the stream of the table.

resource "aws_sqs_queue" "failures" {
  count = local.counts ? 1 : 0

  name                      = "${var.name}-failures"
  message_retention_seconds = 1209600
  sqs_managed_sse_enabled   = true
  tags                      = var.tags
}

resource "aws_iam_role_policy" "count" {
  count = local.counts ? 1 : 0

  name = "count"
  role = aws_iam_role.function["count"].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Action = [
          "dynamodb:BatchGetItem",
          "dynamodb:BatchWriteItem",
          "dynamodb:ConditionCheckItem",
          "dynamodb:DeleteItem",
          "dynamodb:GetItem",
          "dynamodb:PutItem",
          "dynamodb:Query",
          "dynamodb:UpdateItem",
        ]
        Resource = aws_dynamodb_table.comments.arn
      },
      {
        Effect   = "Allow"
        Action   = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"]
        Resource = aws_dynamodb_table.comments.stream_arn
      },
      {
        Effect   = "Allow"
        Action   = ["dynamodb:ListStreams"]
        Resource = "*"
      },
      {
        Effect   = "Allow"
        Action   = ["sqs:SendMessage"]
        Resource = aws_sqs_queue.failures[0].arn
      },
    ]
  })
}

resource "aws_lambda_function" "count" {
  count = local.counts ? 1 : 0

  function_name    = local.functions["count"].name
  description      = "Counts the comments of Talkback."
  role             = aws_iam_role.function["count"].arn
  runtime          = "provided.al2023"
  architectures    = ["arm64"]
  handler          = "bootstrap"
  filename         = var.package
  source_code_hash = filebase64sha256(var.package)
  timeout          = 60
  memory_size      = 512
  layers           = var.collector_layer == null ? [] : [var.collector_layer]
  tags             = var.tags

  environment {
    # Of the settings of the API, those that the counting function reads too.
    variables = merge({ for name, value in var.api_environment : name => value if name == "TALKBACK_PAGES" || startswith(name, "OTEL_") }, {
      TALKBACK_FUNCTION           = "count"
      TALKBACK_TABLE              = aws_dynamodb_table.comments.name
      OTEL_EXPORTER_OTLP_ENDPOINT = var.otlp_endpoint
    })
  }

  depends_on = [aws_iam_role_policy.logs, aws_iam_role_policy.count]
}

resource "aws_lambda_event_source_mapping" "stream" {
  count = local.counts ? 1 : 0

  event_source_arn                   = aws_dynamodb_table.comments.stream_arn
  function_name                      = aws_lambda_function.count[0].arn
  starting_position                  = "TRIM_HORIZON"
  batch_size                         = 1000
  maximum_batching_window_in_seconds = 1
  parallelization_factor             = 1
  function_response_types            = ["ReportBatchItemFailures"]
  bisect_batch_on_function_error     = true
  maximum_retry_attempts             = -1
  maximum_record_age_in_seconds      = 82800
  tags                               = var.tags

  destination_config {
    on_failure {
      destination_arn = aws_sqs_queue.failures[0].arn
    }
  }

  filter_criteria {
    filter {
      pattern = jsonencode({ dynamodb = { Keys = { SK = { S = ["C", "SCHEDULE", { prefix = "V#" }] } } } })
    }
  }
}

resource "aws_iam_role" "schedule" {
  count = local.counts ? 1 : 0

  name = "${var.name}-schedule"
  tags = var.tags
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "scheduler.amazonaws.com" }
      Condition = { StringEquals = { "aws:SourceAccount" = split(":", aws_dynamodb_table.comments.arn)[4] } }
    }]
  })
}

resource "aws_iam_role_policy" "schedule" {
  count = local.counts ? 1 : 0

  name = "write"
  role = aws_iam_role.schedule[0].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = ["dynamodb:PutItem"]
      Resource  = aws_dynamodb_table.comments.arn
      Condition = { "ForAllValues:StringEquals" = { "dynamodb:LeadingKeys" = ["STREAM#SCHEDULE"] } }
    }]
  })
}

data "aws_partition" "here" {}

resource "aws_scheduler_schedule" "count" {
  count = local.counts ? 1 : 0

  name                = "${var.name}-count"
  description         = "Changes one item of the table, so that the function is invoked, and reports how far behind it is, also while nobody comments."
  schedule_expression = "rate(5 minutes)"

  flexible_time_window {
    mode = "OFF"
  }

  target {
    arn      = "arn:${data.aws_partition.here.partition}:scheduler:::aws-sdk:dynamodb:putItem"
    role_arn = aws_iam_role.schedule[0].arn
    # jsonencode would write the angle brackets as \u003c, which the scheduler does not replace.
    input = "{\"TableName\":\"${var.table_name}\",\"Item\":{\"PK\":{\"S\":\"STREAM#SCHEDULE\"},\"SK\":{\"S\":\"SCHEDULE\"},\"t\":{\"S\":\"<aws.scheduler.scheduled-time>\"}}}"

    retry_policy {
      maximum_retry_attempts = 0
    }
  }
}
