# docs/operate/monitor.md says what to do about each alarm.

locals {
  notify = var.alarm_topic == null ? [] : [var.alarm_topic]

  # Refused calls of the table and of each index, which CloudWatch counts apart.
  throttled = !var.alarms ? {} : { read = "Reads", write = "Writes" }

  alarms = var.alarms ? merge(
    !local.counts ? {} : {
      failures = {
        description = "Changes of comments were given up: run talkback verify, then talkback rebuild."
        namespace   = "AWS/SQS", metric = "ApproximateNumberOfMessagesVisible", statistic = "Maximum"
        dimensions  = { QueueName = aws_sqs_queue.failures[0].name }
        period      = 60, periods = 1, threshold = 0, missing = "notBreaching"
      }
      lag = {
        description = "Comments have not been counted for an hour, or the function has not been invoked for a quarter of one. After 24 hours changes are lost, and talkback rebuild has to count anew."
        namespace   = "AWS/Lambda", metric = "IteratorAge", statistic = "Maximum"
        dimensions  = { FunctionName = aws_lambda_function.count[0].function_name }
        period      = 300, periods = 3, threshold = 3600000, missing = "breaching"
      }
    },
    !local.answers ? {} : {
      busy = {
        description = "Requests are refused because too many functions run: raise the concurrency of the account."
        namespace   = "AWS/Lambda", metric = "Throttles", statistic = "Sum"
        dimensions  = { FunctionName = aws_lambda_function.api[0].function_name }
        period      = 60, periods = 5, threshold = 0, missing = "notBreaching"
      }
    },
  ) : {}
}

resource "aws_cloudwatch_metric_alarm" "simple" {
  for_each = local.alarms

  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = each.value.description
  namespace           = each.value.namespace
  metric_name         = each.value.metric
  dimensions          = each.value.dimensions
  statistic           = each.value.statistic
  period              = each.value.period
  evaluation_periods  = each.value.periods
  threshold           = each.value.threshold
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = each.value.missing
  alarm_actions       = local.notify
  ok_actions          = local.notify
  tags                = var.tags
}

resource "aws_cloudwatch_metric_alarm" "errors" {
  count = var.alarms && local.answers ? 1 : 0

  alarm_name          = "${var.name}-errors"
  alarm_description   = "More than 2 % of requests fail: see the log of the function."
  evaluation_periods  = 3
  threshold           = 2
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.notify
  ok_actions          = local.notify
  tags                = var.tags

  metric_query {
    id          = "share"
    expression  = "100 * m0 / m1"
    label       = "Failed requests, %"
    return_data = true
  }

  dynamic "metric_query" {
    for_each = ["5xx", "Count"]

    content {
      id = "m${metric_query.key}"

      metric {
        namespace   = "AWS/ApiGateway"
        metric_name = metric_query.value
        dimensions  = { ApiId = aws_apigatewayv2_api.api[0].id }
        period      = 300
        stat        = "Sum"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "throttled" {
  for_each = local.throttled

  alarm_name          = "${var.name}-throttled-${each.key}"
  alarm_description   = "${each.value} of the table or of an index are refused: raise their capacity, or look for a product that everyone reads or writes about."
  evaluation_periods  = 5
  threshold           = 0
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.notify
  ok_actions          = local.notify
  tags                = var.tags

  metric_query {
    id          = "all"
    expression  = "SUM(FILL(METRICS(), 0))"
    label       = "${title(each.key)}ThrottleEvents"
    return_data = true
  }

  dynamic "metric_query" {
    for_each = concat([{}], [for index in local.indexes : { GlobalSecondaryIndexName = index }])

    content {
      id = "m${metric_query.key}"

      metric {
        namespace   = "AWS/DynamoDB"
        metric_name = "${title(each.key)}ThrottleEvents"
        dimensions  = merge({ TableName = aws_dynamodb_table.comments.name }, metric_query.value)
        period      = 60
        stat        = "Sum"
      }
    }
  }
}
